package http

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that were left. A server that refuses a request before its end waits half a second before it
// closes the connection, so that the client can read the answer; that goroutine ends by itself.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}
