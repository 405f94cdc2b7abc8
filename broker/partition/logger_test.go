package partition

import (
	"log/slog"
	"testing"
)

// testLogger shows the log of a test that failed.
func testLogger(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}
