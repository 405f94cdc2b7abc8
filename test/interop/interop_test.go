//go:build interop

package interop

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"sort"
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/test/input"
	"moldau/test/peers"
)

// client is one language: prepare installs it and answers the command that
// runs it, without the three arguments.
type client struct {
	name    string
	prepare func(t *testing.T) []string
}

var clients = []client{
	{"java", java},
	{"python", python},
	{"node", node},
	{"rust", rust},
	{"go", golang},
}

// transactional are the clients that do it all in transactions, see Transactions.java.
var transactional = []client{
	{"java", javaTransactions},
	{"python", pythonTransactions},
}

// TestEveryLanguage writes and reads the access log with each client.
func TestEveryLanguage(t *testing.T) {
	roundTrips(t, clients, "interop-")
}

// TestTransactions does so with aborted transactions in between and another topic on the way.
func TestTransactions(t *testing.T) {
	roundTrips(t, transactional, "interop-txn-")
}

func roundTrips(t *testing.T, clients []client, prefix string) {
	t.Helper()
	file := input.AccessLog(t)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := expected(content)
	bootstrap := os.Getenv("INTEROP_BOOTSTRAP")
	if bootstrap == "" {
		bootstrap = peers.StartMoldau(t, peers.BuildMoldau(t)).Kafka()
	}
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			topic := fmt.Sprintf("%s%s-%d", prefix, c.name, os.Getpid())
			createTopic(t, bootstrap, topic)
			command := append(c.prepare(t), bootstrap, topic, file)
			cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, errs.Bytes())
			}
			if got := sorted(out.Bytes()); got != want {
				t.Fatalf("%d bytes came back, want %d, or their content differs", len(got), len(want))
			}
		})
	}
}

// TestEveryVersionOfSarama tells sarama each version of Kafka from 0.11 on: it sends the requests of that version, and a broker that
// lacks one of them ends the connection.
func TestEveryVersionOfSarama(t *testing.T) {
	bootstrap := peers.StartMoldau(t, peers.BuildMoldau(t)).Kafka()
	createTopic(t, bootstrap, "versions")
	command := append(golang(t), bootstrap, "versions", "versions")
	out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput()
	if err != nil || bytes.Count(out, []byte("\n")) < 20 {
		t.Fatalf("%v\n%s", err, out)
	}
}

func createTopic(t *testing.T, bootstrap, topic string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), 3, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
}

// expected is every line with its number as key, sorted.
func expected(content []byte) string {
	var b bytes.Buffer
	for i, line := range bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n")) {
		b.WriteString(strconv.Itoa(i))
		b.WriteByte('\t')
		b.Write(line)
		b.WriteByte('\n')
	}
	return sorted(b.Bytes())
}

func sorted(lines []byte) string {
	l := bytes.Split(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n"))
	sort.Slice(l, func(i, j int) bool { return bytes.Compare(l[i], l[j]) < 0 })
	return string(bytes.Join(l, []byte("\n")))
}
