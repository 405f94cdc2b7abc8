package vfs

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// outcomes counts what many power cuts leave, as describe puts it.
func outcomes(m *MemFS, describe func(*MemFS) string) map[string]int {
	seen := map[string]int{}
	for seed := range uint64(400) {
		seen[describe(m.CrashClone(seed))]++
	}
	return seen
}

func wantOutcomes(t *testing.T, got map[string]int, want ...string) {
	t.Helper()
	for _, w := range want {
		if got[w] == 0 {
			t.Errorf("never %q: %v", w, got)
		}
		delete(got, w)
	}
	if len(got) > 0 {
		t.Errorf("impossible: %v", got)
	}
}

func newMemWith(t *testing.T, files map[string]string) *MemFS {
	t.Helper()
	m := NewMem()
	must(t, m.MkdirAll("/d", 0o755))
	for name, text := range files {
		must(t, create(t, m, name, text).Close())
	}
	must(t, syncVolume(m, "/"))
	return m
}

func TestSyncedSurvives(t *testing.T) {
	m := NewMem()
	must(t, m.MkdirAll("/a/b", 0o755))
	f := create(t, m, "/a/b/f", strings.Repeat("synced ", 1000))
	must(t, f.Sync())
	for _, dir := range []string{"/a/b", "/a", "/"} {
		must(t, m.SyncDir(dir))
	}
	wantOutcomes(t, outcomes(m, func(c *MemFS) string { return content(t, c, "/a/b/f") }), strings.Repeat("synced ", 1000))
	_, err := f.WriteAt([]byte("lost?"), 0)
	must(t, err)
	wantOutcomes(t, outcomes(m, func(c *MemFS) string { return content(t, c, "/a/b/f")[:7] }), "synced ", "lost?d ")
}

func TestSyncingAFileDoesNotSaveItsName(t *testing.T) {
	m := newMemWith(t, nil)
	f := create(t, m, "/d/f", "bytes")
	must(t, f.Sync())
	wantOutcomes(t, outcomes(m, func(c *MemFS) string { return content(t, c, "/d/f") }), "bytes", "absent")
	must(t, m.SyncDir("/d"))
	wantOutcomes(t, outcomes(m, func(c *MemFS) string { return content(t, c, "/d/f") }), "bytes")
}

func TestSavingANameDoesNotSaveTheBytes(t *testing.T) {
	m := newMemWith(t, nil)
	create(t, m, "/d/f", "ab")
	must(t, m.SyncDir("/d"))
	wantOutcomes(t, outcomes(m, func(c *MemFS) string { return content(t, c, "/d/f") }), "", "a", "ab", "\x00", "\x00\x00")
}

func TestDirectoryNeedsItsParent(t *testing.T) {
	m := NewMem()
	must(t, m.MkdirAll("/new", 0o755))
	f := create(t, m, "/new/f", "x")
	must(t, f.Sync())
	must(t, m.SyncDir("/new"))
	wantOutcomes(t, outcomes(m, func(c *MemFS) string { return content(t, c, "/new/f") }), "x", "absent")
}

func TestTornAppend(t *testing.T) {
	m := newMemWith(t, nil)
	f := create(t, m, "/d/log", strings.Repeat("a", 700))
	must(t, f.Sync())
	must(t, m.SyncDir("/d"))
	_, err := f.WriteAt(bytes.Repeat([]byte("b"), 2000), 700)
	must(t, err)
	var lost, kept, cut, hole int
	for seed := range uint64(500) {
		got := content(t, m.CrashClone(seed), "/d/log")
		if len(got) < 700 || len(got) > 2700 || strings.Trim(got[:700], "a") != "" {
			t.Fatalf("seed %d: synced bytes are gone: %d bytes", seed, len(got))
		}
		tail := got[700:]
		if strings.Trim(tail, "b\x00") != "" {
			t.Fatalf("seed %d: bytes that nobody wrote", seed)
		}
		for i := range tail {
			at := 700 + i
			if i > 0 && at%sectorSize != 0 && tail[i] != tail[i-1] {
				t.Fatalf("seed %d: a sector is torn at %d", seed, at)
			}
		}
		holes := strings.Contains(tail, "\x00b") || strings.Contains(tail, "\x00") && strings.Contains(tail, "b")
		switch {
		case tail == "":
			lost++
		case holes:
			hole++
		case len(tail) < 2000:
			cut++
		case tail == strings.Repeat("b", 2000):
			kept++
		}
	}
	if lost == 0 || kept == 0 || cut == 0 || hole == 0 {
		t.Errorf("lost %d, kept %d, cut %d, with holes %d: all must happen", lost, kept, cut, hole)
	}
}

