package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/exit"
)

// clusterHealth is what `cluster health` finds.
type clusterHealth struct {
	Healthy bool `json:"healthy"`
	Brokers int  `json:"brokers"`
	// Problems make a cluster unhealthy: something cannot be read or written,
	// or is short of replicas.
	Problems []problem `json:"problems"`
	// Risks are what one failure would turn into a problem.
	Risks []problem `json:"risks"`
}

type problem struct {
	Kind      string `json:"kind"`
	Topic     string `json:"topic,omitempty"`
	Partition *int32 `json:"partition,omitempty"`
	Detail    string `json:"detail"`
}

func newClusterHealth(a *app) *cobra.Command {
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Tell whether every partition can be written and has its replicas",
		Long: `Tell whether every partition has a leader and all of its replicas in sync, and
every broker space on its disks. The exit code is 3 when one has not, or when
the cluster does not answer.`,
		Example: `  moldau cluster health
  moldau cluster health --wait 60s    wait until it is healthy`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.healthWithin(cmd, wait)
			if err != nil {
				return err
			}
			if err := printValue(a, h, h.print); err != nil {
				return err
			}
			if !h.Healthy {
				return &exit.Error{Code: exit.Unhealthy, Err: fmt.Errorf("%d problems", len(h.Problems)), Next: "moldau topic describe TOPIC"}
			}
			return nil
		},
	}
	cmd.Flags().DurationVar(&wait, "wait", 0, "ask again until the cluster is healthy, for this long")
	a.withFormat(cmd)
	return cmd
}

// healthWithin asks until the answer is good or the time is over, and returns
// the last answer.
func (a *app) healthWithin(cmd *cobra.Command, wait time.Duration) (h *clusterHealth, err error) {
	deadline := a.now().Add(wait)
	for {
		err = a.withClient(cmd, func(ctx context.Context, cl *kgo.Client) (err error) {
			h, err = healthNow(ctx, cl)
			return err
		})
		good := err == nil && h.Healthy
		if left := deadline.Sub(a.now()); good || left <= 0 {
			return h, err
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-cmd.Context().Done():
			return nil, cmd.Context().Err()
		}
	}
}

func healthNow(ctx context.Context, cl *kgo.Client) (*clusterHealth, error) {
	m, err := kadm.NewClient(cl).Metadata(ctx)
	if err != nil {
		return nil, err
	}
	h := healthOf(m)
	for _, b := range m.Brokers {
		dirs, err := logDirs(ctx, cl, b.NodeID)
		h.judgeDirs(b.NodeID, dirs, err)
	}
	h.Healthy = len(h.Problems) == 0
	return h, nil
}

// healthOf judges the metadata of a cluster.
func healthOf(m kadm.Metadata) *clusterHealth {
	h := &clusterHealth{Brokers: len(m.Brokers), Problems: []problem{}, Risks: []problem{}}
	if m.Controller < 0 {
		h.Problems = append(h.Problems, problem{Kind: "no_controller", Detail: "no broker is the controller: topics cannot be made or changed"})
	}
	for _, t := range m.Topics.Sorted() {
		if t.Err != nil {
			h.Problems = append(h.Problems, problem{Kind: "topic_error", Topic: t.Topic, Detail: t.Err.Error()})
		}
		alone := false
		for _, p := range t.Partitions.Sorted() {
			h.judge(p)
			alone = alone || len(p.Replicas) == 1
		}
		if alone && len(m.Brokers) > 1 {
			h.Risks = append(h.Risks, problem{Kind: "one_replica", Topic: t.Topic, Detail: "there is only one copy of its records"})
		}
	}
	h.Healthy = len(h.Problems) == 0
	return h
}

func (h *clusterHealth) judge(p kadm.PartitionDetail) {
	add := func(kind, format string, args ...any) {
		h.Problems = append(h.Problems, problem{kind, p.Topic, &p.Partition, fmt.Sprintf(format, args...)})
	}
	switch {
	case p.Leader < 0:
		add("no_leader", "nobody leads it: it can be neither written nor read")
	case p.Err != nil:
		add("partition_error", "%v", p.Err)
	case len(p.ISR) < len(p.Replicas):
		add("under_replicated", "%d of %d replicas are in sync", len(p.ISR), len(p.Replicas))
	}
}

func (h *clusterHealth) print(w io.Writer) error {
	verdict := "healthy"
	if !h.Healthy {
		verdict = "UNHEALTHY"
	}
	_, err := fmt.Fprintf(w, "%s: %d brokers, %d problems, %d risks\n", verdict, h.Brokers, len(h.Problems), len(h.Risks))
	for _, list := range []struct {
		word     string
		problems []problem
	}{{"problem", h.Problems}, {"risk", h.Risks}} {
		for _, p := range list.problems {
			at := p.Topic
			if p.Partition != nil {
				at = fmt.Sprintf("%s, partition %d", p.Topic, *p.Partition)
			}
			if at != "" {
				at += ": "
			}
			_, werr := fmt.Fprintf(w, "%-8s %s%s\n", list.word, at, p.Detail)
			err = errors.Join(err, werr)
		}
	}
	return err
}
