package controller

import (
	"context"
	"math/rand/v2"
	"slices"

	"moldau/broker/metadata"
)

// TopicOutcome is what became of one topic of a request.
type TopicOutcome struct {
	Result TopicResult
	Err    error
}

// CreateTopic creates a topic.
func (c *Controller) CreateTopic(ctx context.Context, spec TopicSpec) (TopicResult, error) {
	outcome := c.CreateTopics(ctx, []TopicSpec{spec})[0]
	return outcome.Result, outcome.Err
}

// CreateTopics creates topics and returns an outcome for each, in the order of the specs. Small topics share transactions,
// and it waits for the image once, which is much faster than creating each alone.
func (c *Controller) CreateTopics(ctx context.Context, specs []TopicSpec) []TopicOutcome {
	g := &growth{controller: c, specs: slices.Clone(specs), outcomes: make([]TopicOutcome, len(specs))}
	err := c.limits.checkRequest(requested(c.limits, specs))
	if err == nil {
		err = c.beginGrowth(ctx)
	}
	if err != nil {
		return g.fail(err)
	}
	defer c.endGrowth()
	if err := c.loader.WaitFor(ctx, 0); err != nil {
		return g.fail(err)
	}
	for i := range specs {
		g.add(ctx, i)
	}
	g.flush(ctx)
	if err := c.loader.WaitFor(ctx, g.rev); err != nil {
		return g.fail(err)
	}
	return g.outcomes
}

// CheckTopics says what CreateTopics would do, and does nothing.
func (c *Controller) CheckTopics(specs []TopicSpec) []TopicOutcome {
	outcomes := make([]TopicOutcome, len(specs))
	tooMany := c.limits.checkRequest(requested(c.limits, specs))
	img := c.loader.Image()
	for i, spec := range specs {
		if outcomes[i].Err = tooMany; tooMany == nil {
			_, outcomes[i].Result, outcomes[i].Err = CreateTopic(img, c.limits, nil, spec)
		}
	}
	return outcomes
}

// requested is the number of partitions that a request asks for. Nonsense counts as nothing; it is refused later.
func requested(limits Limits, specs []TopicSpec) int {
	n := 0
	for _, s := range specs {
		switch {
		case len(s.Assignments) > 0:
			n += len(s.Assignments)
		case s.Partitions == -1:
			n += int(limits.DefaultPartitions)
		case s.Partitions > 0:
			n += int(s.Partitions)
		}
	}
	return n
}

// growth is the topics that one request creates.
type growth struct {
	controller *Controller
	specs      []TopicSpec
	outcomes   []TopicOutcome
	rev        metadata.Rev // of the newest topic
	created    []grown      // that the image may not show yet, in the order of revisions

	// What the next transaction will hold: topics that need no more than one.
	shared metadata.Txn
	size   int   // bytes of shared
	in     []int // their places in specs
}

// grown is topics that came into being with one revision.
type grown struct {
	rev      metadata.Rev
	replicas [][]int32
}

// fail gives an error to every topic that has none.
func (g *growth) fail(err error) []TopicOutcome {
	for i := range g.outcomes {
		if g.outcomes[i].Err == nil {
			g.outcomes[i] = TopicOutcome{Err: err}
		}
	}
	return g.outcomes
}

// pending counts the replicas that an image of revision rev does not show, and forgets the others.
func (g *growth) pending(rev metadata.Rev) Pending {
	for len(g.created) > 0 && g.created[0].rev <= rev {
		g.created = g.created[1:]
	}
	p := Pending{}
	for _, c := range g.created {
		p.add(c.replicas)
	}
	for _, i := range g.in {
		p.add(g.outcomes[i].Result.Replicas)
	}
	return p
}

// add decides about one topic: it joins the shared transaction, or is created alone when it is large.
func (g *growth) add(ctx context.Context, i int) {
	spec := &g.specs[i]
	if spec.ID.IsZero() {
		spec.ID = metadata.NewTopicID()
	}
	spec.Seed = rand.Uint64() //nolint:gosec // spreads load, guards nothing
	img := g.controller.loader.Image()
	plan, result, err := CreateTopic(img, g.controller.limits, g.pending(img.Rev()), *spec)
	if err != nil {
		g.outcomes[i] = TopicOutcome{Err: err}
		return
	}
	if len(plan) > 1 {
		g.alone(ctx, i)
		return
	}
	if !g.fits(plan[0]) {
		g.flush(ctx)
	}
	g.shared.Cmps = append(g.shared.Cmps, plan[0].Cmps...)
	g.shared.Ops = append(g.shared.Ops, plan[0].Ops...)
	g.size += txnBytes(plan[0])
	g.in = append(g.in, i)
	g.outcomes[i].Result = result
}

// fits reports whether a transaction can be a part of the shared one: there is room, and no name appears twice.
func (g *growth) fits(txn metadata.Txn) bool {
	if len(g.shared.Ops)+len(txn.Ops) > metadata.MaxOps || len(g.shared.Cmps)+len(txn.Cmps) > metadata.MaxOps ||
		g.size+txnBytes(txn) > metadata.MaxTxnBytes {
		return false
	}
	for _, op := range g.shared.Ops {
		if op.Key == txn.Ops[0].Key { // the claim of the name comes first
			return false
		}
	}
	return true
}

func txnBytes(txn metadata.Txn) (n int) {
	for _, op := range txn.Ops {
		n += len(op.Key) + len(op.Value)
	}
	return n
}

// flush runs the shared transaction. When a compare fails the topics are created one by one, which finds out why.
func (g *growth) flush(ctx context.Context) {
	if len(g.in) == 0 {
		return
	}
	topics := g.in
	txn := g.shared
	g.shared, g.size, g.in = metadata.Txn{}, 0, nil
	result, err := g.controller.store.Txn(ctx, txn)
	switch {
	case err != nil:
		for _, i := range topics {
			g.outcomes[i] = TopicOutcome{Err: err}
		}
	case !result.Succeeded:
		for _, i := range topics {
			g.alone(ctx, i)
		}
	default:
		for _, i := range topics {
			g.note(result.Rev, g.outcomes[i].Result)
		}
	}
}

// alone creates one topic by itself.
func (g *growth) alone(ctx context.Context, i int) {
	c := g.controller
	var result TopicResult
	rev, err := c.change(ctx, func(img *metadata.Image) (plan Plan, err error) {
		plan, result, err = CreateTopic(img, c.limits, g.pending(img.Rev()), g.specs[i])
		return plan, err
	})
	if err != nil {
		c.cleanUp(ctx, g.specs[i].ID, err)
		g.outcomes[i] = TopicOutcome{Err: err}
		return
	}
	g.outcomes[i] = TopicOutcome{Result: result}
	g.note(rev, result)
}

func (g *growth) note(rev metadata.Rev, result TopicResult) {
	g.rev = rev
	g.created = append(g.created, grown{rev, result.Replicas})
}
