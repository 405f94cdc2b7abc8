package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// implementations are all file systems, each with an empty directory to play in.
func implementations(t *testing.T) map[string]struct {
	fs  FS
	dir string
} {
	t.Helper()
	mem := NewMem()
	if err := mem.MkdirAll("/data/dir", 0o755); err != nil {
		t.Fatal(err)
	}
	return map[string]struct {
		fs  FS
		dir string
	}{
		"os":     {OS, t.TempDir()},
		"mem":    {mem, "/data/dir"},
		"faulty": {NewFaulty(OS), t.TempDir()},
	}
}

func create(t testing.TB, fsys FS, name, content string) File {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.WriteAt([]byte(content), 0); n != len(content) || err != nil {
		t.Fatal(n, err)
	}
	return f
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, fsys FS, name string) string {
	t.Helper()
	b, err := ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "absent"
	}
	must(t, err)
	return string(b)
}

// What the implementations have in common; the operating system is the reference.
func TestFileContract(t *testing.T) {
	for name, impl := range implementations(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(impl.dir, "file")
			f := create(t, impl.fs, path, "0123456789")
			if f.Name() != path {
				t.Errorf("name %q", f.Name())
			}
			buf := make([]byte, 4)
			if n, err := f.ReadAt(buf, 3); n != 4 || err != nil || string(buf) != "3456" {
				t.Errorf("read %d %q %v", n, buf, err)
			}
			if n, err := f.ReadAt(buf, 8); n != 2 || !errors.Is(err, io.EOF) {
				t.Errorf("read over the end: %d %v", n, err)
			}
			if n, err := f.ReadAt(buf, 100); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("read past the end: %d %v", n, err)
			}
			if _, err := f.ReadAt(buf, -1); err == nil {
				t.Error("read at -1 passed")
			}
			_, err := f.WriteAt([]byte("X"), 12)
			must(t, err)
			if got := content(t, impl.fs, path); got != "0123456789\x00\x00X" {
				t.Errorf("after a write past the end: %q", got)
			}
			must(t, f.Truncate(5))
			must(t, f.Truncate(7))
			if got := content(t, impl.fs, path); got != "01234\x00\x00" {
				t.Errorf("after truncating down and up: %q", got)
			}
			must(t, f.Preallocate(0, 1<<16))
			must(t, f.Sync())
			if size, err := f.Size(); size != 7 || err != nil {
				t.Errorf("size %d, %v: Preallocate must not change it", size, err)
			}
			must(t, f.Close())
			if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("closing twice: %v", err)
			}
			if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("write after close: %v", err)
			}
		})
	}
}

func TestOpenContract(t *testing.T) {
	for name, impl := range implementations(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(impl.dir, "file")
			if _, err := impl.fs.Open(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("open what is absent: %v", err)
			}
			must(t, create(t, impl.fs, path, "old").Close())
			if _, err := impl.fs.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644); !errors.Is(err, fs.ErrExist) {
				t.Errorf("exclusive: %v", err)
			}
			if _, err := impl.fs.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
				t.Error("append passed")
			}
			r, err := impl.fs.Open(path)
			must(t, err)
			if _, err := r.WriteAt([]byte("x"), 0); !errors.Is(err, syscall.EBADF) {
				t.Errorf("write to a file open for reading: %v", err)
			}
			w, err := impl.fs.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
			must(t, err)
			if _, err := w.ReadAt(make([]byte, 1), 0); !errors.Is(err, syscall.EBADF) {
				t.Errorf("read from a file open for writing: %v", err)
			}
			if got := content(t, impl.fs, path); got != "" {
				t.Errorf("after O_TRUNC: %q", got)
			}
			must(t, impl.fs.Remove(path))
			_, err = w.WriteAt([]byte("still here"), 0)
			must(t, err)
			if size, err := r.Size(); size != 10 || err != nil {
				t.Errorf("a removed file that is open: %d, %v", size, err)
			}
			must(t, r.Close())
			must(t, w.Close())
		})
	}
}

