package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"moldau/broker/metadata"
)

// Options are what a Controller works with.
type Options struct {
	Store  metadata.Store
	Loader *metadata.Loader // follows Store; must be running when the methods are called
	Limits Limits
	Logger *slog.Logger // nil discards
}

// Controller carries out decisions. All methods may be called concurrently, and return once the image of the loader shows
// what they did and its subscribers have taken it in. A refused request is a *Refusal; other errors come from the store.
// After metadata.ErrUnknownOutcome the caller must look into the image of a later moment.
type Controller struct {
	store  metadata.Store
	loader *metadata.Loader
	limits Limits
	logger *slog.Logger
	// growing is held, as a semaphore of one, from the decision about new replicas until the image shows them, so that
	// limits are counted exactly.
	growing chan struct{}
}

// New returns a controller.
func New(o Options) *Controller {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Controller{
		store: o.Store, loader: o.Loader, limits: o.Limits, logger: o.Logger,
		growing: make(chan struct{}, 1),
	}
}

// attemptsMax bounds how often a decision is made anew because somebody else was faster. Every failed attempt means that
// another writer got on.
const attemptsMax = 256

// change decides and writes until the transactions hold, and returns the revision of the last one.
func (c *Controller) change(ctx context.Context, decide func(*metadata.Image) (Plan, error)) (metadata.Rev, error) {
	if err := c.loader.WaitFor(ctx, 0); err != nil {
		return 0, err
	}
	for range attemptsMax {
		img := c.loader.Image()
		plan, err := decide(img)
		if err != nil {
			return 0, err
		}
		rev, done, err := c.run(ctx, img.Rev(), plan)
		if done || err != nil {
			return rev, err
		}
		if err := c.loader.WaitFor(ctx, rev); err != nil {
			return 0, err
		}
	}
	return 0, ErrContention
}

// run runs the transactions of a plan in order. Done is false when a compare failed; then an image of revision rev shows
// why.
func (c *Controller) run(ctx context.Context, rev metadata.Rev, plan Plan) (_ metadata.Rev, done bool, err error) {
	var first metadata.Rev
	for i := range plan {
		result, err := c.store.Txn(ctx, plan.step(i, first))
		if err != nil {
			return 0, false, err
		}
		rev = result.Rev
		if i == 0 {
			first = rev
		}
		if !result.Succeeded {
			return rev, false, nil
		}
	}
	return rev, true, nil
}

// changeAndWait is change, and returns once the image shows the result.
func (c *Controller) changeAndWait(ctx context.Context, decide func(*metadata.Image) (Plan, error)) error {
	rev, err := c.change(ctx, decide)
	if err != nil {
		return err
	}
	return c.loader.WaitFor(ctx, rev)
}

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

