package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/sr"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/output"
	"moldau/registry/serde"
)

func newRegistrySchema(a *app, f *registryFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "List, show, register, look up, compare and delete schemas",
	}
	cmd.AddCommand(
		newSchemaList(a, f), newSchemaGet(a, f), newSchemaCreate(a, f), newSchemaLookup(a, f), newSchemaDiff(a, f), newSchemaDelete(a, f),
	)
	return cmd
}

// registered is a version of a subject as the registry answers it. Metadata and rules are kept as they are.
type registered struct {
	Subject    string            `json:"subject,omitempty"`
	Version    int               `json:"version,omitempty"`
	ID         int               `json:"id,omitempty"`
	GUID       string            `json:"guid,omitempty"`
	SchemaType string            `json:"schemaType,omitempty"`
	Schema     string            `json:"schema,omitempty"`
	References []serde.Reference `json:"references,omitempty"`
	Metadata   json.RawMessage   `json:"metadata,omitempty"`
	RuleSet    json.RawMessage   `json:"ruleSet,omitempty"`
}

// typeName is the format, which registries leave out for Avro.
func (r *registered) typeName() string {
	if r.SchemaType == "" {
		return "AVRO"
	}
	return r.SchemaType
}

// pretty is the text for people: JSON in lines.
func (r *registered) pretty() string {
	var b bytes.Buffer
	if r.typeName() == "PROTOBUF" || json.Indent(&b, []byte(r.Schema), "", "  ") != nil {
		return r.Schema
	}
	return b.String()
}

// schemaRow is one line of `registry schema list`.
type schemaRow struct {
	Subject    string `json:"subject"`
	Version    int    `json:"version"`
	ID         int    `json:"id"`
	Type       string `json:"type"`
	GUID       string `json:"guid"`
	References int    `json:"references"`
}

var schemaRows = output.List[schemaRow]{
	Columns: []output.Column[schemaRow]{
		{Head: "SUBJECT", Text: func(r schemaRow) string { return r.Subject }},
		{Head: "VERSION", Text: func(r schemaRow) string { return strconv.Itoa(r.Version) }},
		{Head: "ID", Text: func(r schemaRow) string { return strconv.Itoa(r.ID) }},
		{Head: "TYPE", Text: func(r schemaRow) string { return r.Type }},
		{Head: "REFERENCES", Wide: true, Text: func(r schemaRow) string { return strconv.Itoa(r.References) }},
		{Head: "GUID", Wide: true, Text: func(r schemaRow) string { return r.GUID }},
	},
	Name: func(r schemaRow) string { return showVersion(r.Subject, r.Version) },
}

