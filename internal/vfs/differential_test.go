package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestMemFSBehavesLikeTheOS makes the same random calls on both and compares what they answer and what is left.
func TestMemFSBehavesLikeTheOS(t *testing.T) {
	for seed := range uint64(50) {
		mem, dir := NewMem(), t.TempDir()
		dice := rand.New(rand.NewPCG(seed, 3))
		var history []string
		for range 60 {
			name, call := randomCall(dice)
			history = append(history, name)
			got, want := call(mem, "/"), call(OS, dir)
			if got != want {
				t.Fatalf("seed %d: MemFS answers %s, the system %s, after\n%s", seed, got, want, strings.Join(history, "\n"))
			}
		}
		if got, want := tree(t, mem, "/", ""), tree(t, OS, dir, ""); !slices.Equal(got, want) {
			t.Fatalf("seed %d: MemFS holds %v, the system %v, after\n%s", seed, got, want, strings.Join(history, "\n"))
		}
		must(t, syncVolume(mem, "/"))
		if got, want := tree(t, mem.CrashClone(seed), "/", ""), tree(t, mem, "/", ""); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v was synced, %v survives", seed, want, got)
		}
	}
}

// randomCall draws a call on a few names, and how to make it beneath a root.
func randomCall(dice *rand.Rand) (string, func(fsys FS, root string) string) {
	names := []string{"a", "b", "a/a", "a/b", "b/a", "a/b/c"}
	x, y := names[dice.IntN(len(names))], names[dice.IntN(len(names))]
	off, n, size := dice.Int64N(2000), dice.IntN(1500), dice.Int64N(2500)
	at := func(root, name string) string { return filepath.Join(root, name) }
	switch dice.IntN(8) {
	case 0:
		return "mkdir " + x, func(fsys FS, root string) string { return kind(fsys.MkdirAll(at(root, x), 0o755)) }
	case 1:
		return "remove " + x, func(fsys FS, root string) string { return kind(fsys.Remove(at(root, x))) }
	case 2:
		return "removeall " + x, func(fsys FS, root string) string { return kind(fsys.RemoveAll(at(root, x))) }
	case 3, 4:
		return "rename " + x + " " + y, func(fsys FS, root string) string { return kind(fsys.Rename(at(root, x), at(root, y))) }
	case 5:
		return fmt.Sprintf("truncate %s %d", x, size), func(fsys FS, root string) string {
			return kind(withFile(fsys, at(root, x), os.O_RDWR, func(f File) error { return f.Truncate(size) }))
		}
	case 6:
		return fmt.Sprintf("write %s %d+%d", x, off, n), func(fsys FS, root string) string {
			return kind(withFile(fsys, at(root, x), os.O_RDWR|os.O_CREATE, func(f File) error {
				_, err := f.WriteAt(slices.Repeat([]byte(y[:1]), n), off)
				return err
			}))
		}
	}
	return "create " + x, func(fsys FS, root string) string {
		return kind(withFile(fsys, at(root, x), os.O_RDWR|os.O_CREATE|os.O_TRUNC, func(f File) error { return f.Sync() }))
	}
}

func withFile(fsys FS, name string, flag int, use func(File) error) error {
	f, err := fsys.OpenFile(name, flag, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(use(f), f.Close())
}

// kind is the part of an error that callers act upon.
func kind(err error) string {
	kinds := []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.EISDIR, syscall.ENOTEMPTY, syscall.EINVAL, fs.ErrExist}
	for _, k := range kinds {
		if errors.Is(err, k) {
			return k.Error()
		}
	}
	return fmt.Sprint(err)
}

// tree lists all that is beneath a directory.
func tree(t *testing.T, fsys FS, root, prefix string) []string {
	t.Helper()
	entries, err := fsys.ReadDir(root)
	must(t, err)
	var out []string
	for _, e := range entries {
		path := filepath.Join(root, e.Name())
		if e.IsDir() {
			out = append(out, prefix+e.Name()+"/")
			out = append(out, tree(t, fsys, path, prefix+e.Name()+"/")...)
			continue
		}
		out = append(out, prefix+e.Name()+"="+content(t, fsys, path))
	}
	return out
}
