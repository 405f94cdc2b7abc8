package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"moldau/cmd/moldau/internal/exit"
	"moldau/cmd/moldau/internal/output"
	"moldau/registry/serde"
)

// pushedFile is a file of a push and what becomes of it.
type pushedFile struct {
	File    string `json:"file"`
	Subject string `json:"subject"`
	Version int    `json:"version"`
	ID      int    `json:"id"`
	Status  string `json:"status"`

	schema  *registered
	imports []string // of other files of the push
}

// What becomes of a file.
const (
	pushUnchanged  = "unchanged"
	pushNew        = "new"
	pushRegistered = "registered"
)

var pushedRows = output.List[*pushedFile]{
	Columns: []output.Column[*pushedFile]{
		{Head: "FILE", Text: func(p *pushedFile) string { return p.File }},
		{Head: "SUBJECT", Text: func(p *pushedFile) string { return p.Subject }},
		{Head: "VERSION", Text: func(p *pushedFile) string { return strconv.Itoa(p.Version) }},
		{Head: "ID", Text: func(p *pushedFile) string { return strconv.Itoa(p.ID) }},
		{Head: "STATUS", Text: func(p *pushedFile) string { return p.Status }},
	},
	Name: func(p *pushedFile) string { return showVersion(p.Subject, p.Version) },
}

func newRegistryPush(a *app, f *registryFlags) *cobra.Command {
	var c change
	var names []string
	var contextName string
	cmd := &cobra.Command{
		Use:   "push DIR|IMAGE|-",
		Short: "Register the .proto files of a directory, or of a buf image, with their imports",
		Long: `Register the .proto files below a directory, or those of a buf image, the imported
ones before those that import them. Each is registered under its import path, by
which the others refer to it, or under the subject that --subject names. Imports
that are not among the files, such as google/protobuf, must be known to the
registry itself.

An image is what buf build -o writes: .binpb, .json, .txtpb or .yaml, with .gz or
.zst behind it too. - reads one from standard input, binary or JSON.

What is there already stays. Before anything is registered the new files are held
against their subjects' compatibility; those that import other new ones are by the
registry when their turn comes.`,
		Example: `  moldau registry push ./proto --dry-run
  moldau registry push ./proto --subject shop/v1/order.proto=orders-value -y
  buf build -o image.binpb && moldau registry push image.binpb -y
  buf build -o -#format=json | moldau registry push - -y`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := readPush(cmd.Context(), args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			if err := nameSubjects(files, names, contextName); err != nil {
				return err
			}
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error { return a.push(ctx, s, files, c) })
		},
	}
	cmd.Flags().StringArrayVar(&names, "subject", nil, "the subject of a file, FILE=SUBJECT; may be repeated")
	cmd.Flags().StringVar(&contextName, "context", "", "register in this context")
	c.bind(cmd)
	a.withFormat(cmd)
	return cmd
}

// readPush reads the files of a directory or an image, in the order in which they are to be registered.
func readPush(ctx context.Context, path string, stdin io.Reader) ([]*pushedFile, error) {
	tree := false
	if path != "-" {
		info, err := os.Stat(path)
		if err != nil {
			return nil, &exit.Error{Code: exit.Usage, Err: err}
		}
		tree = info.IsDir()
	}
	var files []*pushedFile
	var err error
	if tree {
		files, err = readProtos(os.DirFS(path))
	} else {
		files, err = readImage(ctx, path, stdin)
	}
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, exit.Usagef("%s: there are no .proto files", path)
	}
	return files, nil
}

// readProtos reads the .proto files of a tree.
func readProtos(tree fs.FS) ([]*pushedFile, error) {
	byPath := map[string]*pushedFile{}
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".proto") {
			return err
		}
		text, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		imports, err := importsOf(path, text)
		byPath[path] = &pushedFile{File: path, schema: &registered{SchemaType: "PROTOBUF", Schema: string(text)}, imports: imports}
		return err
	})
	if err != nil {
		return nil, err
	}
	return bottomUp(byPath)
}

// nameSubjects gives each file its subject.
func nameSubjects(files []*pushedFile, names []string, context string) error {
	given := map[string]string{}
	for _, pair := range names {
		file, subject, ok := strings.Cut(pair, "=")
		if !ok || subject == "" {
			return exit.Usagef("--subject %s: want FILE=SUBJECT", pair)
		}
		given[file] = subject
	}
	for _, p := range files {
		p.Subject = p.File
		if s, ok := given[p.File]; ok {
			p.Subject = s
			delete(given, p.File)
		}
		if context != "" {
			p.Subject = ":." + strings.TrimPrefix(context, ".") + ":" + p.Subject
		}
	}
	for file := range given {
		return exit.Usagef("--subject %s: there is no such file", file)
	}
	return nil
}

// push registers files in their order.
func (a *app) push(ctx context.Context, s *serde.Serde, files []*pushedFile, c change) error {
	byPath := map[string]*pushedFile{}
	var plan, refused []string
	for _, p := range files {
		byPath[p.File] = p
		reasons, err := p.look(ctx, s, byPath)
		if err != nil {
			return fmt.Errorf("%s: %w", p.File, err)
		}
		if len(reasons) > 0 {
			refused = append(refused, fmt.Sprintf("%s would be refused under %s:\n  %s", p.File, p.Subject, strings.Join(reasons, "\n  ")))
		}
		if p.Status == pushNew {
			plan = append(plan, fmt.Sprintf("register %s under %s", p.File, p.Subject))
		}
	}
	if len(refused) > 0 {
		return &exit.Error{Code: exit.Failed, Err: errors.New(strings.Join(refused, "\n") + "\nnothing was registered")}
	}
	if len(plan) > 0 {
		ok, err := a.agreed(c, plan...)
		if !ok {
			return err
		}
	}
	for i, p := range files {
		if p.Status != pushNew {
			continue
		}
		if err := p.register(ctx, s, byPath); err != nil {
			return fmt.Errorf("%s: %w (%d of %d files are registered; the same command goes on)", p.File, err, i, len(files))
		}
	}
	return pushedRows.Print(a.out, a.format, files)
}

// refer gives a file the references to those it imports. It answers false where one of them is new.
func (p *pushedFile) refer(byPath map[string]*pushedFile) bool {
	p.schema.References = nil
	for _, path := range p.imports {
		to := byPath[path]
		if to.Version == 0 {
			return false
		}
		p.schema.References = append(p.schema.References, serde.Reference{Name: path, Subject: to.Subject, Version: to.Version})
	}
	return true
}

// look finds out whether a file is registered already, and why it could not be if it can't.
func (p *pushedFile) look(ctx context.Context, s *serde.Serde, byPath map[string]*pushedFile) (reasons []string, err error) {
	p.Status = pushNew
	if !p.refer(byPath) {
		return nil, nil // it imports a new one, so it can't be looked up yet
	}
	found, err := lookupSchema(ctx, s, p.Subject, p.schema, false)
	switch {
	case err == nil:
		p.Version, p.ID, p.Status = found.Version, found.ID, pushUnchanged
		return nil, nil
	case !errors.Is(err, serde.ErrNotFound):
		return nil, err
	}
	return incompatible(ctx, s, p.Subject, "", p.schema, false)
}

// register registers a file whose imports are registered by now.
func (p *pushedFile) register(ctx context.Context, s *serde.Serde, byPath map[string]*pushedFile) error {
	p.refer(byPath)
	at, err := registerSchema(ctx, s, p.Subject, p.schema, false)
	if err != nil {
		return err
	}
	p.Version, p.ID, p.Status = at.Version, at.ID, pushRegistered
	return nil
}
