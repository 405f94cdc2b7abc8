package jsonschema

import (
	"encoding/json"
	"strings"
)

type kind int

const (
	null kind = iota
	boolean
	number
	str
	array
	object
)

func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// value is a JSON value that keeps the order of its members.
type value struct {
	kind kind
	// text is the characters of a string, the literal of a number, true or false. A surrogate that stands alone, which
	// UTF-8 has no form for, is kept in three bytes that are no valid UTF-8.
	text    string
	items   []*value
	members []member
}

type member struct {
	name  string
	value *value
}

// get answers a member of an object, nil where there is none or the value is no object.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	for i := range v.members {
		if v.members[i].name == name {
			return v.members[i].value
		}
	}
	return nil
}

// set puts a member in place of the one of that name, else at the end.
func (v *value) set(name string, to *value) {
	for i := range v.members {
		if v.members[i].name == name {
			v.members[i].value = to
			return
		}
	}
	v.members = append(v.members, member{name, to})
}

// remove takes a member away.
func (v *value) remove(name string) {
	for i := range v.members {
		if v.members[i].name == name {
			v.members = append(v.members[:i], v.members[i+1:]...)
			return
		}
	}
}

// characters answers a string; ok is false for anything else, nothing included.
func (v *value) characters() (s string, ok bool) {
	if v == nil || v.kind != str {
		return "", false
	}
	return v.text, true
}

// clone is a copy that shares nothing with v.
func (v *value) clone() *value {
	c := &value{kind: v.kind, text: v.text}
	for _, item := range v.items {
		c.items = append(c.items, item.clone())
	}
	for _, m := range v.members {
		c.members = append(c.members, member{m.name, m.value.clone()})
	}
	return c
}

// plain is the value in the form the library works with.
func (v *value) plain() any {
	switch v.kind {
	case boolean:
		return v.text == "true"
	case number:
		return json.Number(v.text)
	case str:
		return strings.ToValidUTF8(v.text, "\uFFFD")
	case array:
		items := make([]any, len(v.items))
		for i, item := range v.items {
			items[i] = item.plain()
		}
		return items
	case object:
		members := make(map[string]any, len(v.members))
		for _, m := range v.members {
			members[strings.ToValidUTF8(m.name, "\uFFFD")] = m.value.plain()
		}
		return members
	default:
		return nil
	}
}

// item answers an item by the text of its index, nil where there is none.
func (v *value) item(token string) *value {
	index := 0
	for _, c := range token {
		if c < '0' || c > '9' || index > len(v.items) {
			return nil
		}
		index = index*10 + int(c-'0')
	}
	if token == "" || index >= len(v.items) {
		return nil
	}
	return v.items[index]
}
