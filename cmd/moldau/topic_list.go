package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"

	"moldau/cmd/moldau/internal/output"
)

// topicRow is one line of `topic list`.
type topicRow struct {
	Name              string `json:"name"`
	ID                string `json:"id"`
	Internal          bool   `json:"internal"`
	Partitions        int    `json:"partitions"`
	ReplicationFactor int    `json:"replication_factor"`
	WithoutLeader     int    `json:"partitions_without_leader"`
}

var topicList = output.List[topicRow]{
	Columns: []output.Column[topicRow]{
		{Head: "NAME", Text: func(r topicRow) string { return r.Name }},
		{Head: "PARTITIONS", Text: func(r topicRow) string { return strconv.Itoa(r.Partitions) }},
		{Head: "REPLICAS", Text: func(r topicRow) string { return strconv.Itoa(r.ReplicationFactor) }},
		{Head: "ID", Wide: true, Text: func(r topicRow) string { return r.ID }},
		{Head: "INTERNAL", Wide: true, Text: func(r topicRow) string { return strconv.FormatBool(r.Internal) }},
		{Head: "LEADERLESS", Wide: true, Text: func(r topicRow) string { return strconv.Itoa(r.WithoutLeader) }},
	},
	Name: func(r topicRow) string { return r.Name },
}

func newTopicList(a *app) *cobra.Command {
	var internal, regex bool
	cmd := &cobra.Command{
		Use:     "list [TOPIC...]",
		Aliases: []string{"ls"},
		Short:   "List topics",
		Example: `  moldau topic list
  moldau topic list -r '^orders' -o name
  moldau topic list --internal -o wide`,
		ValidArgsFunction: a.completeTopics,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				all, err := adm.ListTopicsWithInternal(ctx)
				if err != nil {
					return err
				}
				chosen := all.Sorted()
				if len(args) > 0 {
					if chosen, err = choose(all, args, regex); err != nil {
						return err
					}
				}
				var rows []topicRow
				for _, d := range chosen {
					if !d.IsInternal || internal || len(args) > 0 {
						rows = append(rows, topicRowOf(d))
					}
				}
				return topicList.Print(a.out, a.format, rows)
			})
		},
	}
	cmd.Flags().BoolVarP(&internal, "internal", "i", false, "internal topics too")
	cmd.Flags().BoolVarP(&regex, "regex", "r", false, "the arguments are regular expressions")
	a.withFormat(cmd)
	return cmd
}

func topicRowOf(d kadm.TopicDetail) topicRow {
	r := topicRow{
		Name: d.Topic, ID: topicID(d.ID), Internal: d.IsInternal,
		Partitions: len(d.Partitions), ReplicationFactor: d.Partitions.NumReplicas(),
	}
	for _, p := range d.Partitions {
		if p.Leader < 0 {
			r.WithoutLeader++
		}
	}
	return r
}
