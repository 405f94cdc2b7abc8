package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/logfile"
	"moldau/cmd/moldau/internal/output"
)

func newDebug(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "debug",
		Short: "Look inside files and protocols",
	}
	cmd.AddCommand(newDumpLog(a), newVerifyLog(a), newAPIVersions(a))
	return cmd
}

func newDumpLog(a *app) *cobra.Command {
	var records bool
	cmd := &cobra.Command{
		Use:   "dump-log FILE...",
		Short: "Print what is in segment and index files",
		Long: `Print the batches of segment files (.log), and the entries of offset indexes
(.index) and time indexes (.timeindex), of this broker or of Apache Kafka. With
--records the records too. No server is needed; files may be in use.`,
		Example: `  moldau debug dump-log data/log/orders-0/00000000000000000000.log
  moldau debug dump-log --records -o ndjson data/log/orders-0/*.log | jq .`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			w := bufio.NewWriterSize(a.out, 64<<10)
			for _, path := range args {
				if err := a.dump(w, path, records); err != nil {
					return errors.Join(fmt.Errorf("%s: %w", path, err), w.Flush())
				}
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&records, "records", false, "print records too")
	cmd.Flags().VarP(&a.format, "output", "o", "the form of the output: table or ndjson")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "ndjson"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (a *app) dump(w io.Writer, path string, records bool) error {
	if a.format != output.Table && a.format != output.NDJSON {
		return exit.Usagef("-o %s: dump-log prints table or ndjson", a.format)
	}
	line := func(v fmt.Stringer) error {
		if a.format == output.NDJSON {
			enc := json.NewEncoder(w)
			enc.SetEscapeHTML(false)
			return enc.Encode(v)
		}
		_, err := io.WriteString(w, v.String()+"\n")
		return err
	}
	if a.format == output.Table {
		fmt.Fprintf(w, "# %s\n", path)
	}
	switch {
	case strings.HasSuffix(path, ".index"):
		entries, err := logfile.ReadOffsetIndex(path)
		for _, e := range entries {
			err = errors.Join(err, line(e))
		}
		return err
	case strings.HasSuffix(path, ".timeindex"):
		entries, err := logfile.ReadTimeIndex(path)
		for _, e := range entries {
			err = errors.Join(err, line(e))
		}
		return err
	}
	return logfile.Dump(path, records, line)
}

func newVerifyLog(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify-log DIR",
		Short: "Check every byte of the segments and indexes below a directory",
		Long: `Check checksums, records, the order of offsets, and that indexes lead to
batches that are there, for every partition below a directory. Nothing is
changed. The exit code is 3 when something is wrong. In a log that a server is
writing to, the last batch may be found half written.`,
		Example: `  moldau debug verify-log data/log`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			report, err := logfile.Verify(args[0])
			if err != nil {
				return err
			}
			err = printValue(a, report, func(w io.Writer) error {
				for _, f := range report.Findings {
					fmt.Fprintf(w, "%s: position %d: %s\n", f.File, f.Position, f.Problem)
				}
				_, err := fmt.Fprintf(w, "%d segments, %d batches, %d records, %d bytes, %d findings\n",
					report.Segments, report.Batches, report.Records, report.Bytes, len(report.Findings))
				return err
			})
			if err == nil && len(report.Findings) > 0 {
				err = &exit.Error{Code: exit.Unhealthy, Err: fmt.Errorf("%d findings", len(report.Findings)), Next: "moldau debug dump-log FILE"}
			}
			return err
		},
	}
	a.withFormat(cmd)
	return cmd
}

// apiRow is one API that a broker offers.
type apiRow struct {
	Broker int32  `json:"broker"`
	Key    int16  `json:"key"`
	Name   string `json:"name"`
	Min    int16  `json:"min_version"`
	Max    int16  `json:"max_version"`
}

var apiList = output.List[apiRow]{
	Columns: []output.Column[apiRow]{
		{Head: "BROKER", Text: func(r apiRow) string { return strconv.Itoa(int(r.Broker)) }},
		{Head: "KEY", Text: func(r apiRow) string { return strconv.Itoa(int(r.Key)) }},
		{Head: "API", Text: func(r apiRow) string { return r.Name }},
		{Head: "MIN", Text: func(r apiRow) string { return strconv.Itoa(int(r.Min)) }},
		{Head: "MAX", Text: func(r apiRow) string { return strconv.Itoa(int(r.Max)) }},
	},
	Name: func(r apiRow) string { return r.Name },
}

func newAPIVersions(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "api-versions",
		Short: "Show which Kafka APIs the brokers offer, in which versions",
		Example: `  moldau debug api-versions
  moldau debug api-versions -o 'template={{.name}} {{.max_version}}'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.admin(cmd, func(ctx context.Context, adm *kadm.Client) error {
				brokers, err := adm.ApiVersions(ctx)
				if err != nil {
					return err
				}
				var rows []apiRow
				for _, b := range brokers.Sorted() {
					if b.Err != nil {
						return fmt.Errorf("broker %d: %w", b.NodeID, b.Err)
					}
					b.EachKeySorted(func(key, minVersion, maxVersion int16) {
						rows = append(rows, apiRow{b.NodeID, key, kmsg.NameForKey(key), minVersion, maxVersion})
					})
				}
				return apiList.Print(a.out, a.format, slices.Clip(rows))
			})
		},
	}
	a.withCluster(cmd)
	a.withFormat(cmd)
	return cmd
}
