package kafka

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var write = flag.Bool("write", false, "write generated documents instead of comparing them")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
