package bufpush

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"moldau/registry"
	"moldau/registry/catalog"
	"moldau/registry/format"
)

// plan is what pushing a module makes of the subjects.
type plan struct {
	files    linker.Files
	texts    map[string][]byte // all files that there are, by path
	modules  map[string]string // the modules they belong to, by path
	auto     string            // Config.AutoSubjects
	bindings []binding
}

// binding is a subject of a message.
type binding struct {
	subject catalog.Name
	file    linker.File
	message protoreflect.MessageDescriptor
	level   string // of compatibility; empty to leave it as it is
}

func (b *binding) place() string { return placeOf(b.file, b.message) }

// placeOf is where something is declared.
func placeOf(f protoreflect.FileDescriptor, d protoreflect.Descriptor) string {
	line := 1
	if d != nil {
		line = f.SourceLocations().ByDescriptor(d).StartLine + 1
	}
	return fmt.Sprintf("%s:%d", f.Path(), line)
}

// find finds the subjects of the messages of some files.
func (p *plan) find(own []source) error {
	taken := map[catalog.Name]*binding{}
	for _, f := range own {
		file := p.files.FindFileByPath(f.path)
		if file == nil {
			continue
		}
		if err := p.findIn(file, file.Messages(), true, taken); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) findIn(file linker.File, messages protoreflect.MessageDescriptors, top bool, taken map[catalog.Name]*binding) error {
	for i := range messages.Len() {
		m := messages.Get(i)
		found, err := p.bindingsOf(file, m)
		if err != nil {
			return err
		}
		if len(found) == 0 && top && p.auto == registry.AutoRecord {
			found = []binding{{subject: catalog.Name{Context: catalog.DefaultContext, Subject: string(m.FullName())}}}
		}
		for _, b := range found {
			b.file, b.message = file, m
			if other := taken[b.subject]; other != nil {
				return invalid("%s: subject %s belongs to message %s at %s already", b.place(), b.subject, other.message.FullName(), other.place())
			}
			if !catalog.ValidSubject(b.subject.String()) || b.subject.Subject == "" {
				return invalid("%s: %q can't be the name of a subject", b.place(), b.subject)
			}
			taken[b.subject] = &b
			p.bindings = append(p.bindings, b)
		}
		if err := p.findIn(file, m.Messages(), false, taken); err != nil {
			return err
		}
	}
	return nil
}

// The options by which a message names its subjects, by full name whatever their numbers are.
const (
	ownOption = "moldau.kafka.v1.subject"
	bufOption = "buf.confluent.v1.subject"
)

// bindingsOf reads the options of a message.
func (p *plan) bindingsOf(file linker.File, m protoreflect.MessageDescriptor) ([]binding, error) {
	raw, err := proto.Marshal(m.Options())
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	// The compiler may keep extensions without their types; those of the files it has compiled give them back.
	options := new(descriptorpb.MessageOptions)
	if err := (proto.UnmarshalOptions{Resolver: linker.ResolverFromFile(file)}).Unmarshal(raw, options); err != nil {
		return nil, invalid("%s: the options of message %s can't be read: %v", placeOf(file, m), m.FullName(), err)
	}
	var out []binding
	options.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := fd.FullName()
		if name != ownOption && name != bufOption || fd.Message() == nil {
			return true
		}
		for _, one := range values(fd, v) {
			var b binding
			if name == ownOption {
				b, err = ownSubject(m, one)
			} else {
				b = binding{subject: catalog.ParseName(text(one, "name"))}
			}
			if err != nil {
				err = invalid("%s: %v", placeOf(file, m), err)
				return false
			}
			out = append(out, b)
		}
		return true
	})
	return out, err
}

func values(fd protoreflect.FieldDescriptor, v protoreflect.Value) []protoreflect.Message {
	if !fd.IsList() {
		return []protoreflect.Message{v.Message()}
	}
	var out []protoreflect.Message
	for i := range v.List().Len() {
		out = append(out, v.List().Get(i).Message())
	}
	return out
}

// text reads a field of a message that may be of any type with such a field.
func text(m protoreflect.Message, field protoreflect.Name) string {
	fd := m.Descriptor().Fields().ByName(field)
	if fd == nil || fd.Kind() != protoreflect.StringKind || fd.IsList() {
		return ""
	}
	return m.Get(fd).String()
}

