package jsonschema

import (
	"fmt"
	"net/url"
	"strings"

	"moldau/registry/format"
)

const (
	// maxAddresses bounds the schemas inside others that have an address of their own, maxHidden the references to places
	// that no keyword makes a schema. The library's work for each of them grows with the number of schemas.
	maxAddresses, maxHidden = 500, 200
)

// survey counts what compiling a source costs before anything is compiled, as compiling cannot be stopped.
type survey struct {
	documents *documents
	limit     int
	// schemas is the number of schemas and enum values, addresses that of the schemas with an address of their own.
	schemas, addresses int
	// seen is the values that are schemas, pointers the references by JSON pointer with the schema they are in.
	seen     map[*value]bool
	pointers []pointerRef
}

type pointerRef struct {
	text string
	// base is the schema with an address that the reference is in, root the document.
	base, root *value
}

// admit checks that a source is a schema by its shape and within its limits.
func (d *documents) admit(l format.Limits) error {
	if k := d.root.value.kind; k != object && k != boolean {
		return format.Invalid("a schema is an object or a boolean, this is %s", k)
	}
	s := survey{documents: d, limit: l.Fields, seen: make(map[*value]bool)}
	s.document(d.root.value)
	for _, doc := range d.references {
		s.document(doc.value)
	}
	hidden := s.hidden()
	switch {
	case s.schemas > s.limit:
		return fmt.Errorf("%w: more than %d schemas and enum values, references included", format.ErrTooLarge, s.limit)
	case s.addresses > maxAddresses:
		return fmt.Errorf("%w: more than %d schemas with an address of their own", format.ErrTooLarge, maxAddresses)
	case hidden > maxHidden:
		return fmt.Errorf("%w: more than %d references to places that no keyword makes a schema", format.ErrTooLarge, maxHidden)
	default:
		return nil
	}
}

func (s *survey) document(root *value) {
	s.schema(root, root, root)
}

func (s *survey) schema(v, base, root *value) {
	if v.kind != object || s.schemas > s.limit || s.seen[v] {
		return
	}
	s.seen[v] = true
	s.schemas++
	if enum := v.get("enum"); enum != nil {
		s.schemas += len(enum.items)
	}
	for _, keyword := range []string{"id", "$id"} {
		if id, ok := v.get(keyword).characters(); ok && v != root && !strings.HasPrefix(id, "#") {
			s.addresses++
			base = v
		}
	}
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if ref, ok := v.get(keyword).characters(); ok && strings.Contains(ref, "#/") {
			s.pointers = append(s.pointers, pointerRef{ref, base, root})
		}
	}
	for _, m := range v.members {
		for _, inner := range m.schemas() {
			s.schema(inner, base, root)
		}
	}
}

// hidden counts the references that lead to no schema found so far, once for each text, and counts the schemas there too.
func (s *survey) hidden() int {
	found := make(map[pointerRef]bool)
	index := make(memberIndex)
	for i := 0; i < len(s.pointers); i++ { // schemas found on the way add to them
		p := s.pointers[i]
		if found[p] {
			continue
		}
		target, root := s.target(p, index)
		if target != nil && s.seen[target] {
			continue
		}
		found[p] = true
		if len(found) > maxHidden {
			break
		}
		if target != nil {
			s.schema(target, p.base, root)
		}
	}
	return len(found)
}

// target answers what a reference by pointer leads to and the document it is in, as far as that can be told without the
// addresses inside documents.
func (s *survey) target(p pointerRef, index memberIndex) (target, root *value) {
	address, fragment, _ := strings.Cut(p.text, "#")
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	tokens := pointer(fragment)
	if address != "" {
		doc, ok := s.documents.find(resolve(baseURL, address))
		if !ok {
			return nil, nil
		}
		return index.at(doc.value, tokens), doc.value
	}
	if target := index.at(p.base, tokens); target != nil {
		return target, p.root
	}
	return index.at(p.root, tokens), p.root
}

// memberIndex answers members of large objects without looking through all of them.
type memberIndex map[*value]map[string]*value

// at is value.at with an index.
func (x memberIndex) at(v *value, tokens []string) *value {
	for _, token := range tokens {
		switch {
		case v == nil:
			return nil
		case v.kind == array:
			v = v.item(token)
		case len(v.members) < indexFrom:
			v = v.get(token)
		default:
			v = x.members(v)[token]
		}
	}
	return v
}

func (x memberIndex) members(v *value) map[string]*value {
	byName, ok := x[v]
	if !ok {
		byName = make(map[string]*value, len(v.members))
		for _, m := range v.members {
			byName[m.name] = m.value
		}
		x[v] = byName
	}
	return byName
}
