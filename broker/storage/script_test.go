package storage

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// arg reads an integer argument of a script command, or returns what it is without.
func arg[T int8 | int16 | int32 | int64 | int](t *testing.T, d *datadriven.TestData, name string, without T) T {
	t.Helper()
	v := int64(without)
	d.MaybeScanArgs(t, name, &v)
	return T(v)
}

// TestEpochCache plays scripts against the leader epoch cache.
func TestEpochCache(t *testing.T) {
	var c epochCache
	datadriven.RunTest(t, "testdata/epoch_cache.txt", func(t *testing.T, d *datadriven.TestData) string {
		changed := ""
		note := func(did bool) {
			if !did {
				changed = "unchanged "
			}
		}
		switch d.Cmd {
		case "new":
			c = epochCache{}
		case "assign":
			note(c.assign(arg[int32](t, d, "epoch", 0), arg[int64](t, d, "start", 0)))
		case "truncate-end":
			note(c.truncateEnd(arg[int64](t, d, "to", 0)))
		case "truncate-start":
			note(c.truncateStart(arg[int64](t, d, "to", 0)))
		case "end-offset":
			epoch, end := c.endOffset(arg[int32](t, d, "epoch", 0), arg[int64](t, d, "log-end", 0))
			return fmt.Sprintf("epoch=%d end=%d\n", epoch, end)
		case "epoch-at":
			return fmt.Sprintln(c.epochAt(arg[int64](t, d, "offset", 0)))
		default:
			d.Fatalf(t, "unknown command")
		}
		return changed + fmt.Sprintln(c.entries)
	})
}

// TestProducerState plays scripts against the table of idempotent producers, as a log uses it: check, then apply.
func TestProducerState(t *testing.T) {
	table, next := newProducerTable(100), int64(0)
	datadriven.RunTest(t, "testdata/producer_state.txt", func(t *testing.T, d *datadriven.TestData) string {
		now := arg[int64](t, d, "now", 0)
		switch d.Cmd {
		case "new":
			table, next = newProducerTable(arg(t, d, "max", 100)), 0
			return ""
		case "append":
			n := arg[int32](t, d, "n", 1)
			b := producerAppend{
				id: arg[int64](t, d, "id", 1), epoch: arg[int16](t, d, "epoch", 0), baseSeq: arg[int32](t, d, "seq", 0),
				baseOffset: next, lastOffset: next + int64(n) - 1, timestamp: now,
			}
			b.lastSeq = int32((int64(b.baseSeq) + int64(n) - 1) % (1 << 31))
			dup, isDup, err := table.check(b)
			switch {
			case errors.Is(err, ErrOutOfOrderSequence):
				return "out of order: " + err.Error() + "\n"
			case errors.Is(err, ErrInvalidProducerEpoch):
				return "invalid epoch: " + err.Error() + "\n"
			case isDup:
				return fmt.Sprintf("duplicate of %d-%d\n", dup.baseOffset, dup.lastOffset)
			}
			table.apply(b, now)
			next += int64(n)
			return fmt.Sprintf("%d-%d\n", b.baseOffset, b.lastOffset)
		case "expire":
			return fmt.Sprintf("%d forgotten\n", table.expire(now, arg[int64](t, d, "ttl", 0)))
		case "reload":
			data := encodeSnapshot(table)
			table = newProducerTable(table.max)
			if err := decodeSnapshot(table, data, now); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%d bytes\n", len(data))
		case "state":
			var out strings.Builder
			for e := table.ring.newer; e != &table.ring; e = e.newer {
				fmt.Fprintf(&out, "id=%d epoch=%d last=%d seen=%d:", e.id, e.epoch, e.lastSequence(), e.seenMs)
				for _, b := range e.batches[:e.n] {
					fmt.Fprintf(&out, " %d-%d@%d", b.baseSeq, b.lastSeq, b.baseOffset)
				}
				fmt.Fprintln(&out)
			}
			return out.String()
		}
		d.Fatalf(t, "unknown command")
		return ""
	})
}

// TestRollAndRetain plays scripts against the decisions to roll a segment and to delete segments.
func TestRollAndRetain(t *testing.T) {
	datadriven.RunTest(t, "testdata/roll_retain.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "roll":
			reason := rollReason(rollState{
				base: arg[int64](t, d, "base", 0), size: arg[int64](t, d, "size", 100), firstMs: arg[int64](t, d, "first", -1),
				createdMs: arg[int64](t, d, "created", 0), jitterMs: arg[int64](t, d, "jitter", 0),
				offsetFull: d.HasArg("offset-index-full"), timeFull: d.HasArg("time-index-full"),
				appendBytes: arg[int64](t, d, "bytes", 10), appendLast: arg[int64](t, d, "last", 5), appendMaxMs: arg[int64](t, d, "max", -1),
				nowMs: arg[int64](t, d, "now", 0), segmentBytes: 1000, segmentMs: 500,
			})
			if reason == "" {
				reason = "no"
			}
			return reason + "\n"
		case "retain":
			s := retainState{
				start: arg[int64](t, d, "start", 0), end: arg[int64](t, d, "end", 40), limit: arg[int64](t, d, "hw", 40), nowMs: arg[int64](t, d, "now", 1000),
				retentionMs: arg[int64](t, d, "ms", -1), retentionBytes: arg[int64](t, d, "bytes", -1), deletePolicy: !d.HasArg("compact"),
			}
			for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
				var seg retainSegment
				if _, err := fmt.Sscanf(line, "base=%d size=%d largest=%d", &seg.base, &seg.size, &seg.largestMs); err != nil {
					d.Fatalf(t, "%s: %v", line, err)
				}
				s.segments = append(s.segments, seg)
			}
			n, why := retainChoice(s)
			return strings.TrimSpace(fmt.Sprintf("%d %s", n, why)) + "\n"
		}
		d.Fatalf(t, "unknown command")
		return ""
	})
}
