package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"moldau/broker/metadata"
)

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