func TestDirectoryContract(t *testing.T) {
	for name, impl := range implementations(t) {
		t.Run(name, func(t *testing.T) {
			at := func(parts ...string) string { return filepath.Join(append([]string{impl.dir}, parts...)...) }
			must(t, impl.fs.MkdirAll(at("a", "b"), 0o755))
			must(t, impl.fs.MkdirAll(at("a", "b"), 0o755))
			for _, f := range []string{"2", "10", "1"} {
				must(t, create(t, impl.fs, at("a", f), f).Close())
			}
			if err := impl.fs.MkdirAll(at("a", "1", "x"), 0o755); !errors.Is(err, syscall.ENOTDIR) {
				t.Errorf("a directory in a file: %v", err)
			}
			entries, err := impl.fs.ReadDir(at("a"))
			must(t, err)
			if got := fmt.Sprint(entries); got != "[- 1 - 10 - 2 d b/]" {
				t.Errorf("entries %v", got)
			}
			info, err := impl.fs.Stat(at("a", "10"))
			must(t, err)
			if info.Name() != "10" || info.Size() != 2 || info.IsDir() {
				t.Errorf("%v", info)
			}
			if _, err := impl.fs.Stat(at("a", "3")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("stat of what is absent: %v", err)
			}
			if _, err := impl.fs.ReadDir(at("a", "1")); err == nil {
				t.Error("listing a file passed")
			}
			must(t, impl.fs.Rename(at("a", "1"), at("a", "2")))
			if got := content(t, impl.fs, at("a", "1")) + content(t, impl.fs, at("a", "2")); got != "absent1" {
				t.Errorf("after rename: %q", got)
			}
			if err := impl.fs.Rename(at("a", "7"), at("a", "8")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("rename of what is absent: %v", err)
			}
			if err := impl.fs.Rename(at("a"), at("a", "b", "c")); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("rename into itself: %v", err)
			}
			if err := impl.fs.Remove(at("a")); !errors.Is(err, syscall.ENOTEMPTY) {
				t.Errorf("remove of a full directory: %v", err)
			}
			must(t, impl.fs.Rename(at("a"), at("c")))
			must(t, impl.fs.SyncDir(impl.dir))
			if got := content(t, impl.fs, at("c", "10")); got != "10" {
				t.Errorf("in the moved directory: %q", got)
			}
			must(t, impl.fs.RemoveAll(at("c")))
			must(t, impl.fs.RemoveAll(at("c")))
			if err := impl.fs.Remove(at("c")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("remove of what is absent: %v", err)
			}
			if err := impl.fs.SyncDir(at("c")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("sync of what is absent: %v", err)
			}
		})
	}
}

func TestLockContract(t *testing.T) {
	for name, impl := range implementations(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(impl.dir, ".lock")
			lock, err := impl.fs.Lock(path)
			must(t, err)
			if _, err := impl.fs.Lock(path); !errors.Is(err, ErrLocked) {
				t.Errorf("locked twice: %v", err)
			}
			must(t, lock.Close())
			if err := lock.Close(); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("unlocked twice: %v", err)
			}
			lock, err = impl.fs.Lock(path)
			must(t, err)
			must(t, lock.Close())
		})
	}
}

// syncVolume makes a whole file system durable.
func syncVolume(fsys FS, name string) error {
	v, err := fsys.OpenVolume(name)
	if err != nil {
		return err
	}
	return errors.Join(v.Sync(), v.Close())
}

func TestWholeFileSystemContract(t *testing.T) {
	for name, impl := range implementations(t) {
		t.Run(name, func(t *testing.T) {
			if err := syncVolume(impl.fs, impl.dir); err != nil && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("sync: %v", err)
			}
			if err := syncVolume(impl.fs, filepath.Join(impl.dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("sync of what is absent: %v", err)
			}
			u, err := impl.fs.Usage(impl.dir)
			if errors.Is(err, errors.ErrUnsupported) {
				return
			}
			if err != nil || u.Total <= 0 || u.Usable <= 0 || u.Usable > u.Total {
				t.Errorf("usage %+v, %v", u, err)
			}
		})
	}
}

func TestOnlyRealFilesHaveADescriptor(t *testing.T) {
	want := map[string]bool{"os": true, "mem": false, "faulty": false}
	for name, impl := range implementations(t) {
		f := create(t, impl.fs, filepath.Join(impl.dir, "f"), "x")
		if _, ok := f.Fd(); ok != want[name] {
			t.Errorf("%s: %v", name, ok)
		}
		must(t, f.Close())
	}
}

func TestMemFSSpellings(t *testing.T) {
	m := NewMem()
	must(t, create(t, m, "a", "x").Close())
	for _, name := range []string{"/a", "./a", "b/../a", "//a"} {
		if got := content(t, m, name); got != "x" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestMemFSConcurrentUse(t *testing.T) {
	m := NewMem()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := fmt.Sprintf("/f%d", i%3)
			for range 50 {
				f := create(t, m, name, "some bytes")
				_ = f.Sync()
				_, _ = f.ReadAt(make([]byte, 5), 0)
				_ = f.Close()
				_ = m.SyncDir("/")
				_ = m.Rename(name, name+"x")
				_ = m.CrashClone(uint64(i))
				_, _ = m.ReadDir("/")
			}
		})
	}
	wg.Wait()
}

func TestWriteFileAtomic(t *testing.T) {
	for name, impl := range implementations(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(impl.dir, "checkpoint")
			for _, text := range []string{"a longer first version", "second"} {
				must(t, WriteFileAtomic(impl.fs, path, []byte(text)))
				if got := content(t, impl.fs, path); got != text {
					t.Errorf("%q, want %q", got, text)
				}
			}
			if got := content(t, impl.fs, path+".tmp"); got != "absent" {
				t.Errorf("left behind: %q", got)
			}
			if err := WriteFileAtomic(impl.fs, filepath.Join(impl.dir, "no", "dir"), nil); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("without a directory: %v", err)
			}
		})
	}
}

func TestReadFileOfEmptyFile(t *testing.T) {
	m := NewMem()
	must(t, create(t, m, "/empty", "").Close())
	if b, err := ReadFile(m, "/empty"); b == nil || len(b) != 0 || err != nil {
		t.Errorf("%v, %v", b, err)
	}
}
