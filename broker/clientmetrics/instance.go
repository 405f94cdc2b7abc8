package clientmetrics

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"moldau/broker/configdef"
)

// instance is one client. Its methods decide; they take the time as a value and touch nothing else.
type instance struct {
	id       InstanceID
	demand   Demand
	lastGet  time.Time // zero before the first
	lastPush time.Time // zero before the first
	lastUsed time.Time
	asked    bool  // for the subscription, since the last push that was taken
	goodbye  bool  // the client has pushed for the last time
	lastErr  error // of the last push
}

// Demand is what a client is asked for.
type Demand struct {
	// SubscriptionID changes whenever the rest does.
	SubscriptionID int32
	// Interval is the time between two pushes.
	Interval time.Duration
	// Metrics are prefixes of names in order; a single "*" asks for all, none asks for nothing.
	Metrics []string
}

// demandOf joins the subscriptions that are for a client with these attributes: all their metrics, the shortest of their
// intervals.
func demandOf(id InstanceID, attributes map[string]string, subscriptions []configdef.Subscription) Demand {
	d := Demand{Interval: configdef.DefaultPushInterval}
	for i := range subscriptions {
		s := &subscriptions[i]
		if s.Matches(attributes) {
			d.Metrics = append(d.Metrics, s.Metrics...)
			d.Interval = min(d.Interval, s.Interval)
		}
	}
	slices.Sort(d.Metrics)
	d.Metrics = slices.Compact(d.Metrics)
	if slices.Contains(d.Metrics, "*") {
		d.Metrics = []string{"*"}
	}
	sum := crc32.Checksum([]byte(strings.Join(d.Metrics, ",")+d.Interval.String()), crc32.MakeTable(crc32.Castagnoli))
	d.SubscriptionID = int32(sum ^ crc32.ChecksumIEEE(id[:]))
	return d
}

// update takes over another demand. The client may ask at once when it has changed.
func (i *instance) update(d Demand) {
	if d.SubscriptionID != i.demand.SubscriptionID {
		i.demand = d
		i.lastGet, i.lastPush = time.Time{}, time.Time{}
		i.goodbye = false
	}
}

// get decides about a question for the subscription. One that follows the last request too soon is throttled, unless the
// last push was refused with an error that tells the client to ask again.
func (i *instance) get(now time.Time) error {
	last := i.lastGet
	if i.lastPush.After(last) {
		last = i.lastPush
	}
	mustAsk := i.lastErr == ErrUnknownSubscription || i.lastErr == ErrUnsupportedCompression //nolint:errorlint // set to these very values
	if !last.IsZero() && now.Sub(last) < i.demand.Interval && !mustAsk {
		return fmt.Errorf("%w: client instance %v", ErrThrottled, i.id)
	}
	i.lastGet, i.asked, i.lastErr = now, true, nil
	return nil
}

// push decides about a push before its payload is looked at.
func (i *instance) push(now time.Time, subscriptionID int32, terminating bool) error {
	err := i.judge(now, subscriptionID, terminating)
	i.lastErr = err
	i.goodbye = terminating
	return err
}

func (i *instance) judge(now time.Time, subscriptionID int32, terminating bool) error {
	if i.goodbye {
		return ErrInvalidRequest
	}
	// The first push after a question may come early: clients wait between half and one and a half intervals.
	early := !i.asked && !i.lastPush.IsZero() && now.Sub(i.lastPush) < i.demand.Interval
	if early && !terminating {
		return ErrThrottled
	}
	if !early {
		i.lastPush, i.asked = now, false
	}
	if subscriptionID != i.demand.SubscriptionID {
		return ErrUnknownSubscription
	}
	return nil
}
