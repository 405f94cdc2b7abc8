package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/position"
)

// stretch is a range of offsets in one partition: from up to, not including,
// to. to is -1 for a stretch without end.
type stretch struct{ from, to int64 }

// partitions maps topic and partition to a stretch.
type partitions map[string]map[int32]stretch

// resolver looks up what positions mean in the partitions of some topics. Each
// list is asked for once, when a position needs it.
type resolver struct {
	adm        *kadm.Client
	topics     []string
	start, end kadm.ListedOffsets
}

// resolve turns a range into offsets for the partitions of topics; with only,
// for those partitions. Offsets outside the log are moved to its nearest end,
// which with committed is where the first open transaction begins.
func resolve(ctx context.Context, adm *kadm.Client, topics []kadm.TopicDetail, only []int32, r position.Range, committed bool) (partitions, error) {
	res := resolver{adm: adm}
	for _, d := range topics {
		res.topics = append(res.topics, d.Topic)
	}
	var err error
	if res.start, err = adm.ListStartOffsets(ctx, res.topics...); err != nil {
		return nil, err
	}
	ends := adm.ListEndOffsets
	if committed {
		ends = adm.ListCommittedOffsets
	}
	if res.end, err = ends(ctx, res.topics...); err != nil {
		return nil, err
	}
	from, err := res.lookUp(ctx, r.From)
	if err != nil {
		return nil, err
	}
	to, err := res.lookUp(ctx, r.To)
	if err != nil {
		return nil, err
	}
	out := partitions{}
	for _, d := range topics {
		out[d.Topic] = map[int32]stretch{}
		for _, p := range d.Partitions.Sorted() {
			if len(only) > 0 && !slices.Contains(only, p.Partition) {
				continue
			}
			s := stretch{to: -1}
			if s.from, err = from(d.Topic, p.Partition); err != nil {
				return nil, err
			}
			if r.To.Kind != position.None {
				if s.to, err = to(d.Topic, p.Partition); err != nil {
					return nil, err
				}
			}
			out[d.Topic][p.Partition] = s
		}
		for _, p := range only {
			if _, ok := out[d.Topic][p]; !ok {
				return nil, &exit.Error{Code: exit.NotFound, Err: fmt.Errorf("topic %s has no partition %d", d.Topic, p), Next: "moldau topic describe " + d.Topic}
			}
		}
	}
	return out, nil
}

// lookUp returns a function that answers what a position is in a partition.
func (r *resolver) lookUp(ctx context.Context, p position.Position) (func(string, int32) (int64, error), error) {
	var times kadm.ListedOffsets
	if p.Kind == position.Time {
		var err error
		if times, err = r.adm.ListOffsetsAfterMilli(ctx, p.At.UnixMilli(), r.topics...); err != nil {
			return nil, err
		}
	}
	return func(topic string, partition int32) (int64, error) {
		start, err := listed(r.start, topic, partition)
		if err != nil {
			return 0, err
		}
		end, err := listed(r.end, topic, partition)
		if err != nil {
			return 0, err
		}
		n := int64(0)
		switch p.Kind {
		case position.None, position.Start:
			n = start
		case position.End:
			n = end
		case position.Exact:
			n = p.N
		case position.AfterStart:
			n = start + p.N
		case position.BeforeEnd:
			n = end - p.N
		case position.Time:
			if n, err = listed(times, topic, partition); err != nil {
				return 0, err
			}
		}
		return min(max(n, start), end), nil
	}, nil
}

func listed(offsets kadm.ListedOffsets, topic string, partition int32) (int64, error) {
	o, ok := offsets.Lookup(topic, partition)
	if !ok {
		return 0, fmt.Errorf("the cluster did not list the offsets of %s, partition %d", topic, partition)
	}
	if o.Err != nil {
		return 0, fmt.Errorf("offsets of %s, partition %d: %w", topic, partition, o.Err)
	}
	return o.Offset, nil
}
