package embedded

import (
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"moldau/broker/metadata/metadatatest"
)

// childEnv names a directory for a test that runs as the child of another; see child.
const childEnv = "MOLDAU_TEST_STORE_DIR"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(m.Run()) // a child may end with Badger's goroutines running: some are killed, some fail to open
	}
	goleak.VerifyTestMain(m)
}

// child returns a command that runs one test of this binary alone, in a process of its own.
func child(test, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	return cmd
}

// childDir is the directory of a child; a test that is not run as one is skipped.
func childDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(childEnv)
	if dir == "" {
		t.Skip("runs as the child of another test only")
	}
	return dir
}

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
