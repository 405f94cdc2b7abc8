//go:build interop

package interop

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/test/check"
	"moldau/test/peers"
)

// surging are clients that are replaced as in a rolling deploy. Those that can are cooperative.
var surging = []client{
	{"java", func(t *testing.T) []string { return javaProgram(t, "Surge.java") }},
	{"python", func(t *testing.T) []string { return pythonProgram(t, "surge.py") }},
	{"node", nodeSurge},
}

func nodeSurge(t *testing.T) []string {
	main := node(t)
	dir := filepath.Dir(main[1])
	copyFile(t, source(t, "node", "surge.mjs"), filepath.Join(dir, "surge.mjs"))
	return []string{"node", filepath.Join(dir, "surge.mjs")}
}

const surgeMembers = 3

// TestSurge has three new consumers join three old ones on three partitions, ends the old ones one after the other, and kills one of
// the new ones, while records come all the time: nobody is stuck, nothing is lost, and what was committed does not come again.
func TestSurge(t *testing.T) {
	bootstrap := peers.StartMoldau(t, peers.BuildMoldau(t)).Kafka()
	for _, c := range surging {
		t.Run(c.name, func(t *testing.T) {
			topic := "surge-" + c.name
			createTopic(t, bootstrap, topic)
			s := &surge{t: t, topic: topic, group: topic + "-group", command: append(c.prepare(t), bootstrap, topic+"-group", topic)}
			s.run(bootstrap)
		})
	}
}

// surge notes what the members of one group print.
type surge struct {
	t            *testing.T
	topic, group string
	command      []string
	adm          *kadm.Client

	mu     sync.Mutex
	events []check.GroupEvent
}

func (s *surge) run(bootstrap string) {
	t := s.t
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.DefaultProduceTopic(s.topic), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	s.adm = kadm.NewClient(cl)
	ctx, stop := context.WithCancel(t.Context())
	written := make(chan int64, 1)
	go func() { written <- s.write(ctx, cl) }()

	old, fresh := s.start("old"), []*surgeMember(nil)
	s.awaitMembers(surgeMembers)
	fresh = s.start("new")
	s.awaitMembers(2 * surgeMembers)
	for i, m := range old {
		m.end(t, syscall.SIGTERM)
		s.awaitMembers(2*surgeMembers - 1 - i)
	}
	fresh[0].end(t, syscall.SIGKILL)
	s.awaitMembers(surgeMembers - 1)
	stop()
	total := <-written
	began := time.Now()
	s.await("everything is committed", func() bool { return s.committed() == total })
	took := time.Since(began)
	for _, m := range fresh[1:] {
		m.end(t, syscall.SIGTERM)
	}
	s.judge(total, took)
}

// write writes until ctx ends and returns how many records there are.
func (s *surge) write(ctx context.Context, cl *kgo.Client) (n int64) {
	for ctx.Err() == nil {
		if err := cl.ProduceSync(s.t.Context(), kgo.StringRecord(strconv.FormatInt(n, 10))).FirstErr(); err != nil {
			s.t.Error(err)
			return n
		}
		n++
		time.Sleep(2 * time.Millisecond)
	}
	return n
}

type surgeMember struct {
	cmd  *exec.Cmd
	errs bytes.Buffer
	done chan struct{}
}

func (s *surge) start(kind string) []*surgeMember {
	s.t.Helper()
	out := make([]*surgeMember, surgeMembers)
	for i := range out {
		out[i] = s.startMember(fmt.Sprintf("%s-%d", kind, i))
	}
	return out
}

func (s *surge) startMember(name string) *surgeMember {
	s.t.Helper()
	m := &surgeMember{cmd: exec.Command(s.command[0], s.command[1:]...), done: make(chan struct{})}
	m.cmd.Stderr = &m.errs
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := m.cmd.StdoutPipe()
	if err == nil {
		err = m.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	go func() { // ends with the process
		defer close(m.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.note(name, lines.Text())
		}
		_ = m.cmd.Wait()
	}()
	s.t.Cleanup(func() {
		_ = m.cmd.Process.Kill()
		<-m.done
		if s.t.Failed() {
			s.t.Logf("%s:\n%s", name, m.errs.Bytes())
		}
	})
	return m
}

// end sends a signal and waits until the process is gone.
func (m *surgeMember) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := m.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	select {
	case <-m.done:
	case <-time.After(30 * time.Second):
		t.Fatal("a member does not end")
	}
}

// note reads a line of a member.
func (s *surge) note(member, line string) {
	e := check.GroupEvent{Member: member}
	var kind string
	n, _ := fmt.Sscan(line, &kind, &e.Partition, &e.Offset)
	switch {
	case kind == "A" && n >= 2:
		e.Kind = check.Assigned
	case kind == "D" && n == 3:
		e.Kind = check.Delivered
	case kind == "C" && n == 3:
		e.Kind = check.CommittedOffset
	default:
		s.t.Errorf("%s says %q", member, line)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
}

// await waits for a condition: nobody may be stuck.
func (s *surge) await(what string, holds func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("after 90 s it is not so that %s", what)
		}
	}
}

// awaitMembers waits until the group is stable with so many members.
func (s *surge) awaitMembers(n int) {
	s.t.Helper()
	s.await(fmt.Sprintf("the group is stable with %d members", n), func() bool {
		groups, err := s.adm.DescribeGroups(s.t.Context(), s.group)
		return err == nil && groups[s.group].State == "Stable" && len(groups[s.group].Members) == n
	})
}

func (s *surge) committed() (sum int64) {
	offsets, err := s.adm.FetchOffsets(s.t.Context(), s.group)
	if err != nil {
		return -1
	}
	offsets.Each(func(o kadm.OffsetResponse) { sum += o.At })
	return sum
}

func (s *surge) judge(total int64, took time.Duration) {
	s.t.Helper()
	ends, err := s.adm.ListEndOffsets(s.t.Context(), s.topic)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := check.GroupHistory{Events: s.events, Ends: map[int32]int64{}}
	ends.Each(func(o kadm.ListedOffset) { h.Ends[o.Partition] = o.Offset })
	for _, v := range append(check.Undelivered(h), check.DeliveredAgain(h)...) {
		s.t.Error(v)
	}
	deliveries := int64(0)
	for _, e := range s.events {
		if e.Kind == check.Delivered {
			deliveries++
		}
	}
	s.t.Logf("%d records, %d delivered again before they were committed; everything was committed %v after the last one", total, deliveries-total, took)
}
