package embedded

import (
	"testing"

	"go.uber.org/goleak"

	"moldau/broker/metadata/metadatatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) {
	metadatatest.Run(t, func(t *testing.T) metadatatest.Store { return open(t, t.TempDir(), Options{}) })
}

// open opens a store that the test closes.
func open(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatalf("open %s: %v", dir, err)
	}
	return s
}
