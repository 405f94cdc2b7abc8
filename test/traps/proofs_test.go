package traps

import (
	"os"
	"path/filepath"
	"testing"
)

// TestEveryProofIsThere does for docs/proofs.md what TestEveryTrapIsTested does for the traps.
func TestEveryProofIsThere(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "proofs.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := test.FindAllStringSubmatch(string(text), -1)
	for _, n := range named {
		if !exists(t, filepath.Join(root, n[1]), n[2], n[3]) {
			t.Errorf("%s is not there", n[0])
		}
	}
	if len(named) < 20 {
		t.Errorf("%d tests are named", len(named))
	}
}
