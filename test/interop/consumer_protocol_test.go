//go:build interop

package interop

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"moldau/test/peers"
)

// consumers are the clients that speak the consumer protocol (KIP-848).
var consumers = []client{
	{"java", func(t *testing.T) []string { return javaProgram(t, "ConsumerGroup.java") }},
	{"python", func(t *testing.T) []string { return pythonProgram(t, "consumer_group.py") }},
}

// TestConsumerProtocol lets members of both protocols join and leave a group, static ones and ones that subscribe by a regular
// expression too, until all have partitions and every record is seen.
func TestConsumerProtocol(t *testing.T) {
	bootstrap := os.Getenv("INTEROP_BOOTSTRAP")
	if bootstrap == "" {
		bootstrap = peers.StartMoldau(t, peers.BuildMoldau(t), "--set", "group.consumer.min.heartbeat.interval.ms=500",
			"--set", "group.consumer.heartbeat.interval.ms=500").Kafka()
	}
	for _, c := range consumers {
		t.Run(c.name, func(t *testing.T) {
			topic := fmt.Sprintf("interop-consumers-%s-%d", c.name, os.Getpid())
			createTopic(t, bootstrap, topic)
			command := append(c.prepare(t), bootstrap, topic)
			cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			began := time.Now()
			if err := cmd.Run(); err != nil || out.String() != "done\n" {
				t.Fatalf("%v\n%s%s", err, out.Bytes(), errs.Bytes())
			}
			t.Logf("took %v", time.Since(began).Round(time.Millisecond))
		})
	}
}
