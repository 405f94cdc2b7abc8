//go:build system

package system

import (
	"testing"
	"time"

	"moldau/test/callers"
	"moldau/test/peers"
)

// TestGatewayKill9 kills the broker again and again under a gateway in a process of its own, whose callers send records that the broker refuses among
// those it takes: what was acknowledged is there, nothing is there twice, and no caller's records have changed places. KILLS sets the number of
// cycles.
func TestGatewayKill9(t *testing.T) {
	kills := int(number(t, "KILLS", 5))
	bin := peers.BuildMoldau(t)
	p := newProcess(t, bin)
	p.start()
	gw := peers.StartMoldau(t, bin, "--roles", "gateway", "--set", "bootstrap.servers="+p.addr())
	topic := callers.Compacted("kill9-doors")
	topic.Create(t, p.addr(), map[string]string{"cleanup.policy": "compact"})
	written := make(chan *callers.History, 1)
	go func() {
		written <- callers.Load{Addresses: gw.Addresses, Kafka: p.addr(), Calls: 1500, Disturbed: true}.Write(t, topic)
	}()
	killed := 0
	var h *callers.History
	for killed < kills && h == nil {
		select {
		case h = <-written: // a fast machine
		case <-time.After(300 * time.Millisecond):
			p.kill()
			p.start()
			killed++
		}
	}
	if h == nil {
		h = <-written
	}
	n := h.Judge(t)
	t.Logf("%d kills, %d records acknowledged", killed, n)
	if killed == 0 || n < 1000 {
		t.Errorf("%d kills, %d records acknowledged: the test proved nothing", killed, n)
	}
}
