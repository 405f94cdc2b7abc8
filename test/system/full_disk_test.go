//go:build system && linux

package system

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sys/unix"

	"moldau/test/peers"
)

const (
	fullDiskBinary = "FULL_DISK_BINARY"
	fullDiskMount  = "cannot mount"
)

// TestFullDisk runs TestFullDiskInside in a mount namespace of its own, where it may mount a small file system.
func TestFullDisk(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestFullDiskInside$", "-test.v")
	cmd.Env = append(os.Environ(), fullDiskBinary+"="+peers.BuildMoldau(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Skipf("this machine gives no mount namespace: %v", err)
	}
	if strings.Contains(string(out), fullDiskMount) {
		t.Skipf("this machine allows no mount: %s", out)
	}
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// TestFullDiskInside writes until the disk is full, to a broker on a file system of 64 MiB. Records are then refused with
// KAFKA_STORAGE_ERROR, what was acknowledged is read, also after a kill -9, and another program may fill the disk to the last byte: a
// topic can still be deleted, that frees its space at once, and then writing goes on without a restart.
func TestFullDiskInside(t *testing.T) {
	bin := os.Getenv(fullDiskBinary)
	if bin == "" {
		t.Skip("it is run by TestFullDisk")
	}
	p := newProcess(t, bin)
	if err := unix.Mount("tmpfs", p.dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Fatalf("%s: %v", fullDiskMount, err)
	}
	t.Cleanup(func() { _ = unix.Unmount(p.dir, unix.MNT_DETACH) })
	p.start()
	cl := fullDiskClient(t, p)
	adm := kadm.NewClient(cl)
	if _, err := adm.CreateTopics(t.Context(), 1, 1, nil, "keep", "big"); err != nil {
		t.Fatal(err)
	}
	if err := writeOne(cl, "keep", "first"); err != nil {
		t.Fatal(err)
	}
	acknowledged := fillTopic(t, cl)
	wantRecords(t, p, "big", acknowledged)

	p.kill()
	p.start()
	wantRecords(t, p, "big", acknowledged)
	fillFile(t, filepath.Join(p.dir, "ballast"))
	if err := writeOne(cl, "keep", "refused"); !errors.Is(err, kerr.KafkaStorageError) {
		t.Errorf("a record on a full disk: %v, want KAFKA_STORAGE_ERROR", err)
	}
	if _, err := adm.DeleteTopic(t.Context(), "big"); err != nil {
		t.Fatalf("delete a topic on a full disk: %v", err)
	}
	for deadline := time.Now().Add(time.Minute); ; <-time.After(10 * time.Millisecond) {
		err := writeOne(cl, "keep", "second")
		if err == nil {
			break
		}
		if !errors.Is(err, kerr.KafkaStorageError) || time.Now().After(deadline) {
			t.Fatalf("a record when a topic has been deleted: %v", err)
		}
	}
	wantRecords(t, p, "keep", 2)
}

// fullDiskClient does not retry: refusals are what the test looks at.
func fullDiskClient(t *testing.T, p *process) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.addr()), kgo.DisableIdempotentWrite(), kgo.RecordRetries(0), byName,
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MaxProduceRequestsInflightPerBroker(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// writeOne writes a record. It tries again while there is no answer, as after a kill: the client is at its first connection then.
func writeOne(cl *kgo.Client, topic, value string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for {
		err := cl.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr()
		if err == nil || errors.Is(err, kerr.KafkaStorageError) || ctx.Err() != nil {
			return err
		}
	}
}

// fillTopic writes until a record is refused, and returns how many were acknowledged.
func fillTopic(t *testing.T, cl *kgo.Client) (acknowledged int) {
	t.Helper()
	value := make([]byte, 500<<10)
	_, _ = rand.Read(value) // never fails
	for {
		err := writeOne(cl, "big", string(value))
		if errors.Is(err, kerr.KafkaStorageError) {
			t.Logf("refused after %d records", acknowledged)
			if acknowledged < 20 {
				t.Errorf("only %d records were taken", acknowledged)
			}
			return acknowledged
		}
		if err != nil || acknowledged > 1000 {
			t.Fatalf("record %d: %v, want KAFKA_STORAGE_ERROR", acknowledged, err)
		}
		acknowledged++
	}
}

// wantRecords reads a topic from its beginning.
func wantRecords(t *testing.T, p *process, topic string, n int) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(p.addr()), kgo.ConsumeTopics(topic), byName)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for got := 0; got < n; {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatalf("%s: %d of %d records read: %v", topic, got, n, err)
		}
		got += fetches.NumRecords()
	}
}

// fillFile writes a file until the disk is full.
func fillFile(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(fmt.Errorf("fill the disk: %w", err))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
