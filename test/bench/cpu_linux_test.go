package bench

import (
	"os"
	"testing"
	"time"
)

func TestCPU(t *testing.T) {
	before, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
	}
	after, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if after <= before {
		t.Errorf("CPU time stood still at %v during a busy loop", after)
	}
}

func TestCPUOfNobody(t *testing.T) {
	if used, err := CPU(1<<22 + 1); err == nil {
		t.Errorf("process ids end at 1<<22, yet this one has used %v", used)
	}
}
