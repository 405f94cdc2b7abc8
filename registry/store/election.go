package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// manager takes part in the election and runs the writer while this replica is the owner. Its goroutine owns what is
// below the blank line.
type manager struct {
	opts     Options
	admin    *admin
	state    *state
	tail     *tail
	ledger   *ledgerTail
	seat     *seat
	metrics  *metrics
	requests chan *request
	join     chan struct{} // asks to take part
	ended    chan struct{} // closed when the manager has ended; see stopped

	wanted bool        // to take part
	group  *kgo.Client // nil until it takes part
	writer *writer     // nil unless this replica owns the topic
	shut   int         // the turn of the group in which this replica was fenced; it must not write again before the next
}

// Waits between attempts to become the writer.
const (
	electionRetry    = 50 * time.Millisecond
	electionRetryMax = 2 * time.Second
)

// wantSeat asks to take part in the election.
func (m *manager) wantSeat() {
	select {
	case m.join <- struct{}{}:
	default:
	}
}

func (m *manager) stopped() <-chan struct{} { return m.ended }

// run serves until ctx ends.
func (m *manager) run(ctx context.Context) {
	defer close(m.ended)
	defer m.close()
	retry := time.NewTimer(0)
	defer retry.Stop()
	wait := electionRetry
	for {
		p, l, v := m.state.load(), m.ledger.state.load(), m.seat.look()
		if m.act(ctx, p, v) {
			retry.Reset(wait)
			wait = min(2*wait, electionRetryMax)
		} else {
			wait = electionRetry
		}
		var requests chan *request
		if m.writer != nil || v.known && !v.self || m.unfit() != nil {
			requests = m.requests // else they wait until it is clear who serves them
		}
		select {
		case <-ctx.Done():
			return
		case <-m.join:
			m.wanted = true
		case <-p.changed:
		case <-l.changed:
		case <-v.changed:
		case <-retry.C:
		case r := <-requests:
			m.serve(ctx, r)
		}
	}
}

// unfit is what is wrong with the topics, if an operator must mend it.
func (m *manager) unfit() error {
	for _, err := range []error{m.state.load().err, m.ledger.state.load().err} {
		if errors.Is(err, ErrTopic) {
			return err
		}
	}
	return nil
}

// act brings what the manager has in line with what it sees. It returns true when it wants to be called again soon.
func (m *manager) act(ctx context.Context, p *published, v view) (again bool) {
	if m.group == nil {
		if !m.wanted && !(p.loaded && p.exists) {
			return false
		}
		if err := m.takePart(ctx); err != nil {
			if ctx.Err() == nil {
				m.opts.Logger.Warn("can't take part in the election of the registry's writer; it is tried again", "err", err)
			}
			m.seat.vacate(err)
			return true
		}
		return false
	}
	if v.moved {
		m.group.ForceRebalance() // so that the others learn the new address
	}
	switch {
	case !v.self:
		m.dropWriter()
	case m.writer == nil && v.turn > m.shut:
		w, err := openWriter(ctx, m)
		if err != nil {
			if ctx.Err() == nil {
				m.opts.Logger.Warn("can't become the registry's writer; it is tried again", "err", err)
			}
			return true
		}
		m.writer = w
		m.metrics.owner.Set(1)
		m.opts.Logger.Info("this replica writes the registry's topic now", "topic", m.opts.Topic, "generation", w.generation)
	}
	return false
}

// takePart makes the topic if need be and joins the group.
func (m *manager) takePart(ctx context.Context) error {
	if err := m.admin.prepare(ctx, m.opts.Topic, m.opts.ReplicationFactor); err != nil {
		return err
	}
	m.tail.wake()
	opts := append(m.opts.clientOptions(),
		kgo.ConsumerGroup(m.opts.Group),
		kgo.ConsumeTopics(m.opts.Topic),
		kgo.Balancers(&balancer{m.seat, m.opts.Topic}),
		kgo.DisableAutoCommit(),
		kgo.SessionTimeout(m.opts.SessionTimeout),
		kgo.HeartbeatInterval(m.opts.SessionTimeout/5),
		kgo.RebalanceTimeout(m.opts.SessionTimeout),
		kgo.WithHooks(groupFailure{m.seat, m.opts.Logger}),
		kgo.OnPartitionsLost(func(context.Context, *kgo.Client, map[string][]int32) { m.seat.vacate(nil) }),
	)
	if m.seat.static {
		opts = append(opts, kgo.InstanceID(m.seat.id))
	}
	group, err := kgo.NewClient(opts...)
	if err != nil {
		return fmt.Errorf("make a client for group %s: %w", m.opts.Group, err)
	}
	group.PauseFetchTopics(m.opts.Topic) // the tail reads it
	m.group = group
	return nil
}

// groupFailure is told when the group can't be joined or kept. The client goes on trying.
type groupFailure struct {
	seat *seat
	log  *slog.Logger
}

// OnGroupManageError implements kgo.HookGroupManageError.
func (f groupFailure) OnGroupManageError(err error) {
	f.log.Warn("the registry's group can't be joined or kept; it is tried again", "err", err)
	f.seat.vacate(err)
}

// fenced gives up writing until the group says again who the owner is.
func (m *manager) fenced(err error) {
	m.metrics.fenced.Inc()
	m.opts.Logger.Warn("this replica may no longer write the registry's topic; the group is asked who does", "err", err)
	m.shut = m.seat.look().turn
	m.dropWriter()
	m.seat.vacate(err)
	m.group.ForceRebalance()
}

func (m *manager) dropWriter() {
	if m.writer != nil {
		m.writer.close()
		m.writer = nil
		m.metrics.owner.Set(0)
	}
}

func (m *manager) close() {
	m.dropWriter()
	if m.group != nil {
		m.group.CloseAllowingRebalance()
	}
}

// leave takes a replica with an id of its own out of the group when there are others, so that they need not wait for its
// session to end. Alone it stays, and need not wait for an election when it is back soon.
func (m *manager) leave(ctx context.Context) {
	if v := m.seat.look(); !m.seat.static || v.members < 2 {
		return
	}
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = m.opts.Group
	member := kmsg.NewLeaveGroupRequestMember()
	member.InstanceID = kmsg.StringPtr(m.seat.id)
	req.Members = append(req.Members, member)
	if _, err := req.RequestWith(ctx, m.admin.client); err != nil {
		m.opts.Logger.Debug("leave the registry's group", "err", err) // its session will end
	}
}

// fencing tells whether an error means that another producer has the transactional id now.
func fencing(err error) bool {
	for _, k := range []*kerr.Error{
		kerr.ProducerFenced, kerr.InvalidProducerEpoch, kerr.InvalidProducerIDMapping, kerr.InvalidTxnState,
		kerr.TransactionalIDNotFound, kerr.UnknownProducerID,
	} {
		if errors.Is(err, k) {
			return true
		}
	}
	return false
}
