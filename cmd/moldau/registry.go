package main

import (
	"time"

	"github.com/spf13/cobra"
)

func newRegistry(a *app) *cobra.Command {
	f := &registryFlags{version: a.cluster.Version}
	cmd := &cobra.Command{
		Use:   "registry",
		Short: "List, register, compare and move schemas; encode and decode by them",
		Long: `List, register, compare and move schemas; encode and decode by them. The registry
is ours or any other that speaks Confluent's protocol: --registry, or
MOLDAU_REGISTRY. SUBJECT@VERSION names a version, SUBJECT alone the latest.`,
	}
	flags := cmd.PersistentFlags()
	f.bind(flags)
	flags.DurationVar(&f.timeout, "timeout", 10*time.Second, "how long to wait for one answer of the registry")
	cmd.AddCommand(
		newRegistrySubject(a, f), newRegistrySchema(a, f), newRegistryCompat(a, f), newRegistryMode(a, f),
		newRegistryEncode(a, f), newRegistryDecode(a, f), newRegistryPush(a, f), newRegistryExport(a, f), newRegistryImport(a, f),
	)
	return cmd
}
