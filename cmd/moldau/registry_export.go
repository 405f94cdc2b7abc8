package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"moldau/registry/serde"
)

func newRegistryExport(a *app, f *registryFlags) *cobra.Command {
	var dir, prefix string
	var schemasOnly bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write all that a registry holds, for import elsewhere",
		Long: `Write all that a registry holds: the schemas of every context with their ids and
versions, also those that are softly deleted, and the configs and modes of subjects,
contexts and the whole. It goes to standard output as one line of JSON for each, or
with --dir to a file for each. registry import takes both.`,
		Example: `  moldau registry export > registry.ndjson
  moldau registry export --dir backup --registry http://old:8081
  moldau registry export --prefix orders --schemas-only`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				all, err := fetchArchive(ctx, s, prefix, !schemasOnly)
				if err != nil {
					return err
				}
				if dir == "" {
					return all.write(a.out)
				}
				if err := all.writeDir(dir); err != nil {
					return err
				}
				fmt.Fprintf(a.err, "%d entries in %s\n", len(all), dir)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write a file for each entry into this directory")
	cmd.Flags().StringVar(&prefix, "prefix", "", "only subjects whose names begin so; :.name: for those of a context")
	cmd.Flags().BoolVar(&schemasOnly, "schemas-only", false, "without configs and modes")
	must(cmd.MarkFlagDirname("dir"))
	return cmd
}
