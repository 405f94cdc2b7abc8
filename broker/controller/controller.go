package controller

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"

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

func (c *Controller) beginGrowth(ctx context.Context) error {
	select {
	case c.growing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Controller) endGrowth() { <-c.growing }
