package producer

import "slices"

const (
	// maxNamings is how often a broker may name bad records of a batch and have the rest refused. Brokers name all, or a thousand at a time.
	maxNamings = 30
	// maxCuts is how often batches of one call alone are cut in halves because the broker did not name what it refuses. Beyond it, the records of
	// such a batch fail together: finding each would take as many requests as a call has bad records, while others wait.
	maxCuts = 200
)

// refuse fails the records for which a batch was refused, and returns what is to be sent of it.
func (b *batch) refuse(out []outcome) ([]*batch, []outcome) {
	err := b.verdict.err
	b.release()
	rest, bad := b.without(b.verdict.named, err)
	out = append(out, bad...)
	b.replace(rest)
	switch {
	case len(rest) == 0:
		return nil, out
	case b.unsure && b.id != b.queue.id: // nothing would keep what is left from being written twice
		return nil, append(out, outcome{entries: rest, err: unacknowledged(err)})
	}
	b.part, b.unsure = b.doubtful(), false
	if len(bad) > 0 && b.namings < maxNamings {
		b.namings++
		return []*batch{b}, out
	}
	if t := b.queue.topic; tooLarge(err) {
		t.maxBatchBytes = max(min(t.maxBatchBytes, b.size/2), minBatchBytes)
	}
	if len(rest) == 1 && len(bad) == 0 || !b.mayCut(err) {
		return nil, append(out, outcome{entries: rest, err: err})
	}
	return b.cut(), out
}

// without returns the records that the broker did not name, and the outcomes of the others.
func (b *batch) without(named []recordError, whole error) (rest []entry, bad []outcome) {
	if len(named) == 0 {
		return b.entries, nil
	}
	rest = slices.Clone(b.entries)
	for i := range named {
		at := int(named[i].RelativeOffset)
		if at < 0 || at >= len(rest) || rest[at].call == nil {
			continue // no record, or named twice
		}
		bad = append(bad, outcome{entries: b.entries[at : at+1 : at+1], err: errorOf(whole, named[i].ErrorMessage)})
		rest[at].call = nil
	}
	return slices.DeleteFunc(rest, func(e entry) bool { return e.call == nil }), bad
}

// mayCut tells whether a batch may be cut in halves. One that holds records of several calls may: a few cuts part those who have done
// nothing wrong from the one who has.
func (b *batch) mayCut(err error) bool {
	if tooLarge(err) {
		return true
	}
	c := b.entries[0].call
	for _, e := range b.entries {
		if e.call != c {
			return true
		}
	}
	c.cuts++
	return c.cuts <= maxCuts
}

// cut returns two batches of about the same size, or the batch itself if it is one record.
func (b *batch) cut() []*batch {
	if len(b.entries) == 1 {
		return []*batch{b}
	}
	total, sum, half := 0, 0, 0
	for _, e := range b.entries {
		total += int(e.size)
	}
	for half < len(b.entries)-1 && sum < total/2 {
		sum += int(b.entries[half].size)
		half++
	}
	second := newBatch(b.queue, b.entries[half:])
	second.part, second.err, second.namings = b.part, b.err, b.namings
	b.replace(b.entries[:half:half])
	return []*batch{b, second}
}