func newSchemaList(a *app, f *registryFlags) *cobra.Command {
	var deleted, newest bool
	cmd := &cobra.Command{
		Use:     "list [PREFIX]",
		Aliases: []string{"ls"},
		Short:   "List schemas with their subjects and versions",
		Example: `  moldau registry schema list
  moldau registry schema list orders --latest -o json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: f.completeSubject(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				all, err := listSchemas(ctx, s, optional(args), deleted, newest)
				if err != nil {
					return err
				}
				var rows []schemaRow
				for i := range all {
					r := &all[i]
					rows = append(rows, schemaRow{r.Subject, r.Version, r.ID, r.typeName(), r.GUID, len(r.References)})
				}
				return schemaRows.Print(a.out, a.format, rows)
			})
		},
	}
	cmd.Flags().BoolVar(&deleted, "deleted", false, "those that are softly deleted too")
	cmd.Flags().BoolVar(&newest, "latest", false, "only the latest version of each subject")
	a.withFormat(cmd)
	return cmd
}

// listSchemas lists schemas in one request, or in many where a registry does not know that one.
func listSchemas(ctx context.Context, s *serde.Serde, prefix string, deleted, newest bool) ([]registered, error) {
	var all []registered
	err := s.Do(ctx, "list the schemas", http.MethodGet, "/schemas", nil, &all,
		"subjectPrefix", prefix, "deleted", flagText(deleted), "latestOnly", flagText(newest))
	var answer *sr.ResponseError
	if !errors.As(err, &answer) || answer.StatusCode != http.StatusNotFound && answer.StatusCode != http.StatusMethodNotAllowed {
		return all, err
	}
	names, err := subjects(ctx, s, prefix, deleted)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, prefix) })
	entries, err := inParallel(ctx, names, func(ctx context.Context, subject string) (archive, error) {
		return fetchSubject(ctx, s, subject)
	})
	entries.sort()
	entries = slices.DeleteFunc(entries, func(e archiveEntry) bool { return e.Deleted && !deleted })
	for i := range entries {
		if last := i+1 == len(entries) || entries[i+1].Subject != entries[i].Subject; last || !newest {
			all = append(all, entries[i].registered)
		}
	}
	return all, err
}

func newSchemaGet(a *app, f *registryFlags) *cobra.Command {
	var id int
	var guid string
	var deleted bool
	cmd := &cobra.Command{
		Use:   "get [SUBJECT[@VERSION]]",
		Short: "Show a schema by its subject and version, its id or its GUID",
		Long: `Show a schema: its text as it is stored, or with -o json everything that the
registry says of it.`,
		Example: `  moldau registry schema get orders-value
  moldau registry schema get orders-value@3 -o json
  moldau registry schema get --id 7`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: f.completeSubject(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (id != 0 || guid != "") || len(args) == 0 && (id == 0) == (guid == "") {
				return exit.Usagef("want one of SUBJECT[@VERSION], --id and --guid")
			}
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				var found registered
				var err error
				switch {
				case id != 0:
					err = s.Do(ctx, fmt.Sprintf("look up the schema with the id %d", id), http.MethodGet, "/schemas/ids/"+strconv.Itoa(id), nil, &found)
					found.ID = id
				case guid != "":
					err = s.Do(ctx, "look up the schema "+guid, http.MethodGet, "/schemas/guids/"+guid, nil, &found)
				default:
					found, err = schemaAt(ctx, s, args[0], deleted)
				}
				if err != nil {
					return err
				}
				found.SchemaType = found.typeName()
				return printValue(a, found, func(w io.Writer) error {
					_, err := fmt.Fprintln(w, found.Schema)
					return err
				})
			})
		},
	}
	cmd.Flags().IntVar(&id, "id", 0, "the schema with this id")
	cmd.Flags().StringVar(&guid, "guid", "", "the schema with this GUID")
	cmd.Flags().BoolVar(&deleted, "deleted", false, "also if it is softly deleted")
	a.withFormat(cmd)
	return cmd
}

// schemaAt looks up SUBJECT or SUBJECT@VERSION.
func schemaAt(ctx context.Context, s *serde.Serde, name string, deleted bool) (registered, error) {
	subject, version := subjectVersion(name)
	var found registered
	err := s.Do(ctx, "look up "+subject+"@"+version, http.MethodGet, subjectPath(subject, "versions", version), nil, &found,
		"deleted", flagText(deleted))
	return found, err
}

func newSchemaDelete(a *app, f *registryFlags) *cobra.Command {
	var c change
	var permanent bool
	cmd := &cobra.Command{
		Use:     "delete SUBJECT@VERSION...",
		Aliases: []string{"rm"},
		Short:   "Delete versions of subjects, softly or for good",
		Example: `  moldau registry schema delete orders-value@2 -y
  moldau registry schema delete orders-value@2 --permanent --dry-run`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: f.completeSubject(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			plan := make([]string, len(args))
			for i, n := range args {
				if subject, _ := subjectVersion(n); subject == n {
					return exit.Usagef("%s: want SUBJECT@VERSION; registry subject delete deletes all versions", n)
				}
				plan[i] = "delete " + howDeleted(permanent) + ": " + n
			}
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				ok, err := a.agreed(c, plan...)
				if !ok {
					return err
				}
				o := registryOutcome{a: a}
				for _, n := range args {
					subject, version := subjectVersion(n)
					o.add(n, "deleted "+howDeleted(permanent), deleteOne(ctx, s, n, subjectPath(subject, "versions", version), permanent))
				}
				return o.err
			})
		},
	}
	cmd.Flags().BoolVar(&permanent, "permanent", false, "for good")
	c.bind(cmd)
	return cmd
}
