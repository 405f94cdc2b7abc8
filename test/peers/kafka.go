package peers

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kafka is one running node of Apache Kafka. It ends with the test that
// started it.
type Kafka struct {
	// Addr is the bootstrap address, host:port on loopback.
	Addr string
	// Dir holds the data directory (Dir/data) and the server's log.
	Dir string
	// Pid is the process id of the JVM, for CPU accounting.
	Pid int
}

// KafkaOptions changes how [StartKafka] configures the node.
type KafkaOptions struct {
	// HeapMB is the JVM's -Xmx in MiB; 0 means 512.
	HeapMB int
	// Properties are added to server.properties, later lines winning.
	Properties map[string]string
}

// StartKafka formats and starts one node of Apache Kafka in KRaft mode and
// returns when it answers ApiVersions. It fails the test when the node does
// not come up within two minutes.
func StartKafka(tb testing.TB, o KafkaOptions) *Kafka {
	tb.Helper()
	cp := classpath(tb)
	dir := tb.TempDir()
	port, controller := freePort(tb), freePort(tb)
	props := filepath.Join(dir, "server.properties")
	if err := os.WriteFile(props, []byte(serverProperties(dir, port, controller, o.Properties)), 0o600); err != nil {
		tb.Fatalf("peers: %v", err)
	}
	id := strings.TrimSpace(runJava(tb, cp, dir, "kafka.tools.StorageTool", "random-uuid"))
	runJava(tb, cp, dir, "kafka.tools.StorageTool", "format", "-t", lastLine(id), "-c", props)
	if o.HeapMB == 0 {
		o.HeapMB = 512
	}
	logFile, err := os.Create(filepath.Join(dir, "kafka.log"))
	if err != nil {
		tb.Fatalf("peers: %v", err)
	}
	cmd := exec.Command("java", fmt.Sprintf("-Xmx%dm", o.HeapMB), "-cp", cp, "kafka.Kafka", props)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, logFile, logFile
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		tb.Fatalf("peers: start Apache Kafka: %v", err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait(); _ = logFile.Close() }()
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done
	})
	k := &Kafka{Addr: fmt.Sprintf("127.0.0.1:%d", port), Dir: dir, Pid: cmd.Process.Pid}
	k.awaitReady(tb, done)
	return k
}

func serverProperties(dir string, port, controller int, extra map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:%[3]d
listeners=PLAINTEXT://127.0.0.1:%[2]d,CONTROLLER://127.0.0.1:%[3]d
advertised.listeners=PLAINTEXT://127.0.0.1:%[2]d
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs=%[1]s
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
`, filepath.Join(dir, "data"), port, controller)
	for k, v := range extra {
		fmt.Fprintf(&b, "%s=%s\n", k, v)
	}
	return b.String()
}

func (k *Kafka) awaitReady(tb testing.TB, exited <-chan struct{}) {
	tb.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(k.Addr))
	if err != nil {
		tb.Fatalf("peers: %v", err)
	}
	defer cl.Close()
	deadline := time.Now().Add(2 * time.Minute)
	for time.Now().Before(deadline) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		resp, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, cl)
		cancel()
		if err == nil && len(resp.Brokers) > 0 {
			return
		}
		select {
		case <-exited:
			tb.Fatalf("peers: Apache Kafka ended while starting:\n%s", k.logTail())
		case <-time.After(200 * time.Millisecond):
		}
	}
	tb.Fatalf("peers: Apache Kafka did not answer in two minutes:\n%s", k.logTail())
}

func (k *Kafka) logTail() []byte {
	b, _ := os.ReadFile(filepath.Join(k.Dir, "kafka.log"))
	if lines := bytes.Split(b, []byte("\n")); len(lines) > 40 {
		b = bytes.Join(lines[len(lines)-40:], []byte("\n"))
	}
	return b
}

func freePort(tb testing.TB) int {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("peers: %v", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

func lastLine(s string) string {
	return s[strings.LastIndexByte(s, '\n')+1:]
}
