package embedded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestWALClose: the file for the next memtable goes if Badger has not begun to use it; a disk that does not answer is told.
func TestWALClose(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int // in the file; -1 for no file
		kept  bool
	}{
		{"never used", 0, false},
		{"in use", 1, true},
		{"flushed and deleted", -1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &wal{next: walPath(t.TempDir(), 2)}
			if c.bytes >= 0 {
				if err := os.WriteFile(w.next, make([]byte, c.bytes), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(w.next); errors.Is(err, fs.ErrNotExist) == c.kept {
				t.Errorf("kept should be %v: %v", c.kept, err)
			}
		})
	}
	t.Run("unreadable", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := (&wal{next: walPath(file, 2)}).close(); err == nil {
			t.Error("no error where the folder is a file")
		}
	})
}