// CreateTopics creates topics and returns an outcome for each, in the order of the specs. It writes them one after another
// and waits for the image once, which is much faster than creating each alone.
func (c *Controller) CreateTopics(ctx context.Context, specs []TopicSpec) []TopicOutcome {
	outcomes := make([]TopicOutcome, len(specs))
	fail := func(err error) []TopicOutcome {
		for i := range outcomes {
			if outcomes[i].Err == nil {
				outcomes[i] = TopicOutcome{Err: err}
			}
		}
		return outcomes
	}
	if err := c.limits.checkRequest(requested(c.limits, specs)); err != nil {
		return fail(err)
	}
	if err := c.beginGrowth(ctx); err != nil {
		return fail(err)
	}
	defer c.endGrowth()
	var growth growth
	for i, spec := range specs {
		outcomes[i].Result, outcomes[i].Err = c.createTopic(ctx, &growth, spec)
	}
	if err := c.loader.WaitFor(ctx, growth.rev); err != nil {
		return fail(err)
	}
	return outcomes
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

// growth is what one request has created so far.
type growth struct {
	rev     metadata.Rev // of the last topic
	created []grown      // that the image may not show yet, in the order of revisions
}

type grown struct {
	rev      metadata.Rev
	replicas [][]int32
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
	return p
}

// createTopic creates one topic of a request.
func (c *Controller) createTopic(ctx context.Context, g *growth, spec TopicSpec) (TopicResult, error) {
	if spec.ID.IsZero() {
		spec.ID = metadata.NewTopicID()
	}
	spec.Seed = rand.Uint64() //nolint:gosec // spreads load, guards nothing
	var result TopicResult
	rev, err := c.change(ctx, func(img *metadata.Image) (plan Plan, err error) {
		plan, result, err = CreateTopic(img, c.limits, g.pending(img.Rev()), spec)
		return plan, err
	})
	if err != nil {
		c.cleanUp(ctx, spec.ID, err)
		return TopicResult{}, err
	}
	g.rev = rev
	g.created = append(g.created, grown{rev, result.Replicas})
	return result, nil
}

// DeleteTopic deletes a topic and returns it as it was.
func (c *Controller) DeleteTopic(ctx context.Context, ref TopicRef) (*metadata.Topic, error) {
	var deleted *metadata.Topic
	err := c.changeAndWait(ctx, func(img *metadata.Image) (plan Plan, err error) {
		plan, deleted, err = DeleteTopic(img, ref)
		return plan, err
	})
	if err != nil {
		if deleted != nil {
			c.cleanUp(ctx, deleted.ID, err)
		}
		return nil, err
	}
	return deleted, nil
}

// CreatePartitions lets a topic grow.
func (c *Controller) CreatePartitions(ctx context.Context, spec PartitionsSpec) error {
	if err := c.beginGrowth(ctx); err != nil {
		return err
	}
	defer c.endGrowth()
	spec.Seed = rand.Uint64() //nolint:gosec // spreads load, guards nothing
	var id metadata.TopicID
	err := c.changeAndWait(ctx, func(img *metadata.Image) (Plan, error) {
		if t, ok := img.Topic(spec.Topic); ok {
			id = t.ID
		}
		return CreatePartitions(img, c.limits, nil, spec)
	})
	if err != nil && !id.IsZero() {
		c.cleanUp(ctx, id, err)
	}
	return err
}

// CheckPartitions says whether CreatePartitions would be refused, and does nothing.
func (c *Controller) CheckPartitions(spec PartitionsSpec) error {
	_, err := CreatePartitions(c.loader.Image(), c.limits, nil, spec)
	return err
}

// AlterConfig changes the dynamic configuration of a resource.
func (c *Controller) AlterConfig(ctx context.Context, spec ConfigSpec) error {
	return c.changeAndWait(ctx, func(img *metadata.Image) (Plan, error) { return AlterConfig(img, spec) })
}

// ElectLeaders holds elections and returns one error for each partition, in order.
func (c *Controller) ElectLeaders(ctx context.Context, kind Election, tps []TopicPartition) []error {
	return c.changeEach(ctx, len(tps), func(img *metadata.Image, i int) (Plan, error) {
		return ElectLeader(img, kind, tps[i])
	})
}

// Reassign begins, changes or cancels reassignments and returns one error for each, in order.
func (c *Controller) Reassign(ctx context.Context, specs []Reassignment) []error {
	return c.changeEach(ctx, len(specs), func(img *metadata.Image, i int) (Plan, error) {
		return Reassign(img, specs[i])
	})
}

// changeEach makes n changes one after another and waits for the image once.
func (c *Controller) changeEach(ctx context.Context, n int, decide func(*metadata.Image, int) (Plan, error)) []error {
	errs := make([]error, n)
	var last metadata.Rev
	for i := range errs {
		var rev metadata.Rev
		rev, errs[i] = c.change(ctx, func(img *metadata.Image) (Plan, error) { return decide(img, i) })
		last = max(last, rev)
	}
	if err := c.loader.WaitFor(ctx, last); err != nil {
		for i := range errs {
			if errs[i] == nil {
				errs[i] = err
			}
		}
	}
	return errs
}

// BumpLeaderEpochs begins a new leader epoch for partitions whose logs were recovered by cutting them.
func (c *Controller) BumpLeaderEpochs(ctx context.Context, tps []TopicPartition) error {
	for chunk := range slices.Chunk(tps, metadata.MaxOps) {
		err := c.changeAndWait(ctx, func(img *metadata.Image) (Plan, error) { return BumpLeaderEpochs(img, chunk), nil })
		if err != nil {
			return fmt.Errorf("begin new leader epochs: %w", err)
		}
	}
	return nil
}

// cleanupTimeout is how long the removal of a half written topic may take after the caller has given up.
const cleanupTimeout = 10 * time.Second

// cleanUp finishes a topic that failed to be created or deleted in between, whether the caller still waits or not. What
// it cannot do is left to the next Sweep.
func (c *Controller) cleanUp(ctx context.Context, id metadata.TopicID, cause error) {
	var refusal *Refusal
	if errors.As(cause, &refusal) {
		return // nothing was written
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	err := c.catchUp(ctx)
	if err == nil {
		err = c.finish(ctx, id)
	}
	if err != nil {
		c.logger.Warn("a topic is left half written until the next start", "id", id.String(), "cause", cause, "error", err)
	}
}

// Sweep finishes what a crash has left half done: topics that were being created or deleted, and partitions that were
// never shown. It is called once, before the broker serves.
func (c *Controller) Sweep(ctx context.Context) error {
	if err := c.catchUp(ctx); err != nil {
		return fmt.Errorf("sweep topics: %w", err)
	}
	for u := range c.loader.Image().Unfinished() {
		c.logger.Warn("finishing a topic that was left half done", "topic", u.Name, "id", u.ID.String(), "state", string(u.State))
		if err := c.finish(ctx, u.ID); err != nil {
			return fmt.Errorf("finish topic %s (%s): %w", u.Name, u.ID, err)
		}
	}
	return nil
}

// catchUp waits until the image shows everything that the store holds now.
func (c *Controller) catchUp(ctx context.Context) error {
	_, rev, err := c.store.Get(ctx, metadata.ClusterKey())
	if err != nil && !errors.Is(err, metadata.ErrNotFound) {
		return err
	}
	return c.loader.WaitFor(ctx, rev)
}

// finish finishes one topic, if it is unfinished.
func (c *Controller) finish(ctx context.Context, id metadata.TopicID) error {
	for more := true; more; {
		err := c.changeAndWait(ctx, func(img *metadata.Image) (Plan, error) {
			var u metadata.Unfinished
			if u, more = img.UnfinishedTopic(id); !more {
				return nil, nil
			}
			return FinishTopic(img, u), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Controller) beginGrowth(ctx context.Context) error {
	select {
	case c.growing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Controller) endGrowth() { <-c.growing }
