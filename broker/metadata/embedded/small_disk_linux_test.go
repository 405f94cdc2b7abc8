//go:build linux

package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"moldau/broker/metadata"
)

// TestSmallDisk runs TestSmallDiskChild in a mount namespace of its own, where it may mount a small file system.
func TestSmallDisk(t *testing.T) {
	cmd := child("TestSmallDiskChild", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Skipf("this machine gives no mount namespace: %v", err)
	}
	if strings.Contains(string(out), noMount) {
		t.Skipf("this machine allows no mount: %s", out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

const noMount = "cannot mount"

// TestSmallDiskChild fills a file system of 48 MiB by writing metadata, and then completely. The store must say that there
// is no space (Badger alone would be killed by a SIGBUS), keep what it acknowledged, let things be deleted, and work again
// when there is space.
func TestSmallDiskChild(t *testing.T) {
	dir := filepath.Join(childDir(t), "small")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=48m"); err != nil {
		t.Fatalf("%s: %v", noMount, err)
	}
	defer func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	store := filepath.Join(dir, "metadata")
	s := open(t, store, Options{MinFreeBytes: 8 << 20})
	value := strings.Repeat("v", 100<<10)
	acked := 0
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		_, err = s.Txn(t.Context(), metadata.Txn{Ops: []metadata.Op{metadata.Put(fmt.Sprintf("k/%04d", i), []byte(value))}})
		if err == nil {
			acked++
		}
	}
	if !errors.Is(err, metadata.ErrNoSpace) || acked < 20 {
		t.Fatalf("after %d writes: %v, want ErrNoSpace", acked, err)
	}
	ballast := filepath.Join(dir, "ballast")
	fillDisk(t, ballast)
	if _, err := s.Txn(t.Context(), metadata.Txn{Ops: []metadata.Op{metadata.Put("x", nil)}}); !errors.Is(err, metadata.ErrNoSpace) {
		t.Fatalf("write on a full disk: %v, want ErrNoSpace", err)
	}
	if kvs, _, err := s.List(t.Context(), "k/"); err != nil || len(kvs) != acked {
		t.Fatalf("%d keys on a full disk, %d were acknowledged: %v", len(kvs), acked, err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for i := range acked {
		if _, err := s.Txn(t.Context(), metadata.Txn{Ops: []metadata.Op{metadata.Delete(fmt.Sprintf("k/%04d", i))}}); err != nil {
			t.Fatalf("deletion %d with little space: %v", i, err)
		}
	}
	closeStore(t, s)
	fillDisk(t, ballast)
	if _, err := Open(store, Options{}); !errors.Is(err, metadata.ErrNoSpace) {
		t.Fatalf("open on a full disk: %v, want ErrNoSpace", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s = open(t, store, Options{MinFreeBytes: 4 << 20})
	put(t, s, "x", "y")
	fillDisk(t, ballast)
	if _, err := s.Txn(t.Context(), metadata.Txn{Ops: []metadata.Op{metadata.Delete("x")}}); err != nil {
		t.Fatalf("deletion on a full disk: %v", err)
	}
	closeStore(t, s)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s = open(t, store, Options{MinFreeBytes: 4 << 20})
	if _, _, err := s.Get(t.Context(), "x"); !errors.Is(err, metadata.ErrNotFound) {
		t.Fatalf("after the deletion: %v, want ErrNotFound", err)
	}
	closeStore(t, s)
}

// fillDisk writes a file until the disk is full.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 64<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
