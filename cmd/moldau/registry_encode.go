package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/output"
	"moldau/registry/serde"
)

// payloadForms are the forms in which payloads are written on lines, and raw, which has no lines.
var payloadForms = []string{"base64", "hex", "raw"}

func newRegistryEncode(a *app, f *registryFlags) *cobra.Command {
	var e encodeFlags
	var form string
	cmd := &cobra.Command{
		Use:   "encode",
		Short: "Turn JSON values into payloads of a schema",
		Long: `Turn JSON values, one after the other on standard input, into payloads as
serializers write them: with the schema's id in front. One line for each.`,
		Example: `  echo '{"path":"/"}' | moldau registry encode --schema hits-value
  moldau registry encode --schema-file hit.avsc --schema hits-value --register --form hex < hits.ndjson
  echo '{}' | moldau registry encode --schema 7 --message shop.Order --form raw > order.bin`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if e.value.schema == "" && e.strategy == string(serde.Topic) {
				return exit.Usagef("want --schema with an id or SUBJECT[@VERSION]")
			}
			ref, err := e.ref(&e.value, "", nil)
			if err != nil {
				return err
			}
			write, err := payloadWriter(form)
			if err != nil {
				return err
			}
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error { return a.encodeAll(ctx, s, ref, write) })
		},
	}
	e.bind(cmd)
	cmd.Flags().StringVar(&form, "form", "base64", "the form of the payloads: "+strings.Join(payloadForms, ", "))
	must(cmd.RegisterFlagCompletionFunc("form", cobra.FixedCompletions(payloadForms, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("schema", f.completeSubject(false)))
	return cmd
}

// payloadWriter appends a payload in a form.
func payloadWriter(form string) (func(dst, payload []byte) []byte, error) {
	switch form {
	case "base64":
		return func(dst, p []byte) []byte { return append(base64.StdEncoding.AppendEncode(dst, p), '\n') }, nil
	case "hex":
		return func(dst, p []byte) []byte { return append(hex.AppendEncode(dst, p), '\n') }, nil
	case "raw":
		return func(dst, p []byte) []byte { return append(dst, p...) }, nil
	}
	return nil, exit.Usagef("--form %s: want one of %s", form, strings.Join(payloadForms, ", "))
}

func (a *app) encodeAll(ctx context.Context, s *serde.Serde, ref serde.Ref, write func(dst, payload []byte) []byte) error {
	encoder, err := s.Encoder(ctx, ref)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.out)
	in := json.NewDecoder(a.in)
	var line, payload []byte
	for n := 1; ctx.Err() == nil; n++ {
		var value json.RawMessage
		if err := in.Decode(&value); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return errors.Join(fmt.Errorf("value %d: %w", n, err), out.Flush())
		}
		if payload, err = encoder.Append(payload[:0], value); err != nil {
			return errors.Join(fmt.Errorf("value %d: %w", n, err), out.Flush())
		}
		line = write(line[:0], payload)
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// decodedRow is one payload that `registry decode` has read.
type decodedRow struct {
	ID      int             `json:"id"`
	GUID    string          `json:"guid"`
	Type    string          `json:"type"`
	Message string          `json:"message,omitempty"`
	Value   json.RawMessage `json:"value"`
}

var decodedRows = output.List[decodedRow]{
	Columns: []output.Column[decodedRow]{
		{Head: "ID", Text: func(r decodedRow) string { return fmt.Sprint(r.ID) }},
		{Head: "TYPE", Text: func(r decodedRow) string { return r.Type }},
		{Head: "MESSAGE", Wide: true, Text: func(r decodedRow) string { return r.Message }},
		{Head: "VALUE", Text: func(r decodedRow) string { return string(r.Value) }},
	},
	Name: func(r decodedRow) string { return string(r.Value) },
}

func newRegistryDecode(a *app, f *registryFlags) *cobra.Command {
	var form, subject string
	cmd := &cobra.Command{
		Use:   "decode",
		Short: "Turn payloads into JSON by the schemas that they name",
		Long: `Turn payloads as serializers write them into JSON: one on each line of standard
input, or with --form raw all of it as one. A line of JSON for each; with -o the
schema too.`,
		Example: `  moldau registry decode < payloads.base64
  echo 0000000001022f00 | moldau registry decode --form hex -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			payloads, err := readPayloads(a.in, form)
			if err != nil {
				return err
			}
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
				var rows []decodedRow
				for i, p := range payloads {
					d, err := s.Decode(ctx, subject, p, nil)
					if err != nil {
						return fmt.Errorf("payload %d: %w", i+1, err)
					}
					rows = append(rows, decodedRow{d.Schema.ID, d.Schema.GUID, d.Schema.Type, d.Message, d.JSON})
				}
				return decodedRows.Print(a.out, a.formatOr(cmd, output.Name), rows)
			})
		},
	}
	cmd.Flags().StringVar(&form, "form", "base64", "the form of the payloads: "+strings.Join(payloadForms, ", "))
	cmd.Flags().StringVar(&subject, "subject", "", "a subject whose context the ids are of, where that is not the default one")
	must(cmd.RegisterFlagCompletionFunc("form", cobra.FixedCompletions(payloadForms, cobra.ShellCompDirectiveNoFileComp)))
	a.withFormat(cmd)
	return cmd
}

// formatOr is the form of the output that was asked for, or another one than the usual default.
func (a *app) formatOr(cmd *cobra.Command, otherwise output.Format) output.Format {
	if cmd.Flags().Changed("output") {
		return a.format
	}
	return otherwise
}

func readPayloads(in io.Reader, form string) ([][]byte, error) {
	raw, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	var decode func(string) ([]byte, error)
	switch form {
	case "raw":
		return [][]byte{raw}, nil
	case "base64":
		decode = base64.StdEncoding.DecodeString
	case "hex":
		decode = hex.DecodeString
	default:
		return nil, exit.Usagef("--form %s: want one of %s", form, strings.Join(payloadForms, ", "))
	}
	var out [][]byte
	for line := range bytes.Lines(raw) {
		text := string(bytes.TrimSpace(line))
		if text == "" {
			continue
		}
		p, err := decode(text)
		if err != nil {
			return nil, fmt.Errorf("payload %d: %w", len(out)+1, err)
		}
		out = append(out, p)
	}
	return out, nil
}
