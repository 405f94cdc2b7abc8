package broker

import (
	"context"
	"errors"
	"sync"
	"testing"
)

func TestProducerIDsAreNeverGivenTwice(t *testing.T) {
	n := startNode(t)
	ask := func() (ProducerIdentity, error) {
		return n.InitProducerID(t.Context(), testCaller, InitProducerIDRequest{ProducerID: 5, ProducerEpoch: 3})
	}
	seen := map[int64]bool{}
	var mu sync.Mutex
	for range 3 {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 300 {
					id, err := ask()
					mu.Lock()
					if err != nil || id.Epoch != 0 || id.ID < 0 || seen[id.ID] {
						t.Errorf("got %+v, %v, given before: %v", id, err, seen[id.ID])
					}
					seen[id.ID] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		n.restart(nil)
	}
	if len(seen) != 3600 {
		t.Fatalf("%d ids", len(seen))
	}
}

func TestInitProducerIDRefusals(t *testing.T) {
	n := startNode(t)
	empty, mine := "", "mine"
	if _, err := n.InitProducerID(t.Context(), testCaller, InitProducerIDRequest{TransactionalID: &empty}); !errors.Is(err, ErrInvalidRequest) {
		t.Errorf("an empty transactional id: %v", err)
	}
	if _, err := n.InitProducerID(t.Context(), testCaller, InitProducerIDRequest{TransactionalID: &mine}); !errors.Is(err, ErrNotCoordinator) {
		t.Errorf("a transactional id that nobody coordinates yet: %v", err)
	}
	n.producerIDs.turn <- struct{}{} // somebody is taking a block
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.InitProducerID(ctx, testCaller, InitProducerIDRequest{}); !errors.Is(err, ErrTimedOut) {
		t.Errorf("after its caller had gone: %v", err)
	}
	<-n.producerIDs.turn
}
