package broker

import (
	"context"
	"errors"
	"sync"
	"time"

	"moldau/broker/controller"
)

// autoCreateTimeout bounds one automatic creation. It goes on when the client that asked has gone away.
const autoCreateTimeout = 10 * time.Second

// autoCreations are the automatic creations under way, so that callers who ask for the same name at the same time share
// one.
type autoCreations struct {
	mu     sync.Mutex
	byName map[string]*autoCreation
}

// autoCreation is one of them.
type autoCreation struct {
	done chan struct{} // closed by its maker when err is set
	err  error
}

// join returns the creation of a topic that is under way, or begins one: then mine is true, and the caller has to call
// finish.
func (a *autoCreations) join(name string) (c *autoCreation, mine bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.byName[name]; c != nil {
		return c, false
	}
	if a.byName == nil {
		a.byName = make(map[string]*autoCreation)
	}
	c = &autoCreation{done: make(chan struct{})}
	a.byName[name] = c
	return c, true
}

func (a *autoCreations) finish(name string, c *autoCreation, err error) {
	a.mu.Lock()
	delete(a.byName, name)
	a.mu.Unlock()
	c.err = err
	close(c.done)
}

// AutoCreateTopics makes the named topics that are not there, with num.partitions and default.replication.factor, and
// returns one error per name: nil when the topic is there now and ready, ErrUnknownTopicOrPartition when automatic
// creation is off or the name is one of the broker's own, ErrInvalidTopic, or ErrLeaderNotAvailable when the creation
// takes long and the client should ask again. Callers that ask for the same name at the same time share one creation.
func (n *Node) AutoCreateTopics(ctx context.Context, c *Caller, names []string) []error {
	out := make([]error, len(names))
	for i, name := range names {
		out[i] = n.autoCreate(ctx, name)
	}
	return out
}

func (n *Node) autoCreate(ctx context.Context, name string) error {
	if _, ok := n.Image().Topic(name); ok {
		return nil
	}
	if !n.cfg.AutoCreateTopics || isInternalTopic(name) {
		return ErrUnknownTopicOrPartition
	}
	return n.createShared(ctx, name)
}

// createShared makes a topic as the broker's configuration says. Callers that ask for the same name at the same time share one creation.
func (n *Node) createShared(ctx context.Context, name string) error {
	creation, mine := n.autoCreations.join(name)
	if mine {
		// Others may wait for it, so it does not end with the one that happened to be first.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), autoCreateTimeout)
		defer cancel()
		n.autoCreations.finish(name, creation, n.createByDefaults(ctx, name))
	}
	select {
	case <-creation.done:
		return creation.err
	case <-ctx.Done():
		return ErrLeaderNotAvailable
	}
}

// createByDefaults makes a topic as the broker's configuration says.
func (n *Node) createByDefaults(ctx context.Context, name string) error {
	_, err := n.controller.CreateTopic(ctx, controller.TopicSpec{Name: name, Partitions: -1, ReplicationFactor: -1})
	switch {
	case err == nil:
		n.log.Info("topic was made because it was asked for", "topic", name)
		return nil
	case errors.Is(err, ErrTopicExists) || ctx.Err() != nil:
		if _, ok := n.Image().Topic(name); ok {
			return nil
		}
		return ErrLeaderNotAvailable
	}
	return controllerError(err)
}

// isInternalTopic tells whether a name belongs to the broker: such topics have settings of their own, and are made by
// the part of the broker that needs them.
func isInternalTopic(name string) bool {
	switch name {
	case "__consumer_offsets", "__transaction_state", "__share_group_state":
		return true
	}
	return false
}
