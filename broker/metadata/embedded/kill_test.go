package embedded

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"moldau/broker/metadata"
)

// TestKillChild is the child of TestKill: it writes until it is killed and reports each acknowledged counter.
func TestKillChild(t *testing.T) {
	s := open(t, childDir(t), Options{})
	n := 0
	if kv, _, err := s.Get(t.Context(), "a"); err == nil {
		fmt.Sscan(string(kv.Value), &n)
	}
	pad := strings.Repeat("p", 8<<10) // fills a memtable in some hundred writes, so that kills hit rotations and flushes
	for {
		n++
		result, err := s.Txn(t.Context(), metadata.Txn{Ops: []metadata.Op{
			metadata.Put("a", []byte(fmt.Sprint(n))), metadata.Put("b", []byte(fmt.Sprint(n))),
			metadata.Put(fmt.Sprintf("pad/%d", n%64), []byte(pad)),
		}})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("acked %d %d\n", n, result.Rev)
	}
}

// TestKill kills a writing process again and again: what it acknowledged must be there, and no transaction may be torn.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	cycles := 8
	if testing.Short() {
		cycles = 2
	}
	for cycle := range cycles {
		acked, rev := runUntilKilled(t, dir, 1+rnd.IntN(400))
		s := open(t, dir, Options{})
		kvs, now, err := s.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		a, b := 0, 0
		for _, kv := range kvs {
			switch kv.Key {
			case "a":
				fmt.Sscan(string(kv.Value), &a)
			case "b":
				fmt.Sscan(string(kv.Value), &b)
			}
		}
		if a < acked || a > acked+1 || a != b || now < rev || now > rev+1 {
			t.Fatalf("cycle %d: acknowledged %d at revision %d, the store has a=%d b=%d at %d", cycle, acked, rev, a, b, now)
		}
		closeStore(t, s)
	}
}

// runUntilKilled kills the child after a number of acknowledged writes, and returns the last that it reported.
func runUntilKilled(t *testing.T, dir string, writes int) (acked int, rev metadata.Rev) {
	t.Helper()
	child := child("TestKillChild", dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for i := 0; ; i++ {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(line, "acked") {
			i--
			continue // what the test framework says
		}
		if n, err := fmt.Sscanf(line, "acked %d %d\n", &acked, &rev); n != 2 || err != nil {
			t.Fatalf("child said %q", line)
		}
		if i == writes {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil {
		t.Fatal("child ended by itself")
	}
	return acked, rev
}
