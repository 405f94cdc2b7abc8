package protobuf

import (
	"strings"
	"unicode/utf8"
)

// printer writes elements in the one form that is stored: no comments, two blanks for each level, one blank line between
// the sections of a file or a message. Messages keep their order, because message indexes count on it.
type printer struct {
	// plain leaves out the options that are extensions, and extensions themselves.
	plain bool
}

// ownOptions is the prefix of the extensions that even a plain text keeps: they carry tags and rules.
const ownOptions = "confluent."

func (p printer) file(f *file) string {
	var b strings.Builder
	if f.syntax != "" {
		b.WriteString("syntax = \"" + f.syntax + "\";\n")
	}
	if f.edition != "" {
		b.WriteString("edition = \"" + f.edition + "\";\n")
	}
	if f.pkg != "" {
		b.WriteString("package " + f.pkg + ";\n")
	}
	p.imports(&b, f)
	p.section(&b, p.statements(f.options))
	p.section(&b, p.types(f.messages, f.enums))
	p.section(&b, p.extends(f.extends))
	var services strings.Builder
	for _, s := range f.services {
		services.WriteString(p.service(s))
	}
	p.section(&b, services.String())
	return b.String()
}

func (p printer) imports(b *strings.Builder, f *file) {
	var all strings.Builder
	for _, kind := range []struct {
		word  string
		paths []string
	}{{"", f.imports}, {"public ", f.publicImports}, {"weak ", f.weakImports}} {
		for _, path := range kind.paths {
			all.WriteString("import " + kind.word + "\"" + path + "\";\n")
		}
	}
	p.section(b, all.String())
}

// section writes a blank line and a text, if there is one.
func (p printer) section(b *strings.Builder, text string) {
	if text != "" {
		b.WriteString("\n" + text)
	}
}

// indented moves every line of a text one level to the right.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

func (p printer) types(messages []*message, enums []*enum) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(p.message(m))
	}
	for _, e := range enums {
		b.WriteString(p.enum(e))
	}
	return b.String()
}

func (p printer) message(m *message) string {
	return "message " + m.name + " {" + p.body(m) + "}\n"
}

func (p printer) body(m *message) string {
	var b, fields, oneofs, groups, ranges strings.Builder
	p.section(&b, indented(p.reserved(m.reserved)))
	p.section(&b, indented(p.statements(m.options)))
	for _, f := range m.fields {
		fields.WriteString(p.field(f))
	}
	p.section(&b, indented(fields.String()))
	for _, o := range m.oneofs {
		oneofs.WriteString(p.oneof(o))
	}
	p.section(&b, indented(oneofs.String()))
	for _, g := range m.groups {
		groups.WriteString(p.group(g))
	}
	p.section(&b, indented(groups.String()))
	if !p.plain {
		for _, x := range m.extensions {
			ranges.WriteString("extensions " + p.ranges(x.ranges) + p.compact(x.options) + ";\n")
		}
		p.section(&b, indented(ranges.String()))
	}
	p.section(&b, indented(p.extends(m.extends)))
	p.section(&b, indented(p.types(m.messages, m.enums)))
	return b.String()
}

func (p printer) reserved(list []reserved) string {
	var b strings.Builder
	for _, r := range list {
		b.WriteString("reserved " + p.ranges(r.ranges))
		for i, name := range r.names {
			if i > 0 || len(r.ranges) > 0 {
				b.WriteString(", ")
			}
			b.WriteString(`"` + escaped(name) + `"`)
		}
		b.WriteString(";\n")
	}
	return b.String()
}

func (p printer) ranges(list []numbers) string {
	texts := make([]string, len(list))
	for i, n := range list {
		switch {
		case n.first == n.last && !n.spelled:
			texts[i] = itoa(n.first)
		case n.last >= maxNumber:
			texts[i] = itoa(n.first) + " to max"
		default:
			texts[i] = itoa(n.first) + " to " + itoa(n.last)
		}
	}
	return strings.Join(texts, ", ")
}

func (p printer) field(f *field) string {
	var b strings.Builder
	if f.label != "" {
		b.WriteString(f.label + " ")
	}
	if f.typ != "" {
		b.WriteString(f.typ)
	} else {
		b.WriteString("map<" + f.key + ", " + f.value + ">")
	}
	b.WriteString(" " + f.name + " = " + itoa(f.number) + p.compact(f.options) + ";\n")
	return b.String()
}

func (p printer) oneof(o *oneof) string {
	var b, fields, groups strings.Builder
	b.WriteString("oneof " + o.name + " {")
	p.section(&b, indented(p.statements(o.options)))
	for _, f := range o.fields {
		fields.WriteString(p.field(f))
	}
	p.section(&b, indented(fields.String()))
	for _, g := range o.groups {
		groups.WriteString(p.group(g))
	}
	p.section(&b, indented(groups.String()))
	return b.String() + "}\n"
}

