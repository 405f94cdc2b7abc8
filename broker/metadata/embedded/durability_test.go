package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"moldau/broker/metadata"
)

func put(t testing.TB, s *Store, key, value string) metadata.Rev {
	t.Helper()
	result, err := s.Txn(t.Context(), metadata.Txn{Ops: []metadata.Op{metadata.Put(key, []byte(value))}})
	if err != nil || !result.Succeeded {
		t.Fatalf("put %s: %+v %v", key, result, err)
	}
	return result.Rev
}

func closeStore(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// dump is everything a store holds.
func dump(t testing.TB, s *Store) string {
	t.Helper()
	kvs, rev, err := s.List(t.Context(), "")
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "rev %d\n", rev)
	for _, kv := range kvs {
		fmt.Fprintf(&b, "%s %d %d %d %q\n", kv.Key, kv.CreateRev, kv.ModRev, kv.Session, kv.Value)
	}
	return b.String()
}

func TestReopenKeepsEverything(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	put(t, s, "a", "1")
	put(t, s, "b", "2")
	put(t, s, "a", "3")
	if _, err := s.Txn(t.Context(), metadata.Txn{Ops: []metadata.Op{metadata.Delete("b")}}); err != nil {
		t.Fatal(err)
	}
	before := dump(t, s)
	closeStore(t, s)
	for range 3 {
		s = open(t, dir, Options{})
		if after := dump(t, s); after != before {
			t.Fatalf("reopened with\n%s, want\n%s", after, before)
		}
		closeStore(t, s)
	}
	s = open(t, dir, Options{})
	defer closeStore(t, s)
	if rev := put(t, s, "c", "4"); rev != 5 {
		t.Fatalf("revision %d after reopening, want 5", rev)
	}
	if _, err := s.Watch(t.Context(), "", 1); !errors.Is(err, metadata.ErrCompacted) {
		t.Fatalf("watch from before the start: %v, want ErrCompacted", err)
	}
}

// TestSessionsEndWithTheProcess: keys of sessions are gone when the store is opened again, in revisions of their own.
func TestSessionsEndWithTheProcess(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	session, err := s.OpenSession(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		_, err := s.Txn(t.Context(), metadata.Txn{Ops: []metadata.Op{metadata.PutSession(fmt.Sprintf("s/%d", i), nil, session.ID())}})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, "stays", "x")
	closeStore(t, s)
	s = open(t, dir, Options{})
	defer closeStore(t, s)
	kvs, rev, err := s.List(t.Context(), "")
	if err != nil || len(kvs) != 1 || kvs[0].Key != "stays" || rev != 203 {
		t.Fatalf("after the restart: %v at revision %d, %v; want one key at revision 203", kvs, rev, err)
	}
}

func TestSecondOpenIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	put(t, s, "a", "1")
	if second, err := Open(dir, Options{}); err == nil {
		closeStore(t, second)
		t.Fatal("opened twice")
	} else if !strings.Contains(err.Error(), "another process") {
		t.Errorf("second open: %v", err)
	}
	put(t, s, "a", "2")
	closeStore(t, s)
	s = open(t, dir, Options{})
	closeStore(t, s)
}

