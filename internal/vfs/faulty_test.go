package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestInjectedErrors(t *testing.T) {
	tests := []struct {
		name string
		rule Rule
		want string // what six syncs of /d/a, /d/b, /d/a, /d/b, ... answer
	}{
		{"every call", Rule{Err: syscall.EIO, Ops: []Op{OpSync}}, "EEEEEE"},
		{"another operation", Rule{Err: syscall.EIO, Ops: []Op{OpRead}}, "......"},
		{"one of two operations", Rule{Err: syscall.EIO, Ops: []Op{OpRead, OpSync}}, "EEEEEE"},
		{"base name", Rule{Err: syscall.EIO, Path: "a", Ops: []Op{OpSync}}, "E.E.E."},
		{"pattern", Rule{Err: syscall.EIO, Path: "/d/[b-z]", Ops: []Op{OpSync}}, ".E.E.E"},
		{"third call", Rule{Err: syscall.EIO, Skip: 2, Times: 1, Ops: []Op{OpSync}}, "..E..."},
		{"from the third on", Rule{Err: syscall.EIO, Skip: 2, Ops: []Op{OpSync}}, "..EEEE"},
		{"second call of b, twice", Rule{Err: syscall.EIO, Path: "b", Skip: 1, Times: 2, Ops: []Op{OpSync}}, "...E.E"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := NewFaulty(newMemWith(t, map[string]string{"/d/a": "", "/d/b": ""}))
			files := []File{create(t, f, "/d/a", ""), create(t, f, "/d/b", "")}
			f.Inject(tt.rule)
			got := ""
			for i := range 6 {
				err := files[i%2].Sync()
				var pathErr *fs.PathError
				switch {
				case err == nil:
					got += "."
				case errors.Is(err, syscall.EIO) && errors.As(err, &pathErr) && pathErr.Path == files[i%2].Name():
					got += "E"
				default:
					t.Fatal(err)
				}
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Each operation can be made to fail, and then leaves no trace.
func TestEveryOperationCanFail(t *testing.T) {
	calls := map[Op]func(FS, File) error{
		OpOpen:        func(f FS, _ File) error { _, err := f.Open("/d/a"); return err },
		OpCreate:      func(f FS, _ File) error { _, err := f.OpenFile("/d/new", os.O_CREATE|os.O_RDWR, 0o644); return err },
		OpRead:        func(_ FS, h File) error { _, err := h.ReadAt(make([]byte, 1), 0); return err },
		OpWrite:       func(_ FS, h File) error { _, err := h.WriteAt([]byte("changed"), 0); return err },
		OpTruncate:    func(_ FS, h File) error { return h.Truncate(0) },
		OpPreallocate: func(_ FS, h File) error { return h.Preallocate(0, 10) },
		OpSync:        func(_ FS, h File) error { return h.Sync() },
		OpSyncDir:     func(f FS, _ File) error { return f.SyncDir("/d") },
		OpSyncFS:      func(f FS, _ File) error { return syncVolume(f, "/d") },
		OpRename:      func(f FS, _ File) error { return f.Rename("/d/a", "/d/b") },
		OpRemove:      func(f FS, _ File) error { return errors.Join(f.RemoveAll("/d/a"), f.Remove("/d/a")) },
		OpMkdir:       func(f FS, _ File) error { return f.MkdirAll("/d/x", 0o755) },
		OpReadDir:     func(f FS, _ File) error { _, err := f.ReadDir("/d"); return err },
		OpStat:        func(f FS, _ File) error { _, err := f.Stat("/d/a"); return err },
		OpLock:        func(f FS, _ File) error { _, err := f.Lock("/d/lock"); return err },
		OpUsage:       func(f FS, _ File) error { _, err := f.Usage("/d"); return err },
	}
	for op := OpOpen; op < opEnd; op++ {
		call, ok := calls[op]
		if !ok {
			t.Fatalf("no call of %v", op)
		}
		m := newMemWith(t, map[string]string{"/d/a": "text"})
		f := NewFaulty(m)
		h, err := f.OpenFile("/d/a", os.O_RDWR, 0)
		must(t, err)
		remove := f.Inject(Rule{Ops: []Op{op}, Err: syscall.EIO})
		if err := call(f, h); !errors.Is(err, syscall.EIO) {
			t.Errorf("%v: %v", op, err)
		}
		if entries, err := m.ReadDir("/d"); fmt.Sprint(entries) != "[- a]" || err != nil || content(t, m, "/d/a") != "text" {
			t.Errorf("%v failed and left %v, %q", op, entries, content(t, m, "/d/a"))
		}
		remove()
		if op == OpRemove {
			continue
		}
		if err := call(f, h); err != nil {
			t.Errorf("%v without the rule: %v", op, err)
		}
		if f.Count(op) < 2 {
			t.Errorf("%v was counted %d times", op, f.Count(op))
		}
	}
}

func TestPartialWrite(t *testing.T) {
	m := newMemWith(t, nil)
	f := NewFaulty(m)
	h := create(t, f, "/d/f", "")
	f.Inject(Rule{Ops: []Op{OpWrite}, Err: syscall.EIO, Partial: true})
	if n, err := h.WriteAt([]byte("abcdef"), 0); n != 3 || !errors.Is(err, syscall.EIO) {
		t.Errorf("%d, %v", n, err)
	}
	if got := content(t, m, "/d/f"); got != "abc" {
		t.Errorf("%q", got)
	}
}

func TestDelay(t *testing.T) {
	var slept []time.Duration
	f := NewFaultyWith(newMemWith(t, nil), FaultyOptions{Sleep: func(d time.Duration) { slept = append(slept, d) }})
	h := create(t, f, "/d/f", "x")
	f.Inject(Rule{Ops: []Op{OpSync}, Delay: 3 * time.Second})
	f.Inject(Rule{Ops: []Op{OpSync}, Delay: time.Second, Err: syscall.EIO, Skip: 1})
	must(t, h.Sync())
	if err := h.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("%v", err)
	}
	if fmt.Sprint(slept) != "[3s 4s]" {
		t.Errorf("slept %v", slept)
	}
}

func TestFlippedBit(t *testing.T) {
	m := newMemWith(t, map[string]string{"/d/f": string(make([]byte, 1000))})
	f := NewFaultyWith(m, FaultyOptions{Seed: 5})
	h, err := f.Open("/d/f")
	must(t, err)
	f.Inject(Rule{Ops: []Op{OpRead}, FlipBit: true, Times: 1})
	for read, want := range []int{1, 0} {
		buf := make([]byte, 1000)
		_, err := h.ReadAt(buf, 0)
		must(t, err)
		bits := 0
		for _, b := range buf {
			for ; b != 0; b &= b - 1 {
				bits++
			}
		}
		if bits != want {
			t.Errorf("read %d: %d bits flipped, want %d", read, bits, want)
		}
	}
	if got := content(t, m, "/d/f"); got != string(make([]byte, 1000)) {
		t.Error("the flip reached the disk")
	}
}

func TestProbability(t *testing.T) {
	fails := func(seed uint64) string {
		f := NewFaultyWith(newMemWith(t, nil), FaultyOptions{Seed: seed})
		h := create(t, f, "/d/f", "x")
		f.Inject(Rule{Ops: []Op{OpSync}, Probability: 0.5, Err: syscall.EIO})
		out := ""
		for range 200 {
			out += fmt.Sprint(h.Sync() != nil)[:1]
		}
		return out
	}
	a := fails(1)
	if n := bytes.Count([]byte(a), []byte("t")); n < 60 || n > 140 {
		t.Errorf("%d of 200", n)
	}
	if a != fails(1) || a == fails(2) {
		t.Error("the seed does not decide")
	}
}

func TestDiskFull(t *testing.T) {
	m := newMemWith(t, nil)
	f := NewFaulty(m)
	a := create(t, f, "/d/a", "")
	f.LimitSpace(10)
	write := func(h File, text string, off int64, wantN int, wantErr error) {
		t.Helper()
		if n, err := h.WriteAt([]byte(text), off); n != wantN || !errors.Is(err, wantErr) {
			t.Errorf("wrote %d, %v; want %d, %v", n, err, wantN, wantErr)
		}
	}
	write(a, "12345678", 0, 8, nil)
	write(a, "abcd", 0, 4, nil) // no growth
	write(a, "wxyz", 6, 4, nil) // grows by 2
	write(a, "more", 10, 0, syscall.ENOSPC)
	if u, err := f.Usage("/d"); u.Usable != 0 || err != nil {
		t.Errorf("usage %+v, %v", u, err)
	}
	must(t, a.Truncate(7))
	write(a, "12345", 7, 3, syscall.ENOSPC)
	if got := content(t, m, "/d/a"); got != "abcd56w123" {
		t.Errorf("%q", got)
	}
	must(t, a.Close())
	must(t, f.Remove("/d/a"))
	b := create(t, f, "/d/b", "0123456789")
	write(b, "x", 10, 0, syscall.ENOSPC)
	f.LimitSpace(-1)
	write(b, "x", 10, 1, nil)
}

func TestHookSeesEachMutation(t *testing.T) {
	var calls []string
	f := NewFaultyWith(NewMem(), FaultyOptions{Hook: func(c Call) { calls = append(calls, fmt.Sprint(c.N, " ", c.Op, " ", c.Name)) }})
	must(t, f.MkdirAll("/d", 0o755))
	h := create(t, f, "/d/f", "x")
	_, err := h.ReadAt(make([]byte, 1), 0)
	must(t, err)
	must(t, h.Sync())
	must(t, f.Rename("/d/f", "/d/g"))
	_, err = f.ReadDir("/d")
	must(t, err)
	if got := fmt.Sprint(calls); got != "[1 mkdir /d 2 create /d/f 3 write /d/f 4 sync /d/f 5 rename /d/f]" {
		t.Errorf("%v", got)
	}
	if f.Mutations() != 5 || f.Count(OpRead) != 1 || f.Count(OpReadDir) != 1 {
		t.Errorf("%d mutations", f.Mutations())
	}
}

func TestOpNames(t *testing.T) {
	for op := OpOpen; op < opEnd; op++ {
		if op.String() == "" || op.String() == "unknown" {
			t.Errorf("operation %d has no name", op)
		}
	}
	if opEnd.String() != "unknown" || Op(0).Mutates() {
		t.Error("an operation that does not exist passes for one")
	}
}
