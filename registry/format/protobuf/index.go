package protobuf

import (
	"slices"
	"strings"

	"moldau/registry/format"
)

// MessageIndexes answers the path by which records name a message of this schema: the place of each message among those
// beside it, from the top of the file down. Messages that hold a map's entries count where the text spells them out.
func (s *Schema) MessageIndexes(fullName string) ([]int, error) {
	name := fullName
	if s.leaf.pkg != "" {
		var ok bool
		if name, ok = strings.CutPrefix(fullName, s.leaf.pkg+"."); !ok {
			return nil, format.Invalid("message %q is not in package %s", fullName, s.leaf.pkg)
		}
	}
	var indexes []int
	messages := s.leaf.messages
	for part := range strings.SplitSeq(name, ".") {
		i := slices.IndexFunc(messages, func(m *message) bool { return m.name == part })
		if i < 0 {
			return nil, format.Invalid("the schema has no message %q", fullName)
		}
		indexes = append(indexes, i)
		messages = messages[i].messages
	}
	return indexes, nil
}

// MessageName answers the full name of the message that a path of indexes stands for. An empty path stands for the first.
func (s *Schema) MessageName(indexes []int) (string, error) {
	if len(indexes) == 0 {
		indexes = []int{0}
	}
	var parts []string
	messages := s.leaf.messages
	for _, i := range indexes {
		if i < 0 || i >= len(messages) {
			return "", format.Invalid("the schema has no message with the indexes %v", indexes)
		}
		parts = append(parts, messages[i].name)
		messages = messages[i].messages
	}
	return s.leaf.qualified(strings.Join(parts, ".")), nil
}
