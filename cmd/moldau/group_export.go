package main

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"

	"moldau/cmd/moldau/internal/exit"
)

func newGroupExport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "export GROUP",
		Short: "Write the committed offsets of a group as CSV",
		Long: `Write the committed offsets of a group as lines of topic,partition,offset: what
import reads, and Kafka's own kafka-consumer-groups --reset-offsets --from-file.`,
		Example:           `  moldau group export billing > billing.csv`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeGroup,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				now, err := committed(ctx, adm, args[0])
				if err != nil {
					return err
				}
				if len(now) == 0 {
					return groupNotFound(args[0])
				}
				w := csv.NewWriter(a.out)
				for _, o := range now.Sorted() {
					line := []string{o.Topic, strconv.Itoa(int(o.Partition)), strconv.FormatInt(o.At, 10)}
					if err := w.Write(line); err != nil {
						return err
					}
				}
				w.Flush()
				return w.Error()
			})
		},
	}
}

func newGroupImport(a *app) *cobra.Command {
	var c change
	cmd := &cobra.Command{
		Use:   "import GROUP [FILE]",
		Short: "Commit offsets from a CSV file for a group",
		Long: `Commit offsets from lines of topic,partition,offset, as export writes them; without
a file from standard input. What would change is shown first. The group must have
no members.`,
		Example: `  moldau group import billing billing.csv --dry-run
  moldau group export billing | moldau group import billing-2 -y`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeGroup,
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := a.readOffsets(args[1:])
			if err != nil {
				return err
			}
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				now, err := committed(ctx, adm, args[0])
				if err != nil {
					return err
				}
				return a.moveOffsets(ctx, adm, args[0], now, target, c)
			})
		},
	}
	c.bind(cmd)
	return cmd
}

// readOffsets reads a file, or standard input.
func (a *app) readOffsets(file []string) (kadm.Offsets, error) {
	if len(file) == 0 || file[0] == "-" {
		return parseOffsets(a.in)
	}
	f, err := os.Open(file[0])
	if err != nil {
		return nil, err
	}
	offsets, err := parseOffsets(f)
	return offsets, errors.Join(err, f.Close())
}

func parseOffsets(in io.Reader) (kadm.Offsets, error) {
	r := csv.NewReader(in)
	r.FieldsPerRecord, r.TrimLeadingSpace, r.Comment = 3, true, '#'
	offsets := kadm.Offsets{}
	for {
		line, err := r.Read()
		if errors.Is(err, io.EOF) {
			return offsets, nil
		}
		if err != nil {
			return nil, exit.Usagef("the offsets: %w", err)
		}
		at, _ := r.FieldPos(0)
		partition, perr := strconv.ParseUint(line[1], 10, 31)
		offset, oerr := strconv.ParseUint(line[2], 10, 63)
		if line[0] == "" || perr != nil || oerr != nil {
			return nil, exit.Usagef("line %d of the offsets: want topic,partition,offset", at)
		}
		if _, twice := offsets.Lookup(line[0], int32(partition)); twice {
			return nil, exit.Usagef("line %d of the offsets: partition %d of %s for the second time", at, partition, line[0])
		}
		offsets.Add(kadm.Offset{Topic: line[0], Partition: int32(partition), At: int64(offset), LeaderEpoch: -1})
	}
}
