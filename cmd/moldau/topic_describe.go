package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicDescription is what `topic describe` tells about one topic.
type topicDescription struct {
	Name       string           `json:"name"`
	ID         string           `json:"id"`
	Internal   bool             `json:"internal"`
	Partitions []partitionState `json:"partitions"`
	Configs    []configValue    `json:"configs"`
}

type partitionState struct {
	Partition   int32   `json:"partition"`
	Leader      int32   `json:"leader"`
	LeaderEpoch int32   `json:"leader_epoch"`
	Replicas    []int32 `json:"replicas"`
	ISR         []int32 `json:"isr"`
	Offline     []int32 `json:"offline"`
	Start       int64   `json:"start_offset"`
	End         int64   `json:"end_offset"`
	Error       string  `json:"error,omitempty"`
}

func newTopicDescribe(a *app) *cobra.Command {
	var all, regex bool
	cmd := &cobra.Command{
		Use:     "describe TOPIC...",
		Aliases: []string{"info"},
		Short:   "Show partitions, offsets and configs of topics",
		Example: `  moldau topic describe orders
  moldau topic describe orders --all-configs -o yaml`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeTopics,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				topics, err := describeTopics(ctx, adm, args, regex, all)
				if err != nil {
					return err
				}
				return a.printDescriptions(topics)
			})
		},
	}
	cmd.Flags().BoolVarP(&all, "all-configs", "a", false, "defaults too")
	cmd.Flags().BoolVarP(&regex, "regex", "r", false, "the arguments are regular expressions")
	a.withFormat(cmd)
	return cmd
}

func describeTopics(ctx context.Context, adm *kadm.Client, args []string, regex, allConfigs bool) ([]topicDescription, error) {
	details, err := adm.ListTopicsWithInternal(ctx)
	if err != nil {
		return nil, err
	}
	chosen, err := choose(details, args, regex)
	if err != nil || len(chosen) == 0 {
		return nil, err
	}
	names := make([]string, len(chosen))
	for i, d := range chosen {
		names[i] = d.Topic
	}
	starts, err := adm.ListStartOffsets(ctx, names...)
	if err != nil {
		return nil, err
	}
	ends, err := adm.ListEndOffsets(ctx, names...)
	if err != nil {
		return nil, err
	}
	configs, err := adm.DescribeTopicConfigs(ctx, names...)
	if err != nil {
		return nil, err
	}
	out := make([]topicDescription, 0, len(chosen))
	for _, d := range chosen {
		t := topicDescription{Name: d.Topic, ID: topicID(d.ID), Internal: d.IsInternal, Configs: []configValue{}}
		for _, p := range d.Partitions.Sorted() {
			t.Partitions = append(t.Partitions, partitionStateOf(p, starts, ends))
		}
		rc, err := configs.On(d.Topic, nil)
		if err == nil {
			err = rc.Err
		}
		if err != nil {
			return nil, fmt.Errorf("configs of topic %s: %w", d.Topic, err)
		}
		for _, c := range configValues(rc.Configs) {
			if allConfigs || c.Source == kmsg.ConfigSourceDynamicTopicConfig.String() {
				t.Configs = append(t.Configs, c)
			}
		}
		out = append(out, t)
	}
	return out, nil
}

func partitionStateOf(p kadm.PartitionDetail, starts, ends kadm.ListedOffsets) partitionState {
	s := partitionState{
		Partition: p.Partition, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch,
		Replicas: orEmpty(p.Replicas), ISR: orEmpty(p.ISR), Offline: orEmpty(p.OfflineReplicas), Start: -1, End: -1,
	}
	if o, ok := starts.Lookup(p.Topic, p.Partition); ok && o.Err == nil {
		s.Start = o.Offset
	}
	o, ok := ends.Lookup(p.Topic, p.Partition)
	switch {
	case p.Err != nil:
		s.Error = p.Err.Error()
	case ok && o.Err != nil:
		s.Error = o.Err.Error()
	case ok:
		s.End = o.Offset
	}
	return s
}

func orEmpty(ids []int32) []int32 {
	if ids == nil {
		return []int32{}
	}
	return ids
}

func (a *app) printDescriptions(topics []topicDescription) error {
	return printValue(a, topics, func(w io.Writer) error {
		for i, t := range topics {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if err := t.print(w); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *topicDescription) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "topic\t%s\nid\t%s\npartitions\t%d\n", t.Name, t.ID, len(t.Partitions))
	if t.Internal {
		fmt.Fprintf(w, "internal\ttrue\n")
	}
	for _, c := range t.Configs {
		fmt.Fprintf(w, "%s\t%s\n", c.Name, c.shown())
	}
	fmt.Fprintf(w, "\nPARTITION\tLEADER\tEPOCH\tREPLICAS\tISR\tSTART\tEND\tRECORDS\n")
	for _, p := range t.Partitions {
		fmt.Fprintf(w, "%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s", p.Partition, p.Leader, p.LeaderEpoch, ids(p.Replicas), ids(p.ISR),
			offset(p.Start), offset(p.End), span(p.Start, p.End))
		if p.Error != "" {
			fmt.Fprintf(w, "\t%s", p.Error)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

func ids(list []int32) string {
	parts := make([]string, len(list))
	for i, id := range list {
		parts[i] = strconv.Itoa(int(id))
	}
	return strings.Join(parts, ",")
}

// offset shows an offset that may be unknown.
func offset(n int64) string {
	if n < 0 {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

func span(start, end int64) string {
	if start < 0 || end < 0 {
		return "-"
	}
	return strconv.FormatInt(end-start, 10)
}
