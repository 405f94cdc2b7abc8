// Package memory bounds what large requests and answers of the registry take of it together.
package memory

import "context"

// Budget is memory that is taken and given back. What takes of it once must not take again before it has given back, or two could wait
// for each other. It is safe for concurrent use.
type Budget struct {
	turn  chan struct{} // held by the one that takes: the others wait behind it, so that a large one is not passed for ever
	pages chan struct{} // one for each page that is taken
}

// page is the unit in which memory is taken.
const page = 1 << 20

// NewBudget returns a budget of so many bytes, of which nothing is taken.
func NewBudget(bytes int) *Budget {
	return &Budget{make(chan struct{}, 1), make(chan struct{}, max(bytes/page, 1))}
}

// Take waits until there is room for a number of bytes, or for as many as there are. Call give when they are free again. The error is
// that of the context.
func (b *Budget) Take(ctx context.Context, bytes int) (give func(), err error) {
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	n := 0
	give = func() {
		for ; n > 0; n-- {
			<-b.pages
		}
	}
	for want := min((bytes+page-1)/page, cap(b.pages)); n < want; n++ {
		select {
		case b.pages <- struct{}{}:
		case <-ctx.Done():
			give()
			return nil, ctx.Err()
		}
	}
	return give, nil
}
