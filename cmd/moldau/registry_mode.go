package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"moldau/cmd/moldau/internal/exit"
	"moldau/registry/serde"
)

// registryModes are the modes that can be set.
var registryModes = []string{"READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD"}

func newRegistryMode(a *app, f *registryFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mode",
		Short: "Show and set what may be done with subjects",
	}
	cmd.AddCommand(newModeGet(a, f), newModeSet(a, f))
	return cmd
}

// modeValue is a mode as the registry has it.
type modeValue struct {
	Mode string `json:"mode"`
}

func newModeGet(a *app, f *registryFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "get [SUBJECT]",
		Short:             "Show the mode that holds, for a subject or for all",
		Example:           `  moldau registry mode get orders-value`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: f.completeSubject(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				var m modeValue
				subject := optional(args)
				err := s.Do(ctx, "look up the mode of "+scopeName(subject), http.MethodGet, scopePath("mode", subject), nil, &m, "defaultToGlobal", "true")
				if err != nil {
					return err
				}
				return printValue(a, m, func(w io.Writer) error {
					_, err := fmt.Fprintln(w, m.Mode)
					return err
				})
			})
		},
	}
	a.withFormat(cmd)
	return cmd
}

func newModeSet(a *app, f *registryFlags) *cobra.Command {
	var c change
	var force bool
	cmd := &cobra.Command{
		Use:   "set MODE [SUBJECT]",
		Short: "Set the mode of a subject or for all",
		Long: "Set the mode of a subject or for all: " + strings.Join(registryModes, ", ") + ".\n" +
			"DEFAULT removes that of a subject. IMPORT needs a subject without versions, or --force.",
		Example: `  moldau registry mode set READONLY orders-value
  moldau registry mode set DEFAULT orders-value -y`,
		Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return registryModes, cobra.ShellCompDirectiveNoFileComp
			}
			return f.completeSubject(false)(cmd, args, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			mode, subject := strings.ToUpper(args[0]), optional(args[1:])
			if mode != "DEFAULT" && !slices.Contains(registryModes, mode) {
				return exit.Usagef("%s is none of the modes %s", args[0], strings.Join(registryModes, ", "))
			}
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				ok, err := a.agreed(c, fmt.Sprintf("set the mode of %s to %s", scopeName(subject), mode))
				if !ok {
					return err
				}
				if mode == "DEFAULT" {
					mode = ""
				}
				o := registryOutcome{a: a}
				o.add(scopeName(subject), args[0], setMode(ctx, s, subject, mode, force))
				return o.err
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also where there are versions")
	c.bind(cmd)
	return cmd
}

// setMode sets the mode of a subject, or the global one; an empty mode removes it.
func setMode(ctx context.Context, s *serde.Serde, subject, mode string, force bool) error {
	what := "set the mode of " + scopeName(subject)
	if mode == "" {
		return s.Do(ctx, what, http.MethodDelete, scopePath("mode", subject), nil, nil)
	}
	return s.Do(ctx, what, http.MethodPut, scopePath("mode", subject), modeValue{mode}, nil, "force", flagText(force))
}
