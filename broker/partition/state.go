package partition

import (
	"math"
	"slices"

	"moldau/internal/invariant"
)

// state is what a replica knows about its partition. It is pure: no locks, no I/O, no clock; scripts in testdata/state
// drive it. The owner holds a lock around it.
//
// The high watermark is the first offset that is not committed. It is the least end among the in-sync replicas: the
// least flushed end under strict durability, the least log end under relaxed, where this replica's own stays at its flushed
// end while flush.messages records await a flush. It never moves back while this replica
// leads. It stays where it is while fewer replicas are in sync than the topic asks (KIP-966).
type state struct {
	self   int32
	strict bool

	leader         int32 // -1: none
	epoch          int32 // leader epoch; -1 before the first assignment
	partitionEpoch int32
	epochStart     int64 // log end when this replica began to lead in epoch
	replicas       []int32
	isr            []int32
	minISR         int
	flushEvery     int64 // flush.messages: with so many records not flushed, relaxed durability waits for the flush too

	logStart, logEnd, flushed int64
	hw                        int64
	// stable is the last stable offset, as of the last settle.
	stable int64

	followers []follower // the other replicas; filled while leading
}

// follower is what the leader knows about another replica.
type follower struct {
	id           int32
	end, flushed int64 // -1: not heard of since this epoch began
}

// assignment is the part of a partition's metadata that a replica acts upon.
type assignment struct {
	leader, epoch, partitionEpoch int32
	replicas, isr                 []int32
}

// newState begins with a log as it was found or made. hw is where the high watermark was last known to be.
func newState(self int32, strict bool, logStart, logEnd, flushed, hw int64) state {
	return state{
		self: self, strict: strict, leader: -1, epoch: -1, partitionEpoch: -1, epochStart: -1, minISR: 1, flushEvery: math.MaxInt64,
		logStart: logStart, logEnd: logEnd, flushed: flushed, hw: max(logStart, min(hw, logEnd)),
	}
}

// leads tells whether this replica leads the partition.
func (s *state) leads() bool { return s.leader == s.self }

// assign takes over what the metadata says. Stale assignments change nothing. It returns whether this replica began
// to lead in a new epoch, and whether it ceased to lead.
func (s *state) assign(a assignment) (began, ceased bool) {
	if a.epoch < s.epoch || a.epoch == s.epoch && a.partitionEpoch < s.partitionEpoch {
		return false, false
	}
	was, newEpoch := s.leads(), a.epoch > s.epoch
	s.leader, s.epoch, s.partitionEpoch = a.leader, a.epoch, a.partitionEpoch
	s.replicas, s.isr = a.replicas, a.isr
	switch {
	case !s.leads():
		s.followers = nil
		return false, was
	case newEpoch || !was:
		s.epochStart = s.logEnd
		s.followers = s.followers[:0]
		began = true
	}
	s.keepFollowers()
	s.advance()
	return began, false
}

// keepFollowers makes followers hold exactly the other replicas.
func (s *state) keepFollowers() {
	s.followers = slices.DeleteFunc(s.followers, func(f follower) bool { return !slices.Contains(s.replicas, f.id) })
	for _, id := range s.replicas {
		known := slices.ContainsFunc(s.followers, func(f follower) bool { return f.id == id })
		if id != s.self && !known {
			s.followers = append(s.followers, follower{id: id, end: -1, flushed: -1})
		}
	}
}

// appended notes a new log end, and returns whether the high watermark moved.
func (s *state) appended(end int64) bool {
	s.logEnd = max(s.logEnd, end)
	return s.advance()
}

// flushedTo notes up to where the log is on disk, and returns whether the high watermark moved. The flusher may be
// ahead of appended: the log end moves along.
func (s *state) flushedTo(end int64) bool {
	s.flushed = max(s.flushed, end)
	s.logEnd = max(s.logEnd, end)
	return s.advance()
}

// fetched notes how far a follower has come, and returns whether the high watermark moved.
func (s *state) fetched(id int32, end, flushed int64) bool {
	for i := range s.followers {
		if f := &s.followers[i]; f.id == id {
			f.end, f.flushed = max(f.end, end), max(f.flushed, flushed)
			return s.advance()
		}
	}
	return false
}

// startAt notes a new first offset. Records below it count as committed.
func (s *state) startAt(start int64) bool {
	s.logStart = max(s.logStart, start)
	if s.hw < s.logStart {
		s.hw = s.logStart
		return true
	}
	return false
}

// setMinISR notes the topic's min.insync.replicas, and returns whether the high watermark moved.
func (s *state) setMinISR(n int) bool {
	s.minISR = n
	return s.advance()
}

// setFlushEvery notes the topic's flush.messages, and returns whether the high watermark moved.
func (s *state) setFlushEvery(n int64) bool {
	s.flushEvery = n
	return s.advance()
}

// safeEnd is up to where this replica's records may count as committed.
func (s *state) safeEnd() int64 {
	if s.strict || s.logEnd-s.flushed >= s.flushEvery {
		return s.flushed
	}
	return s.logEnd
}

// underMinISR tells whether fewer replicas are in sync than min.insync.replicas asks. More replicas than there are is
// never asked.
func (s *state) underMinISR() bool { return len(s.isr) < min(s.minISR, len(s.replicas)) }

// atMinISR tells whether no replica may leave without the partition falling under min.insync.replicas.
func (s *state) atMinISR() bool { return len(s.isr) == min(s.minISR, len(s.replicas)) }

// advance moves the high watermark as far as the in-sync replicas allow.
func (s *state) advance() bool {
	invariant.Check(s.logStart <= s.hw, "log start %d > high watermark %d", s.logStart, s.hw)
	invariant.Check(s.flushed <= s.logEnd, "flushed end %d > log end %d", s.flushed, s.logEnd)
	if !s.leads() || s.underMinISR() {
		return false
	}
	low := s.safeEnd()
	for i := range s.followers {
		f := &s.followers[i]
		if !slices.Contains(s.isr, f.id) {
			continue
		}
		end := f.end
		if s.strict {
			end = f.flushed
		}
		low = min(low, end)
	}
	if low <= s.hw {
		return false
	}
	s.hw = low
	invariant.Check(s.hw <= s.logEnd, "high watermark %d > log end %d", s.hw, s.logEnd)
	return true
}

// settle notes the first offset of the transactions whose outcome is open, or not committed, while the high watermark is where it is.
// It is called after the high watermark has moved: nothing else moves the last stable offset, because transactions begin, and markers
// are written, at or above the high watermark.
func (s *state) settle(firstUnstable int64) {
	stable := min(s.hw, firstUnstable)
	invariant.Check(stable >= s.stable || !s.leads(), "last stable offset %d falls to %d", s.stable, stable)
	s.stable = stable
}

// lastStable is the first offset that a reader of committed transactions doesn't get.
func (s *state) lastStable() int64 { return max(s.stable, s.logStart) }

// checkEpoch compares the leader epoch that a caller knows; -1 says that the caller knows none.
func (s *state) checkEpoch(caller int32) error {
	switch {
	case caller == -1 || caller == s.epoch:
		return nil
	case caller < s.epoch:
		return ErrFencedLeaderEpoch
	default:
		return ErrUnknownLeaderEpoch
	}
}
