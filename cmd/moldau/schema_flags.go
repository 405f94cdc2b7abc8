package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"moldau/cmd/moldau/internal/exit"
	"moldau/registry/serde"
)

// schemaChoice are the flags that name the schema of keys or of values.
type schemaChoice struct {
	prefix     string // of the flags' names: "key-" or none
	schema     string
	path       string
	typeName   string
	references []string
	message    string
}

// encodeFlags are the flags that say how JSON is encoded.
type encodeFlags struct {
	value, key schemaChoice
	strategy   string
	register   bool
	normalize  bool
	header     bool
}

func (c *schemaChoice) bind(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.StringVar(&c.schema, c.prefix+"schema", "", "the schema of the "+what+": an id, or SUBJECT[@VERSION] (default the latest of the topic's subject)")
	flags.StringVar(&c.path, c.prefix+"schema-file", "", "the schema of the "+what+" in a file; the registry must have it, or --register")
	flags.StringVar(&c.typeName, c.prefix+"schema-type", "", "the format of that file: "+strings.Join(schemaTypes, ", ")+" (default by its name)")
	flags.StringArrayVar(&c.references, c.prefix+"reference", nil, "what that file refers to, NAME=SUBJECT@VERSION; may be repeated")
	flags.StringVar(&c.message, c.prefix+"message", "", "for Protobuf, the full name of the message (default the first)")
	must(cmd.MarkFlagFilename(c.prefix+"schema-file", "avsc", "proto", "json"))
	must(cmd.RegisterFlagCompletionFunc(c.prefix+"schema-type", cobra.FixedCompletions(schemaTypes, cobra.ShellCompDirectiveNoFileComp)))
}

func (f *encodeFlags) bind(cmd *cobra.Command) {
	f.value.bind(cmd, "values")
	flags := cmd.Flags()
	flags.StringVar(&f.strategy, "subject-strategy", string(serde.Topic), "the subject of a schema file: "+strings.Join(serde.Strategies, ", "))
	flags.BoolVar(&f.register, "register", false, "register a schema file that the subject does not have")
	flags.BoolVar(&f.normalize, "normalize", false, "look a schema file up and register it normalized")
	must(cmd.RegisterFlagCompletionFunc("subject-strategy", cobra.FixedCompletions(serde.Strategies, cobra.ShellCompDirectiveNoFileComp)))
}

// given tells whether any flag of the choice is set.
func (c *schemaChoice) given() bool {
	return c.schema != "" || c.path != "" || c.message != ""
}

// ref is the schema that the flags name, for a topic.
func (f *encodeFlags) ref(c *schemaChoice, topic string, stdin io.Reader) (serde.Ref, error) {
	ref := serde.Ref{Topic: topic, IsKey: c.prefix != "", Message: c.message, InHeader: f.header}
	strategy, err := serde.ParseStrategy(f.strategy)
	if err != nil {
		return ref, exit.Usagef("--subject-strategy %s: want one of %s", f.strategy, strings.Join(serde.Strategies, ", "))
	}
	if c.schema != "" {
		if id, err := strconv.ParseInt(c.schema, 10, 32); err == nil {
			if c.path != "" {
				return ref, exit.Usagef("--%sschema with an id and --%[1]sschema-file exclude each other", c.prefix)
			}
			ref.ID = int(id)
			return ref, nil
		}
		subject, version := subjectVersion(c.schema)
		if ref.Subject = subject; version != "latest" {
			if c.path != "" {
				return ref, exit.Usagef("--%sschema with a version and --%[1]sschema-file exclude each other", c.prefix)
			}
			if ref.Version, err = strconv.Atoi(version); err != nil {
				return ref, exit.Usagef("--%sschema %s: %s is no version", c.prefix, c.schema, version)
			}
		}
	}
	if c.path == "" {
		if f.register && f.value.path == "" && f.key.path == "" {
			return ref, exit.Usagef("--register needs --%sschema-file", c.prefix)
		}
		return ref, nil
	}
	file := schemaFile{path: c.path, typeName: c.typeName, references: c.references}
	schema, err := file.read(stdin)
	if err != nil {
		return ref, err
	}
	ref.Text, ref.Type, ref.References = schema.Schema, schema.SchemaType, schema.References
	ref.Strategy, ref.Register, ref.Normalize = strategy, f.register, f.normalize
	return ref, nil
}

// parts reads which of key and value a flag names.
func parts(flag string, names []string) (key, value bool, err error) {
	for _, n := range names {
		switch n {
		case "key":
			key = true
		case "value":
			value = true
		default:
			return false, false, exit.Usagef("--%s %s: want key, value or both", flag, n)
		}
	}
	return key, value, nil
}

// partNames are what parts takes.
var partNames = []string{"key", "value", "key,value"}

func inRecord(what string, err error) error { return fmt.Errorf("the %s: %w", what, err) }