func TestTruncationAndRewrite(t *testing.T) {
	m := newMemWith(t, map[string]string{"/d/f": strings.Repeat("o", 1200)})
	f, err := m.OpenFile("/d/f", os.O_RDWR, 0)
	must(t, err)
	must(t, f.Truncate(100))
	describe := func(c *MemFS) string {
		got := content(t, c, "/d/f")
		return fmt.Sprintf("%d %q", len(got), strings.ReplaceAll(got, "ooooo", ""))
	}
	got := outcomes(m, describe)
	if got[`100 ""`] == 0 || got[`1200 ""`] == 0 {
		t.Errorf("truncation is lost or kept: %v", got)
	}
	must(t, f.Sync())
	wantOutcomes(t, outcomes(m, describe), `100 ""`)
	must(t, f.Truncate(50))
	must(t, f.Truncate(100))
	must(t, f.Sync())
	wantOutcomes(t, outcomes(m, func(c *MemFS) string { return content(t, c, "/d/f") }), strings.Repeat("o", 50)+strings.Repeat("\x00", 50))
}

func TestRenameIsAtomic(t *testing.T) {
	m := newMemWith(t, map[string]string{"/d/new": "new", "/d/old": "old"})
	must(t, m.Rename("/d/new", "/d/old"))
	describe := func(c *MemFS) string { return content(t, c, "/d/new") + " " + content(t, c, "/d/old") }
	wantOutcomes(t, outcomes(m, describe), "new old", "absent new")
	must(t, m.SyncDir("/d"))
	wantOutcomes(t, outcomes(m, describe), "absent new")
}

func TestRemovalIsLostOrKept(t *testing.T) {
	m := newMemWith(t, map[string]string{"/d/f": "x"})
	must(t, m.Remove("/d/f"))
	describe := func(c *MemFS) string { return content(t, c, "/d/f") }
	wantOutcomes(t, outcomes(m, describe), "x", "absent")
	must(t, m.SyncDir("/d"))
	wantOutcomes(t, outcomes(m, describe), "absent")
}

// A file that moved has one name, whichever moves were lost.
func TestFileHasOneName(t *testing.T) {
	m := newMemWith(t, map[string]string{"/d/a": "x"})
	must(t, m.MkdirAll("/e", 0o755))
	must(t, m.SyncDir("/"))
	must(t, m.Rename("/d/a", "/d/b"))
	must(t, m.Rename("/d/b", "/d/c"))
	must(t, m.Rename("/d/c", "/e/d"))
	describe := func(c *MemFS) string {
		found := ""
		for _, name := range []string{"/d/a", "/d/b", "/d/c", "/e/d"} {
			if content(t, c, name) == "x" {
				found += name
			}
		}
		return found
	}
	wantOutcomes(t, outcomes(m, describe), "/d/a", "/d/b", "/d/c", "/e/d")
	must(t, m.SyncDir("/e"))
	wantOutcomes(t, outcomes(m, describe), "/e/d")
}

func TestSyncedVolumeSurvives(t *testing.T) {
	m := NewMem()
	must(t, m.MkdirAll("/a/b", 0o755))
	create(t, m, "/a/b/f", strings.Repeat("x", 3000))
	create(t, m, "/gone", "y")
	must(t, m.Remove("/gone"))
	must(t, syncVolume(m, "/"))
	wantOutcomes(t, outcomes(m, func(c *MemFS) string { return content(t, c, "/a/b/f") + content(t, c, "/gone") }),
		strings.Repeat("x", 3000)+"absent")
}

