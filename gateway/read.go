package gateway

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// DefaultReadLimit is the number of records that a read brings when it names none.
	DefaultReadLimit = 100
	// MaxReadLimit is the number of records that one answer holds at most.
	MaxReadLimit = 10_000
)

// Read reads once: at most limit records, waiting for a first one if there is none. It returns the cursor to go on.
func (g *Gateway) Read(ctx context.Context, principal string, q ReadRequest, limit int, wait time.Duration) ([]*kgo.Record, string, error) {
	limit, err := g.CheckLimit(limit)
	if err != nil {
		return nil, "", err
	}
	if err := g.CheckWait(wait); err != nil {
		return nil, "", err
	}
	r, err := g.Open(ctx, principal, q)
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	records, err := r.Next(ctx, limit, wait)
	if err != nil {
		return nil, "", err
	}
	return records, r.Cursor(), nil
}

// CheckLimit returns the limit to use for one that was asked for; 0 asks for the default.
func (g *Gateway) CheckLimit(limit int) (int, error) {
	switch {
	case limit == 0:
		return DefaultReadLimit, nil
	case limit < 0 || limit > MaxReadLimit:
		return 0, invalid("limit", "must be from 1 to %d", MaxReadLimit)
	}
	return limit, nil
}

// CheckWait refuses a wait that is too long.
func (g *Gateway) CheckWait(wait time.Duration) error {
	if wait < 0 || wait > g.cfg.MaxWait {
		return invalid("wait", "must be from 0 to %v", g.cfg.MaxWait)
	}
	return nil
}
