package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"moldau/cmd/moldau/internal/output"
	"moldau/registry/serde"
)

func newRegistrySubject(a *app, f *registryFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "subject",
		Short: "List, show and delete subjects",
	}
	cmd.AddCommand(newSubjectList(a, f), newSubjectGet(a, f), newSubjectDelete(a, f))
	return cmd
}

// subjectRow is one line of `registry subject list`.
type subjectRow struct {
	Subject string `json:"subject"`
	Deleted bool   `json:"deleted"`
}

var subjectRows = output.List[subjectRow]{
	Columns: []output.Column[subjectRow]{
		{Head: "SUBJECT", Text: func(r subjectRow) string { return r.Subject }},
		{Head: "DELETED", Wide: true, Text: func(r subjectRow) string { return fmt.Sprint(r.Deleted) }},
	},
	Name: func(r subjectRow) string { return r.Subject },
}

func newSubjectList(a *app, f *registryFlags) *cobra.Command {
	var prefix string
	var deleted bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List subjects",
		Example: `  moldau registry subject list
  moldau registry subject list --prefix orders --deleted -o wide
  moldau registry subject list --prefix :.staging:`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				names, err := subjects(ctx, s, prefix, false)
				if err != nil {
					return err
				}
				rows, alive := []subjectRow{}, map[string]bool{}
				for _, n := range names {
					alive[n] = true
				}
				if deleted {
					if names, err = subjects(ctx, s, prefix, true); err != nil {
						return err
					}
				}
				for _, n := range names {
					rows = append(rows, subjectRow{n, !alive[n]})
				}
				return subjectRows.Print(a.out, a.format, rows)
			})
		},
	}
	cmd.Flags().StringVar(&prefix, "prefix", "", "only subjects whose names begin so; :.name: for those of a context, :*: for those of all")
	cmd.Flags().BoolVar(&deleted, "deleted", false, "those that are softly deleted too")
	a.withFormat(cmd)
	return cmd
}

func subjects(ctx context.Context, s *serde.Serde, prefix string, deleted bool) ([]string, error) {
	var names []string
	err := s.Do(ctx, "list the subjects", http.MethodGet, "/subjects", nil, &names, "subjectPrefix", prefix, "deleted", flagText(deleted))
	return names, err
}

// flagText is a parameter that is true, or left out.
func flagText(b bool) string {
	if b {
		return "true"
	}
	return ""
}

// subjectDetails is what `registry subject get` shows.
type subjectDetails struct {
	Subject       string `json:"subject"`
	Versions      []int  `json:"versions"`
	LatestID      int    `json:"latest_id"`
	Type          string `json:"type"`
	Compatibility string `json:"compatibility"`
	Mode          string `json:"mode"`
}

func newSubjectGet(a *app, f *registryFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "get SUBJECT",
		Aliases:           []string{"describe"},
		Short:             "Show a subject: its versions, compatibility level and mode",
		Example:           `  moldau registry subject get orders-value`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.completeSubject(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				d, err := describeSubject(ctx, s, args[0])
				if err != nil {
					return err
				}
				return printValue(a, d, d.print)
			})
		},
	}
	a.withFormat(cmd)
	return cmd
}

func describeSubject(ctx context.Context, s *serde.Serde, subject string) (*subjectDetails, error) {
	d := &subjectDetails{Subject: subject}
	get := func(path string, into any, params ...string) error {
		return s.Do(ctx, "look up subject "+subject, http.MethodGet, path, nil, into, params...)
	}
	if err := get(subjectPath(subject, "versions"), &d.Versions); err != nil {
		return nil, err
	}
	var last registered
	if err := get(subjectPath(subject, "versions", "latest"), &last); err != nil {
		return nil, err
	}
	d.LatestID, d.Type = last.ID, last.typeName()
	var config struct {
		Level string `json:"compatibilityLevel"`
	}
	if err := get(scopePath("config", subject), &config, "defaultToGlobal", "true"); err != nil {
		return nil, err
	}
	var mode struct {
		Mode string `json:"mode"`
	}
	if err := get(scopePath("mode", subject), &mode, "defaultToGlobal", "true"); err != nil {
		return nil, err
	}
	d.Compatibility, d.Mode = config.Level, mode.Mode
	return d, nil
}

func (d *subjectDetails) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	versions := strings.Trim(fmt.Sprint(d.Versions), "[]")
	fmt.Fprintf(t, "subject\t%s\nversions\t%s\nlatest id\t%d\ntype\t%s\ncompatibility\t%s\nmode\t%s\n",
		d.Subject, versions, d.LatestID, d.Type, d.Compatibility, d.Mode)
	return t.Flush()
}

func newSubjectDelete(a *app, f *registryFlags) *cobra.Command {
	var c change
	var permanent bool
	cmd := &cobra.Command{
		Use:     "delete SUBJECT...",
		Aliases: []string{"rm"},
		Short:   "Delete subjects, softly or for good",
		Long: `Delete subjects with all their versions. A soft deletion takes them out of every
list; readers still find their schemas by id. With --permanent they are gone for
good; what is not softly deleted yet is so before.`,
		Example: `  moldau registry subject delete orders-old-value -y
  moldau registry subject delete orders-old-value --permanent`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: f.completeSubject(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				o := registryOutcome{a: a}
				plan := make([]string, len(args))
				for i, n := range args {
					plan[i] = "delete " + howDeleted(permanent) + ": subject " + n
				}
				ok, err := a.agreed(c, plan...)
				if !ok {
					return err
				}
				for _, n := range args {
					o.add(n, "deleted "+howDeleted(permanent), deleteOne(ctx, s, "subject "+n, subjectPath(n), permanent))
				}
				return o.err
			})
		},
	}
	cmd.Flags().BoolVar(&permanent, "permanent", false, "for good")
	c.bind(cmd)
	return cmd
}

func howDeleted(permanent bool) string {
	if permanent {
		return "for good"
	}
	return "softly"
}

// The codes that say that something is softly deleted already.
const (
	codeSubjectDeleted = 40404
	codeVersionDeleted = 40406
)

// deleteOne deletes a subject or a version, softly before it is for good.
func deleteOne(ctx context.Context, s *serde.Serde, what, path string, permanent bool) error {
	err := s.Do(ctx, "delete "+what, http.MethodDelete, path, nil, nil)
	if !permanent {
		return err
	}
	if code := registryCode(err); err != nil && code != codeSubjectDeleted && code != codeVersionDeleted {
		return err
	}
	return s.Do(ctx, "delete "+what+" for good", http.MethodDelete, path, nil, nil, "permanent", "true")
}

// registryOutcome prints what happened to each subject or version and keeps the first error for the exit code.
type registryOutcome struct {
	a   *app
	err error
}

func (o *registryOutcome) add(name, done string, err error) {
	switch {
	case err == nil:
		fmt.Fprintf(o.a.err, "%s: %s\n", name, done)
	case o.err == nil:
		o.err = explainRegistry(err)
	default:
		fmt.Fprintf(o.a.err, "error: %v\n", err)
	}
}
