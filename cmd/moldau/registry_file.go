package main

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"moldau/cmd/moldau/internal/exit"
	"moldau/registry/serde"
)

// schemaFile is a schema in a file, with what the command line says about it.
type schemaFile struct {
	path       string
	typeName   string
	references []string
	normalize  bool
}

// schemaTypes are the formats, as flags name them.
var schemaTypes = []string{"avro", "protobuf", "json"}

func (f *schemaFile) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.path, "schema-file", "", "the file with the schema; - for standard input")
	flags.StringVar(&f.typeName, "type", "", "the format: "+strings.Join(schemaTypes, ", ")+" (default by the file's name: .avsc, .proto, .json)")
	flags.StringArrayVar(&f.references, "reference", nil, "what the schema refers to, NAME=SUBJECT@VERSION; may be repeated")
	flags.BoolVar(&f.normalize, "normalize", false, "have the order of attributes make no difference")
	must(cmd.MarkFlagFilename("schema-file", "avsc", "proto", "json"))
	must(cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(schemaTypes, cobra.ShellCompDirectiveNoFileComp)))
}

// read reads the file.
func (f *schemaFile) read(stdin io.Reader) (registered, error) {
	var out registered
	raw, err := readFileOr(f.path, stdin)
	if err != nil {
		return out, &exit.Error{Code: exit.Usage, Err: err}
	}
	out.Schema = string(raw)
	if out.SchemaType, err = schemaType(f.typeName, f.path); err != nil {
		return out, err
	}
	out.References, err = parseReferences(f.references)
	return out, err
}

func readFileOr(path string, stdin io.Reader) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path) //nolint:gosec // the user's own choice
}

// schemaType is the format by its name, or by that of the file.
func schemaType(name, path string) (string, error) {
	switch strings.ToLower(name) {
	case "avro":
		return "AVRO", nil
	case "protobuf":
		return "PROTOBUF", nil
	case "json":
		return "JSON", nil
	case "":
	default:
		return "", exit.Usagef("--type %s: want one of %s", name, strings.Join(schemaTypes, ", "))
	}
	switch filepath.Ext(path) {
	case ".avsc", ".avro":
		return "AVRO", nil
	case ".proto":
		return "PROTOBUF", nil
	case ".json":
		return "JSON", nil
	}
	return "", exit.Usagef("%s: its name does not tell the format; add --type %s", path, strings.Join(schemaTypes, ", "))
}

// parseReferences reads NAME=SUBJECT@VERSION.
func parseReferences(texts []string) ([]serde.Reference, error) {
	var out []serde.Reference
	for _, text := range texts {
		name, at, ok := strings.Cut(text, "=")
		subject, version := subjectVersion(at)
		if !ok || name == "" || subject == "" {
			return nil, exit.Usagef("--reference %s: want NAME=SUBJECT@VERSION", text)
		}
		r := serde.Reference{Name: name, Subject: subject, Version: -1}
		if version != "latest" {
			n, err := strconv.ParseInt(version, 10, 32)
			if err != nil || n == 0 {
				return nil, exit.Usagef("--reference %s: %s is no version", text, version)
			}
			r.Version = int(n)
		}
		out = append(out, r)
	}
	return out, nil
}
