package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/output"
)

func newClusterTxn(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "txn",
		Short: "See transactions, and end those that nobody ends",
	}
	cmd.AddCommand(newClusterTxnList(a), newClusterTxnDescribe(a), newClusterTxnAbort(a))
	return cmd
}

// txnRow is one line of `cluster txn list`.
type txnRow struct {
	ID          string `json:"transactional_id"`
	State       string `json:"state"`
	ProducerID  int64  `json:"producer_id"`
	Coordinator int32  `json:"coordinator"`
}

var txnList = output.List[txnRow]{
	Columns: []output.Column[txnRow]{
		{Head: "TRANSACTIONAL ID", Text: func(r txnRow) string { return r.ID }},
		{Head: "STATE", Text: func(r txnRow) string { return r.State }},
		{Head: "PRODUCER ID", Text: func(r txnRow) string { return fmt.Sprint(r.ProducerID) }},
		{Head: "COORDINATOR", Wide: true, Text: func(r txnRow) string { return fmt.Sprint(r.Coordinator) }},
	},
	Name: func(r txnRow) string { return r.ID },
}

// txnStates are Kafka's names of the states of a transactional id.
var txnStates = []string{"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead"}

// txnFilter are the flags of `cluster txn list`.
type txnFilter struct {
	states     []string
	producers  []int64
	longerThan time.Duration
	match      string
}

func newClusterTxnList(a *app) *cobra.Command {
	var f txnFilter
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List transactional ids and the state of their transactions",
		Example: `  moldau cluster txn list --state Ongoing
  moldau cluster txn list --state Ongoing --longer-than 10m
  moldau cluster txn list --match 'billing-.*'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range f.states {
				if !slices.Contains(txnStates, s) {
					return exit.Usagef("no state %q; there are %s", s, strings.Join(txnStates, ", "))
				}
			}
			return a.withClient(cmd, func(ctx context.Context, cl *kgo.Client) error {
				rows, err := f.list(ctx, cl)
				if err != nil {
					return err
				}
				return txnList.Print(a.out, a.format, rows)
			})
		},
	}
	cmd.Flags().StringSliceVar(&f.states, "state", nil, "only these states: "+strings.Join(txnStates, ", "))
	cmd.Flags().Int64SliceVar(&f.producers, "producer-id", nil, "only these producer ids")
	cmd.Flags().DurationVar(&f.longerThan, "longer-than", 0, "only transactions that began longer ago")
	cmd.Flags().StringVar(&f.match, "match", "", "only ids that this regular expression (RE2) matches as a whole")
	must(cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(txnStates, cobra.ShellCompDirectiveNoFileComp)))
	a.withFormat(cmd)
	return cmd
}

// list asks every broker for the ids that it coordinates.
func (f *txnFilter) list(ctx context.Context, cl *kgo.Client) ([]txnRow, error) {
	req := kmsg.NewPtrListTransactionsRequest()
	req.StateFilters, req.ProducerIDFilters = f.states, f.producers
	if f.longerThan > 0 {
		req.DurationFilterMillis = f.longerThan.Milliseconds()
	}
	if f.match != "" {
		req.TransactionalIDPattern = &f.match
	}
	rows := []txnRow{}
	for _, shard := range cl.RequestSharded(ctx, req) {
		if shard.Err != nil {
			return nil, shard.Err
		}
		resp := shard.Resp.(*kmsg.ListTransactionsResponse)
		if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
			return nil, fmt.Errorf("list the transactions of broker %d: %w", shard.Meta.NodeID, err)
		}
		if f.longerThan > 0 && resp.Version < 1 || f.match != "" && resp.Version < 2 {
			return nil, fmt.Errorf("broker %d is too old for --longer-than or --match", shard.Meta.NodeID)
		}
		for _, t := range resp.TransactionStates {
			rows = append(rows, txnRow{ID: t.TransactionalID, State: t.TransactionState, ProducerID: t.ProducerID, Coordinator: shard.Meta.NodeID})
		}
	}
	slices.SortFunc(rows, func(a, b txnRow) int { return strings.Compare(a.ID, b.ID) })
	return rows, nil
}

// txnDescription is what `cluster txn describe` tells of one transactional id.
type txnDescription struct {
	ID            string             `json:"transactional_id"`
	State         string             `json:"state"`
	ProducerID    int64              `json:"producer_id"`
	ProducerEpoch int16              `json:"producer_epoch"`
	TimeoutMs     int32              `json:"timeout_ms"`
	StartMs       int64              `json:"start_ms,omitempty"`
	Coordinator   int32              `json:"coordinator"`
	Partitions    map[string][]int32 `json:"partitions"`
}

func newClusterTxnDescribe(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "describe ID...",
		Short:             "Show transactional ids with their producer and their transaction",
		Example:           `  moldau cluster txn describe billing-7`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeTxns,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				found, err := describeTxns(ctx, adm, args)
				if err != nil {
					return err
				}
				return printValue(a, found, func(out io.Writer) error { return printTxns(out, found, time.Now()) })
			})
		},
	}
	a.withFormat(cmd)
	return cmd
}

func describeTxns(ctx context.Context, adm *kadm.Client, ids []string) ([]txnDescription, error) {
	answers, err := adm.DescribeTransactions(ctx, ids...)
	if err != nil {
		return nil, err
	}
	out := make([]txnDescription, 0, len(ids))
	for _, id := range ids {
		t, ok := answers[id]
		switch {
		case !ok:
			return nil, fmt.Errorf("transactional id %s: the cluster did not answer", id)
		case errors.Is(t.Err, kerr.TransactionalIDNotFound):
			return nil, &exit.Error{Code: exit.NotFound, Err: fmt.Errorf("there is no transactional id %s", id), Next: "moldau cluster txn list"}
		case t.Err != nil:
			return nil, fmt.Errorf("transactional id %s: %w", id, t.Err)
		}
		d := txnDescription{
			ID: t.TxnID, State: t.State, ProducerID: t.ProducerID, ProducerEpoch: t.ProducerEpoch, TimeoutMs: t.TimeoutMillis,
			StartMs: max(t.StartTimestamp, 0), Coordinator: t.Coordinator, Partitions: map[string][]int32{},
		}
		for topic, partitions := range t.Topics {
			for p := range partitions {
				d.Partitions[topic] = append(d.Partitions[topic], p)
			}
			slices.Sort(d.Partitions[topic])
		}
		out = append(out, d)
	}
	return out, nil
}

func printTxns(out io.Writer, found []txnDescription, now time.Time) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for i, d := range found {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "transactional id\t%s\nstate\t%s\nproducer id\t%d, epoch %d\n", d.ID, d.State, d.ProducerID, d.ProducerEpoch)
		fmt.Fprintf(w, "timeout\t%v\n", time.Duration(d.TimeoutMs)*time.Millisecond)
		if d.StartMs > 0 {
			began := time.UnixMilli(d.StartMs)
			fmt.Fprintf(w, "began\t%s, %v ago\n", began.Format(time.RFC3339), now.Sub(began).Round(time.Second))
		}
		fmt.Fprintf(w, "partitions\t%s\ncoordinator\t%d\n", showPartitions(d.Partitions), d.Coordinator)
	}
	return w.Flush()
}

// completeTxns completes transactional ids.
func (a *app) completeTxns(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeNames(cmd, typed, func(ctx context.Context, adm *kadm.Client) ([]string, error) {
		found, err := adm.ListTransactions(ctx, nil, nil)
		return found.TransactionalIDs(), err
	})
}
