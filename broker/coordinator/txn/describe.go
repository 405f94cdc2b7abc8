package txn

import (
	"cmp"
	"slices"
	"time"

	"moldau/broker/coordinator"
)

// Describe answers with what is known of a transactional id.
func (s *Shard) Describe(t *coordinator.Turn, id string, reply *coordinator.Reply[Transaction]) {
	e := s.ids[id]
	if e == nil {
		refuse(t, reply, ErrNotFound)
		return
	}
	reply.Send(t, e.Transaction)
}

// Filter chooses transactional ids. Empty fields choose all.
type Filter struct {
	States      []State
	ProducerIDs []int64
	// LongerThan chooses transactions that began longer ago; negative chooses all.
	LongerThan time.Duration
	// Match is asked for each id; nil chooses all.
	Match func(id string) bool
}

// Listing is one transactional id of a list.
type Listing struct {
	ID         string
	ProducerID int64
	State      State
}

// List answers with the ids that a filter chooses, in their order.
func (s *Shard) List(t *coordinator.Turn, f *Filter, reply *coordinator.Reply[[]Listing]) {
	out := make([]Listing, 0, len(s.ids))
	for _, e := range s.ids {
		if f.chooses(&e.Transaction, t.Now.UnixMilli()) {
			out = append(out, Listing{ID: e.ID, ProducerID: e.ProducerID, State: e.State})
		}
	}
	slices.SortFunc(out, func(a, b Listing) int { return cmp.Compare(a.ID, b.ID) })
	reply.Send(t, out)
}

func (f *Filter) chooses(tx *Transaction, nowMs int64) bool {
	switch {
	case len(f.ProducerIDs) > 0 && !slices.Contains(f.ProducerIDs, tx.ProducerID):
		return false
	case len(f.States) > 0 && !slices.Contains(f.States, tx.State):
		return false
	case f.LongerThan >= 0 && nowMs-tx.StartMs <= f.LongerThan.Milliseconds():
		return false
	}
	return f.Match == nil || f.Match(tx.ID)
}
