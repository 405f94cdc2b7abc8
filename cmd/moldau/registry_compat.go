package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"moldau/cmd/moldau/internal/exit"
	"moldau/registry/serde"
)

// compatibilityLevels are the levels that a subject can have.
var compatibilityLevels = []string{
	"BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE", "NONE",
}

func newRegistryCompat(a *app, f *registryFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compat",
		Short: "Show, set and check compatibility",
	}
	cmd.AddCommand(newCompatGet(a, f), newCompatSet(a, f), newCompatCheck(a, f))
	return cmd
}

func newCompatGet(a *app, f *registryFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get [SUBJECT]",
		Short: "Show the compatibility level that holds, for a subject or for all",
		Example: `  moldau registry compat get
  moldau registry compat get orders-value -o json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: f.completeSubject(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				var raw json.RawMessage
				subject := optional(args)
				err := s.Do(ctx, "look up the compatibility of "+scopeName(subject), http.MethodGet, scopePath("config", subject), nil, &raw,
					"defaultToGlobal", "true")
				if err != nil {
					return err
				}
				return printValue(a, raw, func(w io.Writer) error {
					var config struct {
						Level string `json:"compatibilityLevel"`
					}
					if err := json.Unmarshal(raw, &config); err != nil {
						return err
					}
					_, err := fmt.Fprintln(w, config.Level)
					return err
				})
			})
		},
	}
	a.withFormat(cmd)
	return cmd
}

func newCompatSet(a *app, f *registryFlags) *cobra.Command {
	var c change
	cmd := &cobra.Command{
		Use:   "set LEVEL [SUBJECT]",
		Short: "Set the compatibility level of a subject or for all",
		Long:  "Set the compatibility level of a subject or for all: " + strings.Join(compatibilityLevels, ", ") + ".\nDEFAULT removes that of a subject.",
		Example: `  moldau registry compat set FULL_TRANSITIVE orders-value
  moldau registry compat set BACKWARD -y`,
		Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return compatibilityLevels, cobra.ShellCompDirectiveNoFileComp
			}
			return f.completeSubject(false)(cmd, args, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			level, subject := strings.ToUpper(args[0]), optional(args[1:])
			if level != "DEFAULT" && !slices.Contains(compatibilityLevels, level) {
				return exit.Usagef("%s is none of the levels %s", args[0], strings.Join(compatibilityLevels, ", "))
			}
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				ok, err := a.agreed(c, fmt.Sprintf("set the compatibility of %s to %s", scopeName(subject), level))
				if !ok {
					return err
				}
				what := "set the compatibility of " + scopeName(subject)
				if level == "DEFAULT" {
					err = s.Do(ctx, what, http.MethodDelete, scopePath("config", subject), nil, nil)
				} else {
					err = s.Do(ctx, what, http.MethodPut, scopePath("config", subject), map[string]string{"compatibility": level}, nil)
				}
				o := registryOutcome{a: a}
				o.add(scopeName(subject), level, err)
				return o.err
			})
		},
	}
	c.bind(cmd)
	return cmd
}

func newCompatCheck(a *app, f *registryFlags) *cobra.Command {
	var file schemaFile
	var version string
	cmd := &cobra.Command{
		Use:   "check SUBJECT",
		Short: "Tell whether a schema could be registered next",
		Long: `Tell whether a schema could be registered next, and if not, why not. It is held
against the versions that the subject's level asks for, or against one version.
Exit code 1 where it is not compatible.`,
		Example: `  moldau registry compat check orders-value --schema-file order.avsc
  moldau registry compat check orders-value --version 3 --schema-file order.avsc`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.completeSubject(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			schema, err := file.read(a.in)
			if err != nil {
				return err
			}
			if version != "" && version != "latest" && !number(version) {
				return exit.Usagef("--version %s: want a number or latest", version)
			}
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				reasons, err := incompatible(ctx, s, args[0], version, schemaRequest(&schema), file.normalize)
				if err != nil {
					return err
				}
				type verdict struct {
					Compatible bool     `json:"compatible"`
					Reasons    []string `json:"reasons"`
				}
				err = printValue(a, verdict{len(reasons) == 0, append([]string{}, reasons...)}, func(w io.Writer) error {
					if len(reasons) > 0 {
						return nil // the error tells
					}
					_, err := fmt.Fprintln(w, "compatible")
					return err
				})
				if err == nil && len(reasons) > 0 {
					err = refusedBy(args[0], reasons)
				}
				return err
			})
		},
	}
	file.bind(cmd)
	must(cmd.MarkFlagRequired("schema-file"))
	cmd.Flags().StringVar(&version, "version", "", "check against this version only; a number or latest")
	a.withFormat(cmd)
	return cmd
}
