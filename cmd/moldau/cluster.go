package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
)

func newCluster(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Look at a cluster, its health, its configs and its transactions",
	}
	a.withCluster(cmd)
	cmd.AddCommand(newClusterInfo(a), newClusterHealth(a), newClusterConfig(a), newClusterTxn(a))
	return cmd
}

// clusterInfo is what `cluster info` tells.
type clusterInfo struct {
	ID         string       `json:"cluster_id"`
	Controller int32        `json:"controller"`
	Topics     int          `json:"topics"`
	Partitions int          `json:"partitions"`
	Brokers    []brokerInfo `json:"brokers"`
}

type brokerInfo struct {
	ID         int32  `json:"id"`
	Host       string `json:"host"`
	Port       int32  `json:"port"`
	Rack       string `json:"rack,omitempty"`
	Partitions int    `json:"leads_partitions"`
}

func newClusterInfo(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "info",
		Short: "Show the brokers of a cluster",
		Example: `  moldau cluster info
  moldau cluster info -b kafka.example.com:9092 -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				info, err := describeCluster(ctx, adm)
				if err != nil {
					return err
				}
				return printValue(a, info, info.print)
			})
		},
	}
	a.withFormat(cmd)
	return cmd
}

func describeCluster(ctx context.Context, adm *kadm.Client) (*clusterInfo, error) {
	m, err := adm.Metadata(ctx)
	if err != nil {
		return nil, err
	}
	info := &clusterInfo{ID: m.Cluster, Controller: m.Controller, Topics: len(m.Topics), Brokers: []brokerInfo{}}
	leads := map[int32]int{}
	for _, t := range m.Topics {
		info.Partitions += len(t.Partitions)
		for _, p := range t.Partitions {
			leads[p.Leader]++
		}
	}
	for _, b := range m.Brokers {
		bi := brokerInfo{ID: b.NodeID, Host: b.Host, Port: b.Port, Partitions: leads[b.NodeID]}
		if b.Rack != nil {
			bi.Rack = *b.Rack
		}
		info.Brokers = append(info.Brokers, bi)
	}
	return info, nil
}

func (c *clusterInfo) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "cluster id\t%s\ntopics\t%d\npartitions\t%d\n\n", c.ID, c.Topics, c.Partitions)
	fmt.Fprintf(w, "BROKER\tADDRESS\tRACK\tLEADS\n")
	for _, b := range c.Brokers {
		mark := ""
		if b.ID == c.Controller {
			mark = " (controller)"
		}
		fmt.Fprintf(w, "%d%s\t%s:%d\t%s\t%d\n", b.ID, mark, b.Host, b.Port, dash(b.Rack), b.Partitions)
	}
	return w.Flush()
}

func dash(s string) string {
	if strings.TrimSpace(s) == "" {
		return "-"
	}
	return s
}
