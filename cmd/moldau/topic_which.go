package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/output"
)

// keyPlace is where the two widespread partitioners put a key.
type keyPlace struct {
	Key     string `json:"key"`
	Murmur2 int    `json:"murmur2"`
	CRC32   int    `json:"crc32"`
}

var keyPlaces = output.List[keyPlace]{
	Columns: []output.Column[keyPlace]{
		{Head: "KEY", Text: func(k keyPlace) string { return k.Key }},
		{Head: "MURMUR2", Text: func(k keyPlace) string { return strconv.Itoa(k.Murmur2) }},
		{Head: "CRC32", Text: func(k keyPlace) string { return strconv.Itoa(k.CRC32) }},
	},
	Name: func(k keyPlace) string { return strconv.Itoa(k.Murmur2) },
}

func newTopicWhichPartition(a *app) *cobra.Command {
	var count int
	cmd := &cobra.Command{
		Use:   "which-partition TOPIC KEY...",
		Short: "Tell which partition a key belongs to",
		Long: `Tell which partition producers choose for a key. Clients differ: Java's, this
one and most others use murmur2; librdkafka and what is built on it (Python, C#,
Node) use CRC-32 unless told otherwise. Where the columns differ, records with
that key lie in two partitions if both kinds of client write to the topic.`,
		Example: `  moldau topic which-partition orders customer-7
  moldau topic which-partition - customer-7 --partitions 12    (no cluster needed)`,
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: a.completeFirst,
		RunE: func(cmd *cobra.Command, args []string) error {
			if count == 0 {
				err := a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
					all, err := adm.ListTopicsWithInternal(ctx, args[0])
					if err != nil {
						return err
					}
					chosen, err := choose(all, args[:1], false)
					if err != nil {
						return err
					}
					count = len(chosen[0].Partitions)
					return nil
				})
				if err != nil {
					return err
				}
			}
			if count < 1 {
				return exit.Usagef("--partitions must be at least 1")
			}
			rows := make([]keyPlace, 0, len(args)-1)
			for _, key := range args[1:] {
				rows = append(rows, keyPlace{key, murmur2([]byte(key), count), crc([]byte(key), count)})
			}
			if err := keyPlaces.Print(a.out, a.format, rows); err != nil {
				return err
			}
			for _, r := range rows {
				if r.Murmur2 != r.CRC32 && a.format.ForPeople() {
					fmt.Fprintln(a.err, "note: the clients disagree; set partitioner=murmur2_random in librdkafka to agree with Java")
					break
				}
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&count, "partitions", 0, "the number of partitions, instead of asking the cluster")
	a.withFormat(cmd)
	return cmd
}

// murmur2 is the choice of Java's producer.
func murmur2(key []byte, partitions int) int {
	return kgo.StickyKeyPartitioner(nil).ForTopic("").Partition(&kgo.Record{Key: key}, partitions)
}

// crc is the choice of librdkafka's default partitioner for records with a key.
func crc(key []byte, partitions int) int {
	return int(crc32.ChecksumIEEE(key) % uint32(partitions))
}
