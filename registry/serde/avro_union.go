package serde

import (
	"encoding/binary"
	"errors"
	"strings"
)

// union appends a value of a union. It comes as Avro's JSON has it, in an object whose one member is the name of the
// branch, or plain, when it fits one branch only.
func (e *avroEncoder) union(dst []byte, n *avroNode, v any) ([]byte, error) {
	if e.isDefault {
		return e.first(dst, n, v)
	}
	if v == nil {
		if i, ok := n.byBranch[string(avroNull)]; ok {
			return binary.AppendVarint(dst, int64(i)), nil
		}
		return dst, e.at("null is none of %s", branchNames(n))
	}
	tag, i, tagged := branchTag(n, v)
	if !tagged {
		return e.plain(dst, n, v)
	}
	out := binary.AppendVarint(dst, int64(i))
	err := e.within(tag, func() (err error) { out, err = e.value(out, n.branches[i], v.(map[string]any)[tag]); return err })
	if err == nil || errors.Is(err, errAvroSteps) {
		return out, err
	}
	// A record or map may have a member of that name itself.
	if plain, plainErr := e.plain(dst, n, v); plainErr == nil {
		return plain, nil
	}
	return dst, err
}

// branchTag tells whether v names a branch, which, and by what name.
func branchTag(n *avroNode, v any) (tag string, branch int, ok bool) {
	object, isObject := v.(map[string]any)
	if !isObject || len(object) != 1 {
		return "", 0, false
	}
	for tag = range object { // the only one
		branch, ok = n.byBranch[tag]
	}
	return tag, branch, ok
}

// plain appends a value that names no branch.
func (e *avroEncoder) plain(dst []byte, n *avroNode, v any) ([]byte, error) {
	var (
		start  = len(dst)
		fits   []string
		reason error
		tried  int
	)
	for i, b := range n.branches {
		if !e.sameKind(b, v) {
			continue
		}
		tried++
		end := len(dst)
		out, err := e.value(binary.AppendVarint(dst, int64(i)), b, v)
		if errors.Is(err, errAvroSteps) {
			return dst[:start], err
		}
		if err != nil {
			dst, reason = dst[:end], err
			continue
		}
		if fits = append(fits, b.name); len(fits) == 1 {
			dst = out // what others append behind it does not count
		}
	}
	switch {
	case len(fits) == 1:
		return dst, nil
	case len(fits) > 1:
		return dst[:start], e.at(`%s could be any of %s: name one, as in {"%s": ...}`, describe(v), strings.Join(fits, ", "), fits[0])
	case tried == 1:
		return dst[:start], reason
	}
	return dst[:start], e.at("%s is none of %s", describe(v), branchNames(n))
}

// sameKind tells whether a plain value may be one of a branch at all. Numbers in strings are for tagged values only, so
// that a text never becomes a number.
func (e *avroEncoder) sameKind(b *avroNode, v any) bool {
	_, text := v.(string)
	return b.kind != avroNull && !(text && (b.kind == avroFloat || b.kind == avroDouble))
}

// first appends a default, which is of the first branch that it fits.
func (e *avroEncoder) first(dst []byte, n *avroNode, v any) ([]byte, error) {
	for i, b := range n.branches {
		out, err := e.value(binary.AppendVarint(dst, int64(i)), b, v)
		if err == nil || errors.Is(err, errAvroSteps) {
			return out, err
		}
	}
	return dst, e.at("%s is none of %s", describe(v), branchNames(n))
}

func branchNames(n *avroNode) string {
	names := make([]string, len(n.branches))
	for i, b := range n.branches {
		names[i] = b.name
	}
	return some(names)
}
