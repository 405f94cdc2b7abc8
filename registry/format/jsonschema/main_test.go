package jsonschema

import (
	"testing"

	"go.uber.org/goleak"
)

// The backtracking engine's clock ends by itself a second after the last pattern that needed it.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock"))
}
