package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moldau/cmd/moldau/internal/client"
	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/output"
)

// streams are the three files of a process. Data goes to out, everything else
// to err.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// app is what the commands share: the streams and the flags they have in
// common.
type app struct {
	streams
	cluster client.Flags
	format  output.Format
	now     func() time.Time
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, s streams, args []string) int {
	root := newRoot(s)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return exit.Report(s.err, cmd.CommandPath(), err)
}

// newRoot builds the tree of commands. It must stay cheap: every start of the
// binary pays for it.
func newRoot(s streams) *cobra.Command {
	a := &app{streams: s, format: output.Table, now: time.Now}
	a.cluster.Version = buildVersion().Version
	root := &cobra.Command{
		Use:   "moldau",
		Short: "A Kafka-compatible streaming platform in one binary",
		Long: `Moldau is a Kafka-compatible streaming platform in one binary.

Start a server:     moldau serve
Write a record:     echo hello | moldau topic produce greetings
Read the records:   moldau topic consume greetings

The tools work against any Kafka cluster: -b host:port, or MOLDAU_BROKERS.

Exit codes: 0 done, 1 failed, 2 wrong command line, 3 unhealthy or no answer in
time, 4 denied, 5 not found.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usagef("%w", err) })
	root.AddCommand(newServe(a), newTopic(a), newGroup(a), newCluster(a), newRegistry(a), newDebug(a), newBench(a), newGenerate(a), newVersion(a))
	root.InitDefaultCompletionCmd()
	refuseUnknown(root)
	return root
}

// gathers annotates a command that does nothing but gather others.
const gathers = "gathers"

// refuseUnknown makes a command that only gathers others refuse a name that is none of theirs; alone it shows its help.
func refuseUnknown(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		refuseUnknown(c)
	}
	if !cmd.HasSubCommands() || cmd.Runnable() && cmd.HasParent() {
		return
	}
	cmd.Annotations = map[string]string{gathers: "others"}
	cmd.SuggestionsMinimumDistance = 2
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		hint := ""
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			hint = "; did you mean " + strings.Join(near, " or ") + "?"
		}
		return exit.Usagef("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// must is for errors that only a mistake in this program can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
