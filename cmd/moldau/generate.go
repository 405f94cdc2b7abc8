package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"moldau/cmd/moldau/internal/node"
	"moldau/registry/bufpush"
	registryhttp "moldau/registry/http"
	"moldau/registry/serde"
)

func newGenerate(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write reference pages",
	}
	cmd.AddCommand(newGenerateDocs(a))
	return cmd
}

func newGenerateDocs(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "docs DIR",
		Short:   "Write the pages about commands and settings of this binary",
		Example: `  moldau generate docs docs`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, page := range []struct {
				name  string
				write func(io.Writer) error
			}{
				{"cli.md", func(w io.Writer) error { return writeCommands(w, cmd.Root()) }},
				{"settings.md", node.WriteSettings},
				{"registry.md", func(w io.Writer) error {
					return errors.Join(registryhttp.WriteReference(w), bufpush.WriteReference(w), serde.WriteReference(w))
				}},
			} {
				var b strings.Builder
				if err := page.write(&b); err != nil {
					return err
				}
				path := filepath.Join(args[0], page.name)
				if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil { //nolint:gosec // a page for everybody
					return err
				}
				fmt.Fprintln(a.err, path)
			}
			return nil
		},
	}
}

// writeCommands writes one section for each command.
func writeCommands(w io.Writer, root *cobra.Command) error {
	fmt.Fprintf(w, "# Commands\n\nMade by `make docs` from the commands' own help.\n\n%s\n", root.Long)
	return eachCommand(root, func(c *cobra.Command) error {
		fmt.Fprintf(w, "\n## %s\n\n%s.\n", c.CommandPath(), c.Short)
		if c.Long != "" {
			fmt.Fprintf(w, "\n```text\n%s\n```\n", c.Long)
		}
		fmt.Fprintf(w, "\nUsage: `%s`\n", c.UseLine())
		if c.Example != "" {
			fmt.Fprintf(w, "\n```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(c.Example, "  "), "\n  ", "\n"))
		}
		rows := 0
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			if rows == 0 {
				fmt.Fprintf(w, "\n| flag | default | what |\n|---|---|---|\n")
			}
			rows++
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			fmt.Fprintf(w, "| `%s` | %s | %s |\n", name, cell(f.DefValue), strings.ReplaceAll(f.Usage, "|", `\|`))
		})
		return nil
	})
}

func cell(s string) string {
	if s == "" || s == "[]" {
		return ""
	}
	return "`" + s + "`"
}

func eachCommand(c *cobra.Command, f func(*cobra.Command) error) error {
	for _, sub := range c.Commands() {
		if sub.Hidden || sub.Name() == "help" || sub.Name() == "completion" {
			continue
		}
		if sub.Runnable() && sub.Annotations[gathers] == "" {
			if err := f(sub); err != nil {
				return err
			}
		}
		if err := eachCommand(sub, f); err != nil {
			return err
		}
	}
	return nil
}
