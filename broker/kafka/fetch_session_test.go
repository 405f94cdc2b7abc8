package kafka

import (
	"errors"
	"testing"
	"time"

	"moldau/broker"
)

func sessionOf(follower bool, partitions int) *fetchSession {
	s := newFetchSession(false, partitions)
	s.follower = follower
	for i := range partitions {
		s.set(fetchPartitionKey{topic: "t", partition: int32(i)}, broker.FetchPartition{})
	}
	return s
}

func TestSessionEviction(t *testing.T) {
	const old = evictionAge + time.Second
	for _, tc := range []struct {
		name     string
		there    *fetchSession
		age      time.Duration // since the session was made
		unused   time.Duration // since it was used last
		newcomer *fetchSession
		want     bool
	}{
		{"a young one is safe", sessionOf(false, 1), time.Second, time.Second, sessionOf(false, 100), false},
		{"an old one yields to a larger one", sessionOf(false, 1), old, time.Second, sessionOf(false, 100), true},
		{"an old one yields to one as large", sessionOf(false, 5), old, time.Second, sessionOf(false, 5), true},
		{"an old one does not yield to a smaller one", sessionOf(false, 100), old, time.Second, sessionOf(false, 1), false},
		{"an unused one yields to anybody", sessionOf(true, 100), old, old, sessionOf(false, 1), true},
		{"a consumer yields to a follower at any age", sessionOf(false, 100), time.Second, 0, sessionOf(true, 1), true},
		{"a follower does not yield to a consumer", sessionOf(true, 1), old, time.Second, sessionOf(false, 100), false},
		{"a young follower is safe from followers", sessionOf(true, 1), time.Second, 0, sessionOf(true, 100), false},
		{"an old follower yields to a larger one", sessionOf(true, 1), old, time.Second, sessionOf(true, 100), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const now = 10 * time.Hour
			c := newSessionCache(1)
			if !c.create(tc.there, now-tc.age) {
				t.Fatal("the first one finds no slot")
			}
			c.touch(tc.there, tc.there.size, now-tc.unused)
			if got := c.create(tc.newcomer, now); got != tc.want {
				t.Fatalf("a slot: %v, want %v", got, tc.want)
			}
			_, there := c.get(tc.there.id)
			sessions, partitions := c.count()
			left := tc.there
			if tc.want {
				left = tc.newcomer
			}
			if there == tc.want || sessions != 1 || partitions != left.order.Len() {
				t.Errorf("%d sessions with %d partitions, the first is there: %v", sessions, partitions, there)
			}
		})
	}
}

func TestSessionsAreBounded(t *testing.T) {
	c := newSessionCache(1000)
	made := 0
	for range 100 {
		if c.create(sessionOf(false, maxSessionPartitions), 0) {
			made++
		}
	}
	if made != maxCachedPartitions/maxSessionPartitions {
		t.Errorf("%d sessions of %d partitions were made", made, maxSessionPartitions)
	}
	if none := newSessionCache(0); none.create(sessionOf(false, 1), 0) {
		t.Error("a cache without slots made a session")
	}
}

func TestSessionCarriesNewsOnly(t *testing.T) {
	s := sessionOf(false, 3)
	key := fetchPartitionKey{topic: "t", partition: 1}
	quiet := broker.FetchedPartition{HighWatermark: 10, LogStartOffset: 2, PreferredReadReplica: -1, Diverging: broker.EpochEnd{Epoch: -1}}
	step := func(name string, got broker.FetchedPartition, want bool) {
		t.Helper()
		if carry := s.update(key, &got); carry != want {
			t.Errorf("%s: carried %v, want %v", name, carry, want)
		}
	}
	step("the first answer", quiet, true)
	step("the same again", quiet, false)
	grown := quiet
	grown.HighWatermark = 11
	step("a higher high watermark", grown, true)
	step("the same again", grown, false)
	trimmed := grown
	trimmed.LogStartOffset = 5
	step("a higher log start", trimmed, true)
	failed := trimmed
	failed.Err = errors.New("of any kind")
	step("an error", failed, true)
	step("the error again", failed, true)
	step("the recovery", trimmed, true)
	step("the same again", trimmed, false)
	preferred := trimmed
	preferred.PreferredReadReplica = 3
	step("a preferred replica", preferred, true)
	diverged := trimmed
	diverged.Diverging.Epoch = 0
	step("a divergence", diverged, true)
}

func TestSessionEpochsSkipTheSpecialOnes(t *testing.T) {
	for epoch, want := range map[int32]int32{initialEpoch: 1, 1: 2, 1<<31 - 2: 1<<31 - 1, 1<<31 - 1: 1} {
		if got := nextEpoch(epoch); got != want {
			t.Errorf("after %d comes %d, want %d", epoch, got, want)
		}
	}
}
