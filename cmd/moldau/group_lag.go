package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/output"
)

// lagRow is one line of `group lag`: a partition as a group sees it.
type lagRow struct {
	Group     string `json:"group"`
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Committed *int64 `json:"committed"` // null: nothing yet
	Start     int64  `json:"start_offset"`
	End       int64  `json:"end_offset"`
	// Lag is how many records the group has not read: those below the start are gone, and count no more. It is 0 with an Error.
	Lag    int64  `json:"lag"`
	Member string `json:"member,omitempty"`
	Client string `json:"client,omitempty"`
	Host   string `json:"host,omitempty"`
	Error  string `json:"error,omitempty"`
}

var lagList = output.List[lagRow]{
	Columns: []output.Column[lagRow]{
		{Head: "GROUP", Text: func(r lagRow) string { return r.Group }},
		{Head: "TOPIC", Text: func(r lagRow) string { return r.Topic }},
		{Head: "PARTITION", Text: func(r lagRow) string { return strconv.Itoa(int(r.Partition)) }},
		{Head: "COMMITTED", Text: func(r lagRow) string { return offsetText(r.Committed) }},
		{Head: "END", Text: func(r lagRow) string { return strconv.FormatInt(r.End, 10) }},
		{Head: "LAG", Text: func(r lagRow) string { return r.lagText() }},
		{Head: "CLIENT", Text: func(r lagRow) string { return r.Client }},
		{Head: "START", Wide: true, Text: func(r lagRow) string { return strconv.FormatInt(r.Start, 10) }},
		{Head: "HOST", Wide: true, Text: func(r lagRow) string { return r.Host }},
		{Head: "MEMBER", Wide: true, Text: func(r lagRow) string { return r.Member }},
	},
	Name: func(r lagRow) string { return fmt.Sprintf("%s/%s/%d", r.Group, r.Topic, r.Partition) },
}

func (r *lagRow) lagText() string {
	if r.Error != "" {
		return r.Error
	}
	return strconv.FormatInt(r.Lag, 10)
}

func offsetText(o *int64) string {
	if o == nil {
		return "-"
	}
	return strconv.FormatInt(*o, 10)
}

func newGroupLag(a *app) *cobra.Command {
	var (
		watch    bool
		interval time.Duration
	)
	cmd := &cobra.Command{
		Use:   "lag [GROUP...]",
		Short: "Show how far groups are behind, partition by partition",
		Long: `Show how far groups are behind the ends of their partitions. Records that
retention has removed count no more; a partition without a committed offset is
behind by all of its records.`,
		Example: `  moldau group lag
  moldau group lag billing -w
  moldau group lag billing -o json | jq 'map(.lag) | add'`,
		ValidArgsFunction: a.completeGroups,
		RunE: func(cmd *cobra.Command, args []string) error {
			if interval < 100*time.Millisecond {
				return exit.Usagef("--interval must be at least 100ms")
			}
			for {
				if err := a.printLag(cmd, args); err != nil || !watch {
					return err
				}
				select {
				case <-time.After(interval):
				case <-cmd.Context().Done():
					return nil
				}
				if a.format.ForPeople() {
					fmt.Fprintln(a.out)
				}
			}
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "again and again, until interrupted")
	cmd.Flags().DurationVar(&interval, "interval", 2*time.Second, "the pause between two looks with -w")
	a.withFormat(cmd)
	return cmd
}

func (a *app) printLag(cmd *cobra.Command, args []string) error {
	return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
		lags, err := groupLags(ctx, adm, args)
		if err != nil {
			return err
		}
		var rows []lagRow
		for _, l := range lags {
			rows = append(rows, lagRowsOf(l.DescribedGroupLag)...)
		}
		return lagList.Print(a.out, a.format, rows)
	})
}

// lagRowsOf returns the partitions of a group by topic and number.
func lagRowsOf(l kadm.DescribedGroupLag) []lagRow {
	var rows []lagRow
	for _, p := range l.Lag.Sorted() {
		r := lagRow{Group: l.Group, Topic: p.Topic, Partition: p.Partition, Start: p.Start.Offset, End: p.End.Offset}
		if p.Commit.At >= 0 {
			r.Committed = &p.Commit.At
		}
		if err := cmp.Or(p.Err, p.End.Err, p.Start.Err); err != nil {
			r.Error = err.Error()
		} else {
			r.Lag = max(0, r.End-max(p.Commit.At, r.Start))
		}
		if m := p.Member; m != nil {
			r.Member, r.Client, r.Host = m.MemberID, m.ClientID, m.ClientHost
		}
		rows = append(rows, r)
	}
	return rows
}
