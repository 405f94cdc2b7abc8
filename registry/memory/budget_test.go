package memory

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// TestBudget takes memory from many sides at once: there is never more taken than there is, and all get their turn.
func TestBudget(t *testing.T) {
	b := NewBudget(10 * page)
	var mu sync.Mutex
	var wg sync.WaitGroup
	used, most := 0, 0
	for i := range 50 {
		wg.Go(func() {
			want := min(1+i%12, 10)
			give, err := b.Take(t.Context(), (1+i%12)*page) // sometimes more than there is
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			used += want
			most = max(most, used)
			mu.Unlock()
			mu.Lock()
			used -= want
			mu.Unlock()
			give()
		})
	}
	wg.Wait()
	if most > 10 || most < 1 || len(b.pages) != 0 {
		t.Errorf("%d pages were taken at once, %d are still", most, len(b.pages))
	}
	give, err := b.Take(t.Context(), 10*page)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := b.Take(ctx, page); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	give()
	if len(b.pages) != 0 {
		t.Errorf("%d pages are left taken", len(b.pages))
	}
}
