package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAuthorities(t *testing.T) {
	if pool, err := authorities(""); pool != nil || err != nil {
		t.Errorf("those of the system are %v, %v", pool, err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	if _, err := authorities(path); err == nil {
		t.Error("a file that is not there is no mistake")
	}
	if err := os.WriteFile(path, []byte("-----BEGIN NOTHING-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := authorities(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file without certificates: %v", err)
	}
}
