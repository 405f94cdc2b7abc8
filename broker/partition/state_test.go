package partition

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestState runs the scripts of testdata/state. Commands: new, assign, append, flush, fetch, start, minisr, flush-every, epoch, settle;
// each prints the state after it.
func TestState(t *testing.T) {
	datadriven.Walk(t, "testdata/state", func(t *testing.T, path string) {
		var s state
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return runState(t, &s, d)
		})
	})
}

func runState(t *testing.T, s *state, d *datadriven.TestData) string {
	num := func(name string, otherwise int64) int64 {
		v := otherwise
		d.MaybeScanArgs(t, name, &v)
		return v
	}
	ids := func(name string) (out []int32) {
		var text string
		d.MaybeScanArgs(t, name, &text)
		for part := range strings.SplitSeq(text, "+") {
			var id int32
			if _, err := fmt.Sscan(part, &id); err == nil {
				out = append(out, id)
			}
		}
		return out
	}
	note := ""
	moved := func(ok bool) {
		if ok {
			note = "moved "
		}
	}
	switch d.Cmd {
	case "new":
		end := num("end", 0)
		*s = newState(int32(num("self", 1)), d.HasArg("strict"), num("start", 0), end, num("flushed", end), num("hw", 0))
	case "assign":
		began, ceased := s.assign(assignment{
			leader: int32(num("leader", -1)), epoch: int32(num("epoch", 0)), partitionEpoch: int32(num("partition-epoch", 0)),
			replicas: ids("replicas"), isr: ids("isr"),
		})
		if began {
			note += "began "
		}
		if ceased {
			note += "ceased "
		}
	case "append":
		moved(s.appended(num("to", 0)))
	case "flush":
		moved(s.flushedTo(num("to", 0)))
	case "fetch":
		moved(s.fetched(int32(num("id", 0)), num("to", 0), num("flushed", 0)))
	case "start":
		moved(s.startAt(num("at", 0)))
	case "minisr":
		moved(s.setMinISR(int(num("n", 1))))
	case "flush-every":
		moved(s.setFlushEvery(num("n", 1)))
	case "settle":
		s.settle(num("unstable", math.MaxInt64))
		return fmt.Sprintf("hw=%d stable=%d\n", s.hw, s.lastStable())
	case "epoch":
		return fmt.Sprintln(s.checkEpoch(int32(num("caller", -1))))
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
	role := "follows"
	if s.leads() {
		role = "leads"
	}
	return fmt.Sprintf("%s%s epoch=%d start=%d hw=%d flushed=%d end=%d isr=%v under-min-isr=%v\n",
		note, role, s.epoch, s.logStart, s.hw, s.flushed, s.logEnd, s.isr, s.underMinISR())
}
