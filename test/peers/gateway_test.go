//go:build peers

package peers

import (
	"os/exec"
	"strings"
	"testing"

	"moldau/test/callers"
)

// TestGatewayTellsRefusals puts the gateway in front of Apache Kafka: a record that the broker refuses fails alone, with the broker's
// reason, as it does in front of our own.
func TestGatewayTellsRefusals(t *testing.T) {
	k := StartKafka(t, KafkaOptions{})
	m := StartMoldau(t, BuildMoldau(t), "--roles", "gateway", "--set", "bootstrap.servers="+k.Addr)
	for _, c := range []struct {
		topic  callers.Topic
		config map[string]string
	}{
		{callers.Compacted("compacted"), map[string]string{"cleanup.policy": "compact"}},
		{callers.Bounded("bounded"), map[string]string{"message.timestamp.before.max.ms": "3600000"}},
	} {
		t.Run(c.topic.Name, func(t *testing.T) {
			c.topic.Create(t, k.Addr, c.config)
			callers.Load{Addresses: m.Addresses, Kafka: k.Addr, Calls: 30}.Run(t, c.topic)
		})
	}
	t.Run("topic produce", func(t *testing.T) {
		cmd := exec.Command(m.Binary, "topic", "produce", "compacted", "-b", k.Addr, "-f", `%k:%v\n`)
		cmd.Stdin = strings.NewReader("a:1\n:2\nb:3\n")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "2 records") ||
			!strings.Contains(string(out), "record 2 of the input: topic compacted, partition") ||
			!strings.Contains(string(out), ": INVALID_RECORD: Compacted topic cannot accept message without key") {
			t.Errorf("%v: %s", err, out)
		}
	})
}
