package protobuf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/options"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"moldau/registry/format"
)

// rootName is the file name of a schema's own text. Its descriptors carry it, as those that clients make do.
const rootName = "default"

// unit is one compiled file.
type unit struct {
	file   *file
	linked linker.File
	proto  *descriptorpb.FileDescriptorProto
}

// importer answers the file of an import path. A nil file means that the import may stay unresolved.
type importer func(path string) (linker.File, error)

// compiler compiles a schema with what it imports: from its references first, then from what is built in.
type compiler struct {
	ctx    context.Context
	limits format.Limits
	built  *builtins
	texts  map[string]string
	// lenient lets imports and options stay unresolved, as older registries did.
	lenient bool
	done    map[string]*unit
	// open are the files whose imports are being compiled.
	open []string
}

func newCompiler(ctx context.Context, s format.Source, built *builtins, l format.Limits) *compiler {
	c := &compiler{ctx: ctx, limits: l, built: built, texts: map[string]string{}, lenient: !s.New, done: map[string]*unit{}}
	for _, r := range s.References {
		if _, known := c.texts[r.Name]; !known {
			c.texts[r.Name] = r.Text
		}
	}
	return c
}

// compile compiles one file and, before it, its imports.
func (c *compiler) compile(name, text string) (*unit, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	if slices.Contains(c.open, name) {
		return nil, format.Invalid("imports lead back to %s: %s", name, strings.Join(append(c.open, name), " -> "))
	}
	c.open = append(c.open, name)
	defer func() { c.open = c.open[:len(c.open)-1] }()
	u, err := link(name, text, c.importFile, c.limits)
	if err != nil {
		return nil, err
	}
	if c.limits.Fields -= u.file.count(); c.limits.Fields < 0 {
		return nil, fmt.Errorf("%w: too many messages, fields and values", format.ErrTooLarge)
	}
	c.done[name] = u
	return u, nil
}

func (c *compiler) importFile(path string) (linker.File, error) {
	if u := c.done[path]; u != nil {
		return u.linked, nil
	}
	if text, ok := c.texts[path]; ok {
		u, err := c.compile(path, text)
		if err != nil {
			return nil, fmt.Errorf("import %q: %w", path, err)
		}
		return u.linked, nil
	}
	f, ok, err := c.built.find(path)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return f, nil
	case c.lenient:
		return nil, nil
	}
	return nil, format.Invalid("import %q is not among the references and not built in", path)
}

// link compiles one file, text or descriptor, against files that are compiled already.
func link(name, text string, find importer, l format.Limits) (u *unit, err error) {
	defer contain(&err)
	tree, err := parseText(name, text)
	if err != nil {
		if fd := decodeDescriptor(text); fd != nil {
			return linkDescriptor(name, fd, find, l)
		}
		return nil, explain(err)
	}
	f, err := read(tree, l)
	if err != nil {
		return nil, err
	}
	return linkTree(tree, f, find)
}

// contain turns a panic of the compiler, which is not ours and is given anybody's text, into an error.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = format.Invalid("the text cannot be compiled: %v", p)
	}
}

func parseText(name, text string) (tree *ast.FileNode, err error) {
	defer contain(&err)
	return parser.Parse(name, strings.NewReader(text), reporter.NewHandler(nil))
}

func linkTree(tree *ast.FileNode, f *file, find importer) (*unit, error) {
	handler := reporter.NewHandler(nil)
	spelled, err := parseSpelled(tree, handler)
	if err != nil {
		return nil, explain(err)
	}
	deps, complete, err := imports(spelled.FileDescriptorProto(), find)
	if err != nil {
		return nil, err
	}
	if !complete {
		dropCustomOptions(spelled.FileDescriptorProto().ProtoReflect())
	}
	symbols := &linker.Symbols{}
	linked, err := linker.Link(spelled, deps, symbols, handler)
	if err != nil {
		return nil, explain(err)
	}
	if _, err := options.InterpretOptions(linked, handler); err != nil {
		return nil, explain(err)
	}
	if err := linked.ValidateOptions(handler, symbols); err != nil {
		return nil, explain(err)
	}
	u := &unit{file: f, linked: linked, proto: proto.Clone(linked.FileDescriptorProto()).(*descriptorpb.FileDescriptorProto)}
	dropImpliedNames(u.proto, f)
	return u, nil
}

// dropCustomOptions takes the options out of a descriptor whose names are those of extensions, and which nothing can
// explain because an import is missing.
func dropCustomOptions(m protoreflect.Message) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.Message() == nil || fd.IsMap():
		case !fd.IsList():
			dropCustomOptions(v.Message())
		case fd.Name() == "uninterpreted_option":
			list, n := v.List(), 0
			for i := range list.Len() {
				u, ok := list.Get(i).Message().Interface().(*descriptorpb.UninterpretedOption)
				if ok && !u.GetName()[0].GetIsExtension() {
					list.Set(n, list.Get(i))
					n++
				}
			}
			list.Truncate(n)
		default:
			for i := range v.List().Len() {
				dropCustomOptions(v.List().Get(i).Message())
			}
		}
		return true
	})
}

// imports finds the files that a file imports. Those that may stay unresolved are taken out of it.
func imports(fd *descriptorpb.FileDescriptorProto, find importer) (deps linker.Files, complete bool, err error) {
	complete = true
	var kept []string
	var public, weak []int32
	for i, path := range fd.GetDependency() {
		dep, err := find(path)
		if err != nil {
			return nil, false, err
		}
		if dep == nil {
			complete = false
			continue
		}
		at := int32(len(kept))                                   //nolint:gosec // as many as there are imports
		if slices.Contains(fd.GetPublicDependency(), int32(i)) { //nolint:gosec // as above
			public = append(public, at)
		}
		if slices.Contains(fd.GetWeakDependency(), int32(i)) { //nolint:gosec // as above
			weak = append(weak, at)
		}
		kept = append(kept, path)
		deps = append(deps, dep)
	}
	if !complete {
		fd.Dependency, fd.PublicDependency, fd.WeakDependency = kept, public, weak
	}
	return deps, complete, nil
}

// explain turns a compiler's error into one of ours, with its place in the text.
func explain(err error) error {
	var at reporter.ErrorWithPos
	if !errors.As(err, &at) {
		return format.Invalid("%w", err)
	}
	pos := at.GetPosition()
	where := ""
	if pos.Filename != "" && pos.Filename != rootName {
		where = pos.Filename + ", "
	}
	if pos.Line > 0 {
		where += fmt.Sprintf("line %d, column %d", pos.Line, pos.Col)
	}
	return format.Invalid("%s: %w", strings.TrimSuffix(where, ", "), at.Unwrap())
}
