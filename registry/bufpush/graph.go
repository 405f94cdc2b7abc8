package bufpush

import (
	"fmt"
	"strings"

	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
)

// parcel is one module of a push.
type parcel struct {
	module  *module
	files   []source
	labels  []string // empty for the default one
	source  string   // in version control
	imports []imported

	parcels map[*parcel]bool // those of the same push whose files it imports
	behind  map[*parcel]bool // those and the ones that commits outside need, which the push replaces
	commits map[string]bool  // the commits that it needs, directly
	deps    map[string]bool  // and all the commits outside that those need
}

// imported is one import of a file.
type imported struct {
	file, path string
	line       int
}

// importsOf finds the imports of files. What is not even a file of definitions is told when it is compiled.
func importsOf(files []source) (out []imported, err error) {
	for _, f := range files {
		if !isProto(f.path) {
			continue
		}
		if nesting(f.content) > maxNesting {
			return nil, newFault(resourceExhausted, "%s: brackets nest more than %d deep", f.path, maxNesting)
		}
		found, err := importsIn(f)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func importsIn(f source) (out []imported, err error) {
	defer func() {
		if p := recover(); p != nil { // the parser is not ours and is given anybody's text
			err = invalid("%s: the file can't be read: %v", f.path, p)
		}
	}()
	tree, err := parser.Parse(f.path, strings.NewReader(string(f.content)), reporter.NewHandler(nil))
	if err != nil {
		return nil, invalid("%v", err)
	}
	for _, decl := range tree.Decls {
		if i, ok := decl.(*ast.ImportNode); ok {
			out = append(out, imported{f.path, i.Name.AsString(), tree.NodeInfo(i).Start().Line})
		}
	}
	return out, nil
}

// builtInImport tells whether a path is one of the files of the language itself, which every compiler has.
func builtInImport(path string) bool { return strings.HasPrefix(path, "google/protobuf/") }

// bundle is a whole push: its modules, and the commits outside that they may need.
type bundle struct {
	parcels []*parcel
	outside map[string]*commit  // by id, one of each module
	files   map[string][]source // of the commits outside, by id
	needs   map[string][]string // of the commits outside, by id, the ids of those whose files it imports
	instead map[string]*parcel  // the pushed modules in place of earlier commits of them
}

// connect finds out which module needs which, by the imports of their files.
func (b *bundle) connect() error {
	type place struct {
		parcel *parcel
		commit string
	}
	where := map[string]place{}
	take := func(path string, p place, name string) error {
		if other, taken := where[path]; taken {
			return invalid("%s is both in %s and in %s", path, b.name(other.parcel, other.commit), name)
		}
		where[path] = p
		return nil
	}
	for _, p := range b.parcels {
		for _, f := range p.files {
			if !isProto(f.path) {
				continue
			}
			if err := take(f.path, place{parcel: p}, p.module.fullName()); err != nil {
				return err
			}
		}
	}
	for id, files := range b.files {
		for _, f := range files {
			if !isProto(f.path) {
				continue
			}
			if err := take(f.path, place{commit: id}, b.name(nil, id)); err != nil {
				return err
			}
		}
	}
	for _, p := range b.parcels {
		p.parcels, p.behind, p.commits, p.deps = map[*parcel]bool{}, map[*parcel]bool{}, map[string]bool{}, map[string]bool{}
		for _, i := range p.imports {
			at, ok := where[i.path]
			switch {
			case !ok && builtInImport(i.path):
			case !ok:
				return invalid("%s:%d: %s is in no module that is pushed or depended on", i.file, i.line, i.path)
			case at.parcel == nil:
				p.commits[at.commit] = true
			case at.parcel != p:
				p.parcels[at.parcel], p.behind[at.parcel] = true, true
			}
		}
		b.reach(p)
	}
	return nil
}

func (b *bundle) name(p *parcel, commit string) string {
	if p != nil {
		return p.module.fullName()
	}
	return fmt.Sprintf("commit %s of %s", commit, b.outside[commit].Module)
}

// reach finds all commits outside that a module needs.
func (b *bundle) reach(p *parcel) {
	var walk func(id string)
	walk = func(id string) {
		if q := b.instead[id]; q != nil {
			p.behind[q] = true
			return
		}
		if p.deps[id] {
			return
		}
		p.deps[id] = true
		for _, dep := range b.needs[id] {
			walk(dep)
		}
	}
	for id := range p.commits {
		walk(id)
	}
}

// order puts the modules so that each comes after those it needs.
func (b *bundle) order() ([]*parcel, error) {
	var out []*parcel
	state := map[*parcel]int{} // 1 while it is visited, 2 when it is done
	var visit func(p *parcel) error
	visit = func(p *parcel) error {
		switch state[p] {
		case 1:
			return invalid("the modules need each other: %s among them", p.module.fullName())
		case 2:
			return nil
		}
		state[p] = 1
		for _, q := range b.parcels {
			if p.behind[q] {
				if err := visit(q); err != nil {
					return err
				}
			}
		}
		state[p] = 2
		out = append(out, p)
		return nil
	}
	for _, p := range b.parcels {
		if err := visit(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}
