//go:build !race && !invariants

package broker

import "testing"

// TestHotPathAllocatesNothing: a produce and a fetch of a plain topic make no garbage in the broker, whatever they cost the edge.
func TestHotPathAllocatesNothing(t *testing.T) {
	n := startNode(t, relaxed)
	topic := n.topic("events", 1)
	batch := plain(t, "a", "b", "c")
	buf := make([]byte, len(batch))
	produce := func() {
		copy(buf, batch)
		if p := n.Produce(testCaller, topic, 0, buf, -1); p.Err != nil || !p.Done() {
			t.Fatalf("produce: %+v", p)
		}
	}
	if got := testing.AllocsPerRun(2000, produce); got > 0 {
		t.Errorf("a produce allocates %v times", got)
	}
	request := fetchRequest(want(topic, 0, 0))
	fetch := func() {
		op := n.Fetch(testCaller, request)
		if err := op.Partitions()[0].Err; err != nil || op.Bytes() == 0 {
			t.Fatalf("fetch: %d bytes, %v", op.Bytes(), err)
		}
		op.Release()
	}
	if got := testing.AllocsPerRun(2000, fetch); got > 0 {
		t.Errorf("a fetch allocates %v times", got)
	}
}
