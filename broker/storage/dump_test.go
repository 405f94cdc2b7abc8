package storage

import (
	"testing"

	"moldau/internal/vfs"
)

func dumpFS(t *testing.T, fsys vfs.FS, dir string) {
	entries, _ := fsys.ReadDir(dir)
	for _, e := range entries {
		name := dir + "/" + e.Name()
		if e.IsDir() {
			t.Log(name + "/")
			dumpFS(t, fsys, name)
			continue
		}
		data, _ := vfs.ReadFile(fsys, name)
		if len(data) > 150 {
			t.Logf("%s %d bytes", name, len(data))
		} else {
			t.Logf("%s %q", name, data)
		}
	}
}
