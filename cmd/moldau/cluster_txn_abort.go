package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/cmd/moldau/internal/exit"
)

// hanging names a transaction by where it begins in a partition.
type hanging struct {
	topic     string
	partition int32
	offset    int64
}

func newClusterTxnAbort(a *app) *cobra.Command {
	var (
		c change
		h hanging
	)
	cmd := &cobra.Command{
		Use:   "abort [ID...]",
		Short: "Abort transactions and fence their producers",
		Long: `Abort the open transaction of a transactional id, and fence its producer: it cannot go on.

A transaction that its coordinator knows nothing of holds up the readers of a partition for ever. --topic, --partition and
--offset abort one by the offset at which it begins, in this partition only.`,
		Example: `  moldau cluster txn abort billing-7
  moldau cluster txn abort --topic orders --partition 3 --offset 118832`,
		ValidArgsFunction: a.completeTxns,
		RunE: func(cmd *cobra.Command, args []string) error {
			byOffset := cmd.Flags().Changed("topic") || cmd.Flags().Changed("partition") || cmd.Flags().Changed("offset")
			switch {
			case byOffset && len(args) > 0, !byOffset && len(args) == 0:
				return exit.Usagef("name transactional ids, or --topic, --partition and --offset")
			case byOffset && (h.topic == "" || h.partition < 0 || h.offset < 0):
				return exit.Usagef("--topic, --partition and --offset belong together")
			case byOffset:
				return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error { return a.abortHanging(ctx, adm, h, c) })
			}
			return a.withClient(cmd, func(ctx context.Context, cl *kgo.Client) error { return a.abortTxns(ctx, cl, args, c) })
		},
	}
	cmd.Flags().StringVarP(&h.topic, "topic", "t", "", "the topic of a transaction that hangs")
	cmd.Flags().Int32VarP(&h.partition, "partition", "p", -1, "its partition")
	cmd.Flags().Int64Var(&h.offset, "offset", -1, "the offset at which it begins")
	must(cmd.RegisterFlagCompletionFunc("topic", a.completeTopics))
	c.bind(cmd)
	return cmd
}

// abortTxns fences the producers of transactional ids, which aborts their transactions.
func (a *app) abortTxns(ctx context.Context, cl *kgo.Client, ids []string, c change) error {
	found, err := describeTxns(ctx, kadm.NewClient(cl), ids)
	if err != nil {
		return err
	}
	plan := make([]string, len(found))
	for i, d := range found {
		plan[i] = fmt.Sprintf("%s (%s): abort, and fence producer %d in epoch %d", d.ID, d.State, d.ProducerID, d.ProducerEpoch)
	}
	ok, err := a.agreed(c, plan...)
	if !ok {
		return err
	}
	for _, d := range found {
		if err := fence(ctx, cl, d.ID, a.cluster.Timeout); err != nil {
			return fmt.Errorf("transactional id %s: %w", d.ID, err)
		}
		fmt.Fprintf(a.err, "%s: fenced\n", d.ID)
	}
	return nil
}

// fencePause is the time between two attempts while a transaction is being aborted.
const fencePause = 100 * time.Millisecond

// fence begins to use a transactional id, as its next producer would, and does not go on.
func fence(ctx context.Context, cl *kgo.Client, id string, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID, req.TransactionTimeoutMillis = &id, 1
	for {
		resp, err := req.RequestWith(ctx, cl)
		if err != nil {
			return err
		}
		if err = kerr.ErrorForCode(resp.ErrorCode); !errors.Is(err, kerr.ConcurrentTransactions) {
			return err
		}
		pause := time.NewTimer(fencePause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// abortHanging writes the marker that ends a transaction in one partition.
func (a *app) abortHanging(ctx context.Context, adm *kadm.Client, h hanging, c change) error {
	where := fmt.Sprintf("%s, partition %d", h.topic, h.partition)
	set := kadm.TopicsSet{}
	set.Add(h.topic, h.partition)
	answers, err := adm.DescribeProducers(ctx, set)
	if err != nil {
		return err
	}
	var open *kadm.DescribedProducer
	answers.EachPartition(func(p kadm.DescribedProducersPartition) { err = errors.Join(err, p.Err) })
	answers.EachProducer(func(p kadm.DescribedProducer) {
		if p.CurrentTxnStartOffset == h.offset {
			open = &p
		}
	})
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", where, err)
	case open == nil:
		return &exit.Error{Code: exit.NotFound, Err: fmt.Errorf("%s: no transaction begins at offset %d", where, h.offset), Next: "moldau topic describe " + h.topic}
	}
	ok, err := a.agreed(c, fmt.Sprintf("%s: abort the transaction of producer %d in epoch %d, which begins at offset %d", where, open.ProducerID, open.ProducerEpoch, h.offset))
	if !ok {
		return err
	}
	marker := kadm.TxnMarkers{ProducerID: open.ProducerID, ProducerEpoch: open.ProducerEpoch, CoordinatorEpoch: max(open.CoordinatorEpoch, 0), Topics: set}
	written, err := adm.WriteTxnMarkers(ctx, marker)
	if err != nil {
		return err
	}
	o := outcome{a: a}
	written.EachPartition(func(p kadm.TxnMarkersPartitionResponse) { o.add(where, "aborted", p.Err) })
	return o.err
}
