package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/node"
	"moldau/internal/config"
)

// serveFlags are the flags of `serve` and of `serve check-config`.
type serveFlags struct {
	dataDir   string
	config    string
	sets      []string
	roles     []string
	addresses string
	insecure  bool
}

func newServe(a *app) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start a server",
		Long: `Start a server with every role that exists, or with those named by --roles.

Settings are Kafka's own keys where Kafka has one. A flag wins over the
environment, the environment over the file, the file over the default:

  --set log.retention.ms=60000
  KAFKA_LOG_RETENTION_MS=60000       as the apache/kafka image reads it
  --config server.properties         or YAML with the same dotted keys

Everything listens on this machine only unless a setting says otherwise.`,
		Example: `  moldau serve
  moldau serve --data-dir /var/lib/moldau --config /etc/moldau/server.properties
  moldau serve --set listeners=PLAINTEXT://127.0.0.1:0 --addresses-file addresses.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			err := node.Run(ctx, node.Options{
				Inputs: f.inputs(cmd), Roles: f.roles, AddressesFile: f.addresses, Insecure: f.insecure,
				Version: buildVersion().Version, Stdout: a.out, Stderr: a.err,
			})
			var wrong node.SettingsError
			if errors.As(err, &wrong) {
				return &exit.Error{Code: exit.Usage, Err: err, Next: "moldau serve check-config"}
			}
			return err
		},
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.dataDir, "data-dir", "", "the directory for all data (default $XDG_STATE_HOME/moldau); the key data.dir")
	flags.StringVarP(&f.config, "config", "c", "", "a properties or YAML file with settings")
	flags.StringArrayVar(&f.sets, "set", nil, "one setting, key=value; may be repeated")
	flags.BoolVar(&f.insecure, "insecure-no-auth", false, "permit listeners without authentication that other machines can reach")
	cmd.Flags().StringSliceVar(&f.roles, "roles", nil, "the roles to start, separated by commas: "+strings.Join(node.Roles, ",")+" (default all)")
	cmd.Flags().StringVar(&f.addresses, "addresses-file", "", "write what listens where to this file, as JSON")
	must(cmd.MarkPersistentFlagDirname("data-dir"))
	must(cmd.MarkPersistentFlagFilename("config", "properties", "yaml", "yml", "json"))
	must(cmd.RegisterFlagCompletionFunc("roles", cobra.FixedCompletions(node.Roles, cobra.ShellCompDirectiveNoFileComp)))
	cmd.AddCommand(newCheckConfig(a, &f))
	return cmd
}

func (f *serveFlags) inputs(cmd *cobra.Command) config.Inputs {
	sets := f.sets
	if cmd.Flags().Changed("data-dir") {
		sets = append(sets, "data.dir="+f.dataDir)
	}
	return config.Inputs{File: f.config, Environ: os.Environ(), Sets: sets}
}

func newCheckConfig(a *app, f *serveFlags) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "check-config",
		Short: "Show every setting with the place it comes from, without starting",
		Long: `Show the settings that a server would start with and where each comes from,
and the keys that are unknown or have no effect. The exit code is 1 when the
server would not start, or when a key is unknown.`,
		Example: `  moldau serve check-config --config server.properties`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := node.Check(f.inputs(cmd), f.insecure)
			if settings == nil {
				return err
			}
			a.printSettings(settings, all)
			if err == nil && len(settings.Unknown()) > 0 {
				err = fmt.Errorf("%d unknown keys", len(settings.Unknown()))
			}
			return err
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "show defaults too")
	return cmd
}

func (a *app) printSettings(settings *config.Settings, all bool) {
	w := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tVALUE\tSOURCE")
	for _, v := range settings.Values() {
		if v.Ignored != "" {
			fmt.Fprintf(w, "%s\t%s\t%s; no effect: %s\n", v.Key, v.Value, v.Source, v.Ignored)
		} else if all || v.Source.Kind != config.Default {
			fmt.Fprintf(w, "%s\t%s\t%s\n", v.Key, v.Value, v.Source)
		}
	}
	_ = w.Flush() // to the terminal
	for _, line := range settings.Unknown() {
		fmt.Fprintln(a.err, "warning: "+line)
	}
}

// untilSignal returns a context that ends with the first SIGINT or SIGTERM. A
// second one ends the process at once, as it would without us.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			signal.Stop(signals)
			cancel()
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}