// choice reads a field that is an enum, and returns the name of its value without the enum's own.
func choice(m protoreflect.Message, field protoreflect.Name) string {
	fd := m.Descriptor().Fields().ByName(field)
	if fd == nil || fd.Kind() != protoreflect.EnumKind || fd.IsList() {
		return ""
	}
	v := fd.Enum().Values().ByNumber(m.Get(fd).Enum())
	if v == nil {
		return "UNKNOWN"
	}
	name := strings.TrimPrefix(string(v.Name()), strings.ToUpper(string(fd.Enum().Name()))+"_")
	if name == "UNSPECIFIED" {
		return ""
	}
	return name
}

// ownSubject reads one value of our own option.
func ownSubject(m protoreflect.MessageDescriptor, v protoreflect.Message) (binding, error) {
	topic, name, strategy := text(v, "topic"), text(v, "name"), choice(v, "strategy")
	context := catalog.DefaultContext
	if c := text(v, "context"); c != "" {
		prefix, err := catalog.ContextPrefix(c)
		if err != nil {
			return binding{}, err
		}
		context = catalog.ParseName(prefix).Context
	}
	b := binding{level: choice(v, "compatibility")}
	if _, ok := catalog.ParseLevel(b.level); b.level != "" && !ok {
		return b, errors.New("there is no such level of compatibility")
	}
	if strategy == "" && topic != "" {
		strategy = "TOPIC"
	}
	part := "-value"
	if choice(v, "part") == "KEY" {
		part = "-key"
	}
	switch {
	case name != "" && topic == "" && strategy == "":
	case name != "":
		return b, errors.New("a subject with a name takes no topic and no strategy")
	case strategy == "TOPIC" && topic != "":
		name = topic + part
	case strategy == "TOPIC_RECORD" && topic != "":
		name = topic + "-" + string(m.FullName())
	case strategy == "TOPIC", strategy == "TOPIC_RECORD":
		return b, fmt.Errorf("the strategy %s needs a topic", strings.ToLower(strategy))
	case strategy == "" || strategy == "RECORD":
		name = string(m.FullName())
	default:
		return b, errors.New("there is no such strategy")
	}
	b.subject = catalog.Name{Context: context, Subject: name}
	return b, nil
}

// application is a plan on its way into a draft.
type application struct {
	plan       *plan
	draft      *registry.Draft
	files      map[catalog.Name]*catalog.Schema // those registered by their import paths; nil for those that were refused
	complaints []string
}

// apply registers the subjects of a plan, and before each the files that it imports, under their import paths. It returns
// what is refused, and why.
func (p *plan) apply(d *registry.Draft) (complaints []string, err error) {
	a := &application{plan: p, draft: d, files: map[catalog.Name]*catalog.Schema{}}
	for _, b := range p.bindings {
		file := catalog.Name{Context: b.subject.Context, Subject: b.file.Path()}
		if _, err := a.file(b.file, b.subject.Context); err != nil {
			return nil, err
		}
		if b.subject == file {
			continue
		}
		if b.level != "" {
			if err := d.SetLevel(b.subject.String(), b.level); err != nil {
				return nil, err
			}
		}
		if _, err := a.register(b.subject, b.file, b.message); err != nil {
			return nil, err
		}
	}
	return a.complaints, nil
}

// knownImport tells whether a file is one that serializers do not register: those of the language, and those that come with
// every registry.
func knownImport(path string) bool {
	return strings.HasPrefix(path, "google/protobuf/") || strings.HasPrefix(path, "google/type/") || strings.HasPrefix(path, "confluent/")
}

// file registers a file under its import path.
func (a *application) file(f linker.File, context string) (*catalog.Schema, error) {
	name := catalog.Name{Context: context, Subject: f.Path()}
	if s, done := a.files[name]; done {
		return s, nil
	}
	s, err := a.register(name, f, nil)
	a.files[name] = s
	return s, err
}

