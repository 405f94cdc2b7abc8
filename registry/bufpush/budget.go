package bufpush

import "context"

// budget bounds how much memory large requests and answers take together. What takes of it once must not take again before it has
// given back, or two could wait for each other.
type budget struct {
	turn  chan struct{} // held by the one that takes: the others wait behind it, so that a large one is not passed for ever
	pages chan struct{} // one for each page that is taken
}

// budgetPage is the unit in which memory is taken.
const budgetPage = 1 << 20

func newBudget(bytes int) *budget {
	return &budget{make(chan struct{}, 1), make(chan struct{}, max(bytes/budgetPage, 1))}
}

// take waits until there is room for a number of bytes, or for as many as there are. Call give when they are free again.
func (b *budget) take(ctx context.Context, bytes int) (give func(), err error) {
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
	for want := min((bytes+budgetPage-1)/budgetPage, cap(b.pages)); n < want; n++ {
		select {
		case b.pages <- struct{}{}:
		case <-ctx.Done():
			give()
			return nil, ctx.Err()
		}
	}
	return give, nil
}