func (p printer) group(g *group) string {
	label := g.label
	if label != "" {
		label += " "
	}
	return label + "group " + g.body.name + " = " + itoa(g.number) + p.compact(g.options) + " {" + p.body(g.body) + "}\n"
}

func (p printer) extends(list []*extend) string {
	var b strings.Builder
	for _, x := range list {
		if p.plain {
			break
		}
		var fields strings.Builder
		for _, f := range x.fields {
			fields.WriteString(p.field(f))
		}
		for _, g := range x.groups {
			fields.WriteString(p.group(g))
		}
		b.WriteString("extend " + x.extendee + " {")
		p.section(&b, indented(fields.String()))
		b.WriteString("}\n")
	}
	return b.String()
}

// enum has no blank lines inside.
func (p printer) enum(e *enum) string {
	var b, all strings.Builder
	all.WriteString(p.reserved(e.reserved) + p.statements(e.options))
	for _, v := range e.values {
		all.WriteString(v.name + " = " + itoa(v.number) + p.compact(v.options) + ";\n")
	}
	b.WriteString("enum " + e.name + " {")
	p.section(&b, indented(all.String()))
	return b.String() + "}\n"
}

func (p printer) service(s *service) string {
	var b, rpcs strings.Builder
	b.WriteString("service " + s.name + " {")
	p.section(&b, indented(p.statements(s.options)))
	for _, m := range s.rpcs {
		rpcs.WriteString("rpc " + m.name + " (" + stream(m.streamsIn) + m.request + ") returns (" + stream(m.streamsOut) + m.response + ")")
		if options := p.statements(m.options); options != "" {
			rpcs.WriteString(" {\n" + indented(options) + "}")
		}
		rpcs.WriteString(";\n")
	}
	p.section(&b, indented(rpcs.String()))
	return b.String() + "}\n"
}

func stream(yes bool) string {
	if yes {
		return "stream "
	}
	return ""
}

func (p printer) kept(options []option) []option {
	if !p.plain {
		return options
	}
	var kept []option
	for _, o := range options {
		if !o.custom || strings.HasPrefix(o.name, ownOptions) {
			kept = append(kept, o)
		}
	}
	return kept
}

// statements writes options that stand for themselves.
func (p printer) statements(options []option) string {
	var b strings.Builder
	for _, o := range p.kept(options) {
		b.WriteString("option " + p.option(o) + ";\n")
	}
	return b.String()
}

// compact writes the options behind a field or a value, one in a line, unless there is just one.
func (p printer) compact(options []option) string {
	kept := p.kept(options)
	switch len(kept) {
	case 0:
		return ""
	case 1:
		return " [" + p.option(kept[0]) + "]"
	}
	texts := make([]string, len(kept))
	for i, o := range kept {
		texts[i] = p.option(o)
	}
	return " [\n" + listed(texts) + "]"
}

// listed writes texts one below the other with commas between them.
func listed(texts []string) string {
	var b strings.Builder
	for i, t := range texts {
		if i < len(texts)-1 {
			t += ","
		}
		b.WriteString(indented(t))
	}
	return b.String()
}

func (p printer) option(o option) string {
	name := o.name
	if o.custom {
		name = "(" + name + ")"
	}
	if o.value.kind == pathValue {
		return name + "." + p.option(*o.value.rest)
	}
	return name + " = " + p.value(o.value)
}

func (p printer) value(v value) string {
	switch v.kind {
	case stringValue:
		return `"` + escaped(v.text) + `"`
	case mapValue:
		texts := make([]string, len(v.entries))
		for i, e := range v.entries {
			texts[i] = e.name + ": " + p.value(e.value)
		}
		return "{\n" + listed(texts) + "}"
	case listValue:
		texts := make([]string, len(v.items))
		for i, item := range v.items {
			texts[i] = p.value(item)
		}
		return "[\n" + listed(texts) + "]"
	default:
		return v.text
	}
}

// escapes are the characters of a string that are written with a backslash.
var escapes = map[byte]string{
	'\a': `\a`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\v': `\v`, '\\': `\\`, '\'': `\'`, '"': `\"`,
}

// escaped writes a string between quotes. What is not text is written byte by byte.
func escaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if e, ok := escapes[s[i]]; ok {
			b.WriteString(e)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r == 0 {
			c := s[i]
			b.Write([]byte{'\\', '0' + c>>6, '0' + c>>3&7, '0' + c&7})
		} else {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}
