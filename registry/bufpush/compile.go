package bufpush

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/types/descriptorpb"
)

// maxNesting is how deeply the brackets of a file may nest.
const maxNesting = 1000

// compile compiles files, given by their paths, with what they import from among the texts. The files of the language
// itself need no text.
func compile(ctx context.Context, paths []string, texts map[string][]byte) (linker.Files, error) {
	for _, p := range paths {
		if nesting(texts[p]) > maxNesting {
			return nil, newFault(resourceExhausted, "%s: brackets nest more than %d deep", p, maxNesting)
		}
	}
	c := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{Accessor: func(path string) (io.ReadCloser, error) {
			text, ok := texts[path]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return io.NopCloser(strings.NewReader(string(text))), nil
		}}),
		MaxParallelism: 1,
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := c.Compile(ctx, paths...)
	if err == nil {
		return files, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var at reporter.ErrorWithPos
	if errors.As(err, &at) {
		return nil, invalid("%s:%d: %v", at.GetPosition().Filename, at.GetPosition().Line, at.Unwrap())
	}
	return nil, invalid("the files can't be compiled: %v", err)
}

// nesting is how deeply brackets nest in a text. Those in strings and comments count, so it is an upper bound.
func nesting(text []byte) int {
	depth, deepest := 0, 0
	for _, b := range text {
		switch b {
		case '{', '[', '<', '(':
			depth++
			deepest = max(deepest, depth)
		case '}', ']', '>', ')':
			depth--
		}
	}
	return deepest
}

// descriptors are files, each after those it imports, with all that they import unless only they are wanted.
func descriptors(files linker.Files, imports bool) []*descriptorpb.FileDescriptorProto {
	var out []*descriptorpb.FileDescriptorProto
	seen := map[string]bool{}
	own := map[string]bool{}
	for _, f := range files {
		own[f.Path()] = true
	}
	var add func(f linker.File)
	add = func(f linker.File) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			if dep := f.FindImportByPath(f.Imports().Get(i).Path()); dep != nil {
				add(dep)
			}
		}
		if imports || own[f.Path()] {
			out = append(out, protoutil.ProtoFromFileDescriptor(f))
		}
	}
	for _, f := range files {
		add(f)
	}
	return out
}

// compileCommit compiles the files of a commit with those of the commits it needs. It returns them with the texts and
// modules of all by their paths.
func compileCommit(ctx context.Context, v *view, c *commit) (files linker.Files, texts map[string][]byte, modules map[string]string, err error) {
	texts, modules = map[string][]byte{}, map[string]string{}
	var paths []string
	add := func(c *commit, root bool) error {
		sources, err := v.sources(c)
		if err != nil {
			return err
		}
		for _, f := range sources {
			if !isProto(f.path) {
				continue
			}
			texts[f.path], modules[f.path] = f.content, c.ModuleID
			if root {
				paths = append(paths, f.path)
			}
		}
		return nil
	}
	for _, id := range c.Deps {
		dep, err := v.commitByID(id)
		if err != nil {
			return nil, nil, nil, err
		}
		if err := add(dep, false); err != nil {
			return nil, nil, nil, err
		}
	}
	if err := add(c, true); err != nil {
		return nil, nil, nil, err
	}
	files, err = compile(ctx, paths, texts)
	return files, texts, modules, err
}
