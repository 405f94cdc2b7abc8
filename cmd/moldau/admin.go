package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/output"
)

// withCluster gives a command and those below it the flags that name a cluster.
func (a *app) withCluster(cmd *cobra.Command) {
	a.cluster.Bind(cmd.PersistentFlags())
}

// withFormat gives a command the flag -o.
func (a *app) withFormat(cmd *cobra.Command) {
	cmd.Flags().VarP(&a.format, "output", "o", "the form of the output: "+strings.Join(output.Formats, ", "))
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(output.Formats, cobra.ShellCompDirectiveNoFileComp)))
}

// admin runs f with an administration client, whose requests have the time of
// --timeout each.
func (a *app) admin(cmd *cobra.Command, f func(context.Context, *kadm.Client) error) error {
	cl, err := a.cluster.Connect()
	if err != nil {
		return err
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	adm.SetTimeoutMillis(int32(min(a.cluster.Timeout.Milliseconds(), 1<<31-1)))
	return a.cluster.Explain(f(cmd.Context(), adm))
}

// withClient runs f with a client for records; extra are its options. Only the
// context of the command limits it.
func (a *app) withClient(cmd *cobra.Command, f func(context.Context, *kgo.Client) error, extra ...kgo.Opt) error {
	cl, err := a.cluster.Connect(extra...)
	if err != nil {
		return err
	}
	defer cl.Close()
	return a.cluster.Explain(f(cmd.Context(), cl))
}

// change are the flags of every command that changes something.
type change struct {
	dryRun bool
	yes    bool
}

func (c *change) bind(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "do it without asking")
}

// agreed prints the plan and asks, unless -y answers. With --dry-run it prints
// the plan and answers false without an error.
func (a *app) agreed(c change, plan ...string) (bool, error) {
	for _, line := range plan {
		fmt.Fprintln(a.err, line)
	}
	switch {
	case c.dryRun:
		fmt.Fprintln(a.err, "dry run: nothing was done")
		return false, nil
	case c.yes:
		return true, nil
	}
	fmt.Fprint(a.err, "go on? [y/N] ")
	answer, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	if err != nil {
		fmt.Fprintln(a.err)
		return false, exit.Usagef("nobody answered; add -y to go on without asking")
	}
	return false, &exit.Error{Code: exit.Failed, Err: errors.New("nothing was done")}
}