// TestRotation writes enough to fill several memtables; the store must stay whole, and small, and every log must have its
// blocks before Badger writes to it.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	value := strings.Repeat("v", 100<<10)
	seen := map[string]bool{}
	for i := range 150 { // 15 MB
		put(t, s, fmt.Sprintf("k/%d", i%5), fmt.Sprint(i)+value)
		if i%20 == 0 {
			for _, name := range checkLogs(t, dir) {
				seen[name] = true
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("only %d logs in 15 MB", len(seen))
	}
	var tables int64
	for _, l := range s.db.Levels() {
		tables += l.Size
	}
	if tables > 3*memTableBytes { // 0.5 MB are alive
		t.Errorf("%d bytes of tables: nothing is merged", tables)
	}
	before := dump(t, s)
	closeStore(t, s)
	for range 2 * compactTablesAtStart { // every stop leaves a table
		s = open(t, dir, Options{})
		if after := dump(t, s); after != before {
			t.Error("reopened with other content")
		}
		rev := put(t, s, "restart", "x")
		before = dump(t, s)
		if n := s.db.Levels()[0].NumTables; n >= compactTablesAtStart {
			t.Errorf("%d tables at revision %d: nothing is merged at start", n, rev)
		}
		closeStore(t, s)
	}
}

// checkLogs checks that the log in use and the next one have blocks, and returns the names of all.
func checkLogs(t *testing.T, dir string) []string {
	t.Helper()
	ids, err := walIDs(dir)
	if err != nil || len(ids) < 2 {
		t.Fatalf("logs %v: %v", ids, err)
	}
	var names []string
	for i, id := range ids {
		path := walPath(dir, id)
		names = append(names, filepath.Base(path))
		if i >= len(ids)-2 && ownsDirLock {
			if n := allocated(t, path); n < walBytes {
				t.Errorf("log %s has %d bytes allocated, want %d", path, n, walBytes)
			}
		}
	}
	return names
}

// TestFreeSpaceFloor: below the floor nothing grows any more, deletions go on down to half of it, and without any space while the
// log has room, reads always; above it
// everything works again. A store is not opened on a disk that is too full for it.
func TestFreeSpaceFloor(t *testing.T) {
	dir := t.TempDir()
	free := int64(1 << 30)
	o := Options{MinFreeBytes: 1 << 20, FreeBytes: func(string) (int64, error) { return free, nil }}
	s := open(t, dir, o)
	put(t, s, "a", "1")
	put(t, s, "b", "2")
	try := func(ops ...metadata.Op) error {
		_, err := s.Txn(t.Context(), metadata.Txn{Ops: ops})
		return err
	}
	free = 1<<20 - 1
	if err := try(metadata.Put("c", nil)); !errors.Is(err, metadata.ErrNoSpace) || !strings.Contains(err.Error(), dir) {
		t.Errorf("put below the floor: %v, want ErrNoSpace that names the directory", err)
	}
	if err := try(metadata.Delete("a"), metadata.Put("gone/a", nil)); err != nil {
		t.Errorf("deletion below the floor: %v", err)
	}
	free = 0
	if err := try(metadata.Delete("gone/a")); err != nil {
		t.Errorf("deletion on a full disk: %v", err)
	}
	free = 1 << 30
	for range 2 * memTableBytes / (3 * (100 << 10)) { // two thirds of the current log
		put(t, s, "large", strings.Repeat("v", 100<<10))
	}
	free = 1<<19 - 1
	if err := try(metadata.Delete("b")); !errors.Is(err, metadata.ErrNoSpace) {
		t.Errorf("deletion below half the floor, with the log half full: %v, want ErrNoSpace", err)
	}
	if kv, _, err := s.Get(t.Context(), "b"); err != nil || string(kv.Value) != "2" {
		t.Errorf("read below the floor: %+v %v", kv, err)
	}
	free = 1 << 30
	if err := try(metadata.Put("c", nil)); err != nil {
		t.Errorf("put with space again: %v", err)
	}
	closeStore(t, s)
	free = openFreeBytes - 1
	if s, err := Open(dir, o); !errors.Is(err, metadata.ErrNoSpace) {
		t.Errorf("open on a full disk: %v %v, want ErrNoSpace", s, err)
	}
	free = openFreeBytes
	closeStore(t, open(t, dir, o))
}

// TestFailedWrite: after an error of the disk the outcome is unknown, nothing is written any more, reads go on, and a
// restart reads what is there.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	put(t, s, "a", "1")
	broken := errors.New("input/output error")
	s.commitGroup = func(*group) error { return broken }
	write := func() error {
		_, err := s.Txn(t.Context(), metadata.Txn{Ops: []metadata.Op{metadata.Put("a", []byte("2"))}})
		return err
	}
	if err := write(); !errors.Is(err, metadata.ErrUnknownOutcome) || !errors.Is(err, broken) {
		t.Errorf("first write: %v, want ErrUnknownOutcome and its cause", err)
	}
	s.commitGroup = (*group).commit
	if err := write(); !errors.Is(err, metadata.ErrFailed) || errors.Is(err, metadata.ErrUnknownOutcome) {
		t.Errorf("second write: %v, want ErrFailed", err)
	}
	if kv, rev, err := s.Get(t.Context(), "a"); err != nil || string(kv.Value) != "1" || rev != 1 {
		t.Errorf("read: %+v at revision %d, %v", kv, rev, err)
	}
	closeStore(t, s)
	s = open(t, dir, Options{})
	defer closeStore(t, s)
	put(t, s, "a", "3")
}

func TestNewerFormatIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	put(t, s, "a", "1")
	if err := s.db.Update(func(txn *badger.Txn) error { return txn.Set(formatKey, []byte{formatVersion + 1}) }); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	if _, err := Open(dir, Options{}); !errors.Is(err, metadata.ErrNewerFormat) {
		t.Fatalf("open: %v, want ErrNewerFormat", err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, metadata.ErrNewerFormat) { // and the lock was released
		t.Fatalf("second try: %v, want ErrNewerFormat", err)
	}
}

func TestCorruptEntries(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	defer closeStore(t, s)
	for i, bad := range [][]byte{{}, {9}, {entryVersion}, {entryVersion, 0x80}, {entryVersion, 1, 1}} {
		if err := s.db.Update(func(txn *badger.Txn) error { return txn.Set(spaceKey(dataSpace, "k"), bad) }); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Get(t.Context(), "k"); !errors.Is(err, metadata.ErrCorrupt) {
			t.Errorf("entry %d: get: %v, want ErrCorrupt", i, err)
		}
		if _, _, err := s.List(t.Context(), ""); !errors.Is(err, metadata.ErrCorrupt) {
			t.Errorf("entry %d: list: %v, want ErrCorrupt", i, err)
		}
		_, err := s.Txn(t.Context(), metadata.Txn{Ops: []metadata.Op{metadata.Put("k", nil)}})
		if !errors.Is(err, metadata.ErrCorrupt) || errors.Is(err, metadata.ErrUnknownOutcome) {
			t.Errorf("entry %d: put: %v, want ErrCorrupt", i, err)
		}
	}
	put(t, s, "other", "works")
}

// TestFlippedBitsInTables flips one bit in a table again and again: opening or reading must report it, never serve it.
// Each try is a process of its own, because Badger leaves goroutines behind when it fails to open.
func TestFlippedBitsInTables(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	for i := range 300 {
		put(t, s, fmt.Sprintf("key/%d", i), strings.Repeat(fmt.Sprint(i), 20))
	}
	before := dump(t, s)
	closeStore(t, s)
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables %v: %v", tables, err)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	refused := 0
	for range 10 {
		damaged := copyDir(t, dir)
		path := filepath.Join(damaged, filepath.Base(tables[rnd.IntN(len(tables))]))
		flip(t, path, rnd)
		out, err := child("TestOpenChild", damaged).CombinedOutput()
		if err != nil {
			refused++
			continue
		}
		if _, served, _ := strings.Cut(string(out), "holds\n"); !strings.HasPrefix(served, before) {
			t.Errorf("a flipped bit in %s was served:\n%s", path, out)
		}
	}
	if refused == 0 {
		t.Error("no flipped bit was noticed")
	}
}

// TestOpenChild opens a store and prints what it holds.
func TestOpenChild(t *testing.T) {
	s := open(t, childDir(t), Options{})
	fmt.Printf("holds\n%s", dump(t, s))
	closeStore(t, s)
}

func flip(t *testing.T, path string, rnd *rand.Rand) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// copyDir copies a store as it lies on the disk, for instance while it is in use.
func copyDir(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestTornTail opens copies of a store in use whose log ends in the middle of an entry, as after a power cut that hit an
// unacknowledged write: everything acknowledged must be there.
func TestTornTail(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	for i := range 50 {
		put(t, s, fmt.Sprintf("key/%d", i), fmt.Sprint(i))
	}
	acked := dump(t, s)
	ids, err := walIDs(dir)
	if err != nil {
		t.Fatal(err)
	}
	current := ids[0]
	whole, err := os.ReadFile(walPath(dir, current))
	if err != nil {
		t.Fatal(err)
	}
	end := len(bytes.TrimRight(whole, "\x00"))
	put(t, s, "torn", strings.Repeat("t", 300))
	longer, err := os.ReadFile(walPath(dir, current))
	if err != nil {
		t.Fatal(err)
	}
	newEnd := len(bytes.TrimRight(longer, "\x00"))
	for _, cut := range []int{end + 1, end + 5, end + 30, (end + newEnd) / 2, newEnd - 1} {
		damaged := copyDir(t, dir)
		torn := append(append([]byte{}, longer[:cut]...), make([]byte, len(longer)-cut)...)
		if err := os.WriteFile(walPath(damaged, current), torn, 0o600); err != nil {
			t.Fatal(err)
		}
		again := open(t, damaged, Options{})
		if after := dump(t, again); after != acked {
			t.Errorf("cut at %d of %d: got\n%s, want\n%s", cut, newEnd, after, acked)
		}
		put(t, again, "new", "x")
		closeStore(t, again)
	}
	closeStore(t, s)
}
