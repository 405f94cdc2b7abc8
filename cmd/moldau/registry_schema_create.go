package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"moldau/cmd/moldau/internal/exit"
	"moldau/registry/serde"
)

func newSchemaCreate(a *app, f *registryFlags) *cobra.Command {
	var file schemaFile
	var id, version int
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "create SUBJECT",
		Aliases: []string{"register"},
		Short:   "Register a schema under a subject",
		Long: `Register a schema under a subject. The same schema again is no new version. With
--dry-run it is only said whether it is new, and whether it would be accepted.`,
		Example: `  moldau registry schema create orders-value --schema-file order.avsc
  moldau registry schema create orders-value --schema-file order.proto --reference money.proto=money.proto@1
  moldau registry schema create orders-value --schema-file order.avsc --dry-run`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.completeSubject(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			schema, err := file.read(a.in)
			if err != nil {
				return err
			}
			schema.ID, schema.Version = id, version
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				if dryRun {
					return a.rehearse(ctx, s, args[0], &schema, file.normalize)
				}
				found, err := registerSchema(ctx, s, args[0], &schema, file.normalize)
				if err != nil {
					return err
				}
				return printValue(a, found, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "%s: id %d\n", showVersion(found.Subject, found.Version), found.ID)
					return err
				})
			})
		},
	}
	file.bind(cmd)
	must(cmd.MarkFlagRequired("schema-file"))
	cmd.Flags().IntVar(&id, "id", 0, "the id to have, where the registry's mode is IMPORT")
	cmd.Flags().IntVar(&version, "version", 0, "the version to be, where the registry's mode is IMPORT")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be done, and do nothing")
	a.withFormat(cmd)
	return cmd
}

// place is where a schema was registered.
type place struct {
	Subject string `json:"subject"`
	Version int    `json:"version"`
	ID      int    `json:"id"`
	GUID    string `json:"guid"`
}

// registerSchema registers a schema and returns where it is.
func registerSchema(ctx context.Context, s *serde.Serde, subject string, schema *registered, normalize bool) (place, error) {
	body := schemaRequest(schema)
	var answer struct {
		ID      int    `json:"id"`
		Version int    `json:"version"`
		GUID    string `json:"guid"`
	}
	err := s.Do(ctx, "register the schema under "+subject, http.MethodPost, subjectPath(subject, "versions"), body, &answer,
		"normalize", flagText(normalize))
	if err != nil {
		return place{}, err
	}
	if answer.Version > 0 {
		return place{subject, answer.Version, answer.ID, answer.GUID}, nil
	}
	body.ID, body.Version = 0, 0
	return lookupSchema(ctx, s, subject, body, normalize)
}

// schemaRequest is the body that brings a schema: older registries do not know the name of the format for Avro.
func schemaRequest(schema *registered) *registered {
	body := *schema
	body.Subject, body.GUID = "", ""
	if body.SchemaType == "AVRO" {
		body.SchemaType = ""
	}
	return &body
}

// lookupSchema finds a schema under a subject.
func lookupSchema(ctx context.Context, s *serde.Serde, subject string, body *registered, normalize bool) (place, error) {
	var found place
	err := s.Do(ctx, "look the schema up under "+subject, http.MethodPost, subjectPath(subject), body, &found, "normalize", flagText(normalize))
	return found, err
}

// rehearse says what registering a schema would do.
func (a *app) rehearse(ctx context.Context, s *serde.Serde, subject string, schema *registered, normalize bool) error {
	body := schemaRequest(schema)
	body.ID, body.Version = 0, 0
	found, err := lookupSchema(ctx, s, subject, body, normalize)
	switch {
	case err == nil:
		fmt.Fprintf(a.err, "%s has it already, with the id %d\n", showVersion(found.Subject, found.Version), found.ID)
		return nil
	case !errors.Is(err, serde.ErrNotFound):
		return err
	}
	reasons, err := incompatible(ctx, s, subject, "", body, normalize)
	if err != nil {
		return err
	}
	if len(reasons) > 0 {
		return refusedBy(subject, reasons)
	}
	fmt.Fprintf(a.err, "%s: a new version would be registered\ndry run: nothing was done\n", subject)
	return nil
}

// refusedBy is the error of a schema that is not compatible.
func refusedBy(subject string, reasons []string) error {
	return &exit.Error{
		Code: exit.Failed,
		Err:  fmt.Errorf("it is not compatible with %s:\n  %s", subject, strings.Join(reasons, "\n  ")),
		Next: "moldau registry compat get " + subject,
	}
}

// incompatible asks why a schema is not compatible: with a version of the subject, or, where that is empty, by the
// subject's level. There are no reasons where it is, nor where there is nothing to compare with.
func incompatible(ctx context.Context, s *serde.Serde, subject, version string, body *registered, normalize bool) ([]string, error) {
	var verdict struct {
		Is       bool     `json:"is_compatible"`
		Messages []string `json:"messages"`
	}
	path := "/compatibility" + subjectPath(subject, "versions")
	if version != "" {
		path += "/" + version
	}
	err := s.Do(ctx, "check the schema against "+subject, http.MethodPost, path, body, &verdict, "verbose", "true", "normalize", flagText(normalize))
	if errors.Is(err, serde.ErrNotFound) && version == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !verdict.Is && len(verdict.Messages) == 0 {
		verdict.Messages = []string{"the registry gives no reason"}
	}
	if verdict.Is {
		return nil, nil
	}
	return verdict.Messages, nil
}

func newSchemaLookup(a *app, f *registryFlags) *cobra.Command {
	var file schemaFile
	cmd := &cobra.Command{
		Use:               "lookup SUBJECT",
		Short:             "Find a schema under a subject by its text",
		Example:           `  moldau registry schema lookup orders-value --schema-file order.avsc`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.completeSubject(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			schema, err := file.read(a.in)
			if err != nil {
				return err
			}
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				found, err := lookupSchema(ctx, s, args[0], schemaRequest(&schema), file.normalize)
				if err != nil {
					return err
				}
				return printValue(a, found, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "%s: id %d\n", showVersion(found.Subject, found.Version), found.ID)
					return err
				})
			})
		},
	}
	file.bind(cmd)
	must(cmd.MarkFlagRequired("schema-file"))
	a.withFormat(cmd)
	return cmd
}