// register registers the schema of a file under a subject. It returns nil when that is refused.
func (a *application) register(name catalog.Name, f linker.File, about protoreflect.Descriptor) (*catalog.Schema, error) {
	refs, ok, err := a.references(f, name.Context)
	if err != nil || !ok {
		return nil, err
	}
	subject := name.String()
	if !a.claim(subject, f, about) {
		return nil, nil
	}
	q := registry.Registration{Subject: subject, Type: format.Protobuf, Text: string(a.plan.texts[f.Path()]), References: refs}
	s, err := a.draft.Register(q)
	var refusal *registry.Refusal
	switch {
	case err == nil:
		return s, nil
	case !errors.As(err, &refusal) || errors.Is(err, registry.ErrForbidden):
		return nil, err
	case !errors.Is(err, registry.ErrIncompatible):
		a.complain(subject, placeOf(f, about), "%v", err)
		return nil, nil
	}
	faults, err := a.draft.Faults(q)
	if err != nil {
		return nil, err
	}
	for _, i := range faults {
		a.complain(subject, placeOf(f, locate(f, i.Path)), "%s: %s", i.Type, i.Description)
	}
	if len(faults) == 0 {
		a.complain(subject, placeOf(f, about), "%s", refusal.Detail)
	}
	return nil, nil
}

// maxComplaints is how many complaints are told, and maxComplaint how long one may be: they go into headers too.
const (
	maxComplaints = 20
	maxComplaint  = 500
)

func (a *application) complain(subject, place, text string, args ...any) {
	if len(a.complaints) >= maxComplaints {
		a.complaints[maxComplaints-1] = "and more"
		return
	}
	one := fmt.Sprintf("subject %s: %s: %s", subject, place, fmt.Sprintf(text, args...))
	if len(one) > maxComplaint {
		one = strings.ToValidUTF8(one[:maxComplaint], "") + "…"
	}
	a.complaints = append(a.complaints, one)
}

// references registers the files that a file imports, and returns them as serializers refer to them: in the order of
// imports, those that are passed on last.
func (a *application) references(f linker.File, context string) (refs []catalog.Reference, ok bool, err error) {
	var public []catalog.Reference
	for i := range f.Imports().Len() {
		dep := f.Imports().Get(i)
		if knownImport(dep.Path()) {
			continue
		}
		imported := f.FindImportByPath(dep.Path())
		if imported == nil {
			return nil, false, fmt.Errorf("%s imports %s, which was not compiled", f.Path(), dep.Path())
		}
		s, err := a.file(imported, context)
		if err != nil || s == nil {
			return nil, false, err
		}
		ref := catalog.Reference{Name: dep.Path(), Subject: dep.Path(), Version: s.Version}
		if dep.IsPublic {
			public = append(public, ref)
		} else {
			refs = append(refs, ref)
		}
	}
	return append(refs, public...), true, nil
}

// claim takes a subject for the module of a file. A subject of another module is not to be had.
func (a *application) claim(subject string, f linker.File, about protoreflect.Descriptor) bool {
	id := a.plan.modules[f.Path()]
	have, taken := a.draft.Ledger().Get(claimKey(subject))
	if taken && string(have) != id {
		other := "another module"
		if m, ok := byID[module](a.draft.Ledger(), "module", string(have)); ok {
			other = "module " + m.fullName()
		}
		a.complain(subject, placeOf(f, about), "it belongs to %s", other)
		return false
	}
	a.draft.Put(claimKey(subject), []byte(id))
	return true
}

// locate finds what the path of an incompatibility leads to, as far as it is in a file: names of messages, and the number
// of a field at last.
func locate(f protoreflect.FileDescriptor, path string) protoreflect.Descriptor {
	steps := strings.Split(strings.TrimPrefix(path, "#/"), "/")
	var at protoreflect.Descriptor
	messages, enums := f.Messages(), f.Enums()
	for i, step := range steps {
		if m := messages.ByName(protoreflect.Name(step)); m != nil {
			at, messages, enums = m, m.Messages(), m.Enums()
			continue
		}
		if e := enums.ByName(protoreflect.Name(step)); e != nil {
			return e
		}
		m, ok := at.(protoreflect.MessageDescriptor)
		if !ok {
			return at
		}
		return member(m, steps[i:])
	}
	return at
}

// member finds a field by its number, or a oneof by its name, and else the message itself.
func member(m protoreflect.MessageDescriptor, steps []string) protoreflect.Descriptor {
	for _, step := range slices.Backward(steps) {
		var n protoreflect.FieldNumber
		if _, err := fmt.Sscan(step, &n); err == nil {
			if fd := m.Fields().ByNumber(n); fd != nil {
				return fd
			}
		}
		if o := m.Oneofs().ByName(protoreflect.Name(step)); o != nil {
			return o
		}
	}
	return m
}