func TestCrashCloneIsRepeatableAndApart(t *testing.T) {
	m := newMemWith(t, map[string]string{"/d/f": "0"})
	for i := range 20 {
		create(t, m, fmt.Sprintf("/d/f%d", i), strings.Repeat("z", 100*i))
	}
	dump := func(c *MemFS) string {
		entries, err := c.ReadDir("/d")
		must(t, err)
		var out strings.Builder
		for _, e := range entries {
			fmt.Fprintln(&out, e.Name(), content(t, c, "/d/"+e.Name()))
		}
		return out.String()
	}
	if first, second := dump(m.CrashClone(7)), dump(m.CrashClone(7)); first != second {
		t.Error("the same seed gave two outcomes")
	}
	before, clone := dump(m), m.CrashClone(7)
	left := dump(clone)
	must(t, create(t, clone, "/d/f", "changed").Close())
	if dump(m) != before {
		t.Error("writing to the clone changed the original")
	}
	must(t, create(t, m, "/d/f", "other").Close())
	if got := dump(clone.CrashClone(1)); got == left && strings.Contains(got, "other") {
		t.Error("writing to the original changed the clone")
	}
	if again := dump(m.CrashClone(7).CrashClone(99)); again != dump(m.CrashClone(7)) {
		t.Error("what survived one cut did not survive the next")
	}
}

func TestCrashReleasesLocks(t *testing.T) {
	m := newMemWith(t, nil)
	_, err := m.Lock("/d/.lock")
	must(t, err)
	_, err = m.CrashClone(1).Lock("/d/.lock")
	must(t, err)
}

// The promise of WriteFileAtomic at every crash point there is, under many dice.
func TestWriteFileAtomicSurvivesEveryCrash(t *testing.T) {
	for point := uint64(1); ; point++ {
		m := newMemWith(t, map[string]string{"/d/f": "old"})
		var clones []*MemFS
		f := NewFaultyWith(m, FaultyOptions{Hook: func(c Call) {
			if c.N == point {
				for seed := range uint64(60) {
					clones = append(clones, m.CrashClone(seed))
				}
			}
		}})
		must(t, WriteFileAtomic(f, "/d/f", bytes.Repeat([]byte("new"), 500)))
		if point > f.Mutations() {
			if point < 5 {
				t.Errorf("only %d crash points", point-1)
			}
			for seed := range uint64(60) {
				if got := content(t, m.CrashClone(seed), "/d/f"); got != strings.Repeat("new", 500) {
					t.Fatalf("lost after a nil error: %q", got)
				}
			}
			return
		}
		for _, c := range clones {
			if got := content(t, c, "/d/f"); got != "old" && got != strings.Repeat("new", 500) {
				t.Fatalf("crash before operation %d leaves %q", point, got)
			}
		}
	}
}

// The model can fail: the usual mistakes are found.
func TestCrashFindsMissingSyncs(t *testing.T) {
	mistakes := map[string]func(fsys FS){
		"no file sync": func(fsys FS) {
			must(t, create(t, fsys, "/d/tmp", "new").Close())
			must(t, fsys.Rename("/d/tmp", "/d/f"))
			must(t, fsys.SyncDir("/d"))
		},
		"no directory sync": func(fsys FS) {
			f := create(t, fsys, "/d/tmp", "new")
			must(t, f.Sync())
			must(t, fsys.Rename("/d/tmp", "/d/f"))
		},
		"in place": func(fsys FS) {
			must(t, create(t, fsys, "/d/f", "new").Close())
		},
	}
	for name, write := range mistakes {
		m := newMemWith(t, map[string]string{"/d/f": "old"})
		write(m)
		got := outcomes(m, func(c *MemFS) string { return content(t, c, "/d/f") })
		if len(got) == 1 && got["new"] > 0 {
			t.Errorf("%s: goes unnoticed", name)
		}
	}
}
