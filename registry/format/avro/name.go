package avro

import (
	"strings"
	"unicode"

	"moldau/registry/format"
)

// name is the name of a type in a namespace, which is empty for none.
type name struct{ space, simple string }

func newName(text, space string) name {
	if dot := strings.LastIndexByte(text, '.'); dot >= 0 {
		return name{text[:dot], text[dot+1:]}
	}
	return name{space, text}
}

func (n name) full() string {
	if n.space == "" {
		return n.simple
	}
	return n.space + "." + n.simple
}

// in is how the name is written where a namespace is the current one.
func (n name) in(space string) string {
	if n.space != "" && n.space == space && !kindNames[n.simple] {
		return n.simple
	}
	return n.full()
}

// listed is the name as an alias of a type in a namespace: a leading dot marks one without a namespace.
func (n name) listed(space string) string {
	if n.space == "" && space != "" {
		return "." + n.simple
	}
	return n.full()
}

// checkName holds one part of a name against the language's rule. A new schema has names of ASCII letters, digits and
// underscores; what was accepted earlier may have letters and digits of any script.
func checkName(s string, strict bool, what string) error {
	for i, r := range s {
		if r == '_' || letter(r, strict) || i > 0 && digit(r, strict) {
			continue
		}
		if i == 0 {
			return format.Invalid("%s %q begins with %q, which is no letter and no underscore", what, s, r)
		}
		return format.Invalid("%s %q contains %q, which is no letter, digit or underscore", what, s, r)
	}
	if s == "" {
		return format.Invalid("%s is empty", what)
	}
	return nil
}

func letter(r rune, strict bool) bool {
	if r < unicode.MaxASCII || strict {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return r <= 0xFFFF && unicode.IsLetter(r)
}

func digit(r rune, strict bool) bool {
	if r < unicode.MaxASCII || strict {
		return '0' <= r && r <= '9'
	}
	return r <= 0xFFFF && unicode.IsDigit(r)
}

// checkSpace holds every part of a namespace against the rule for new schemas.
func checkSpace(space string) error {
	if space == "" {
		return nil
	}
	for part := range strings.SplitSeq(space, ".") {
		if err := checkName(part, true, "the part of namespace "+space); err != nil {
			return err
		}
	}
	return nil
}
