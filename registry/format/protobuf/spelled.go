package protobuf

import (
	"strings"

	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// spelledMaps is a parsed file that may spell out maps: a repeated field of a message with the option map_entry. The
// language forbids that in source text, but clients that print their compiled descriptors register such texts, so the
// option is taken out before the compiler sees it, and the fields look to it as if they came from a descriptor.
type spelledMaps struct {
	parser.Result
	// entries are the simple names of the messages with the option.
	entries map[string]bool
}

func parseSpelled(tree *ast.FileNode, handler *reporter.Handler) (spelledMaps, error) {
	nodes := map[*ast.MessageNode]bool{}
	for _, d := range tree.Decls {
		if m, ok := d.(*ast.MessageNode); ok {
			takeMapEntry(m, nodes)
		}
	}
	result, err := parser.ResultFromAST(tree, true, handler)
	if err != nil {
		return spelledMaps{}, err
	}
	s := spelledMaps{Result: result, entries: map[string]bool{}}
	s.mark(result.FileDescriptorProto().GetMessageType(), nodes)
	if len(s.entries) > 0 {
		renameMapEntries(result.FileDescriptorProto().GetMessageType())
		s.note(result.FileDescriptorProto().GetMessageType())
	}
	return s, nil
}

// takeMapEntry removes the option from a message and those inside it, and notes where it was.
func takeMapEntry(m *ast.MessageNode, nodes map[*ast.MessageNode]bool) {
	kept := m.Decls[:0:0]
	for _, d := range m.Decls {
		switch d := d.(type) {
		case *ast.MessageNode:
			takeMapEntry(d, nodes)
		case *ast.OptionNode:
			if isMapEntryOption(d) {
				nodes[m] = true
				continue
			}
		}
		kept = append(kept, d)
	}
	m.Decls = kept
}

func isMapEntryOption(n *ast.OptionNode) bool {
	value, ok := n.Val.(ast.IdentValueNode)
	return ok && value.AsIdentifier() == "true" && len(n.Name.Parts) == 1 && n.Name.Parts[0].Value() == mapEntryOption
}

func (s spelledMaps) mark(messages []*descriptorpb.DescriptorProto, nodes map[*ast.MessageNode]bool) {
	for _, md := range messages {
		if n, ok := s.MessageNode(md).(*ast.MessageNode); ok && nodes[n] {
			if md.Options == nil {
				md.Options = &descriptorpb.MessageOptions{}
			}
			md.Options.MapEntry = proto.Bool(true)
			s.entries[md.GetName()] = true
		}
		s.mark(md.GetNestedType(), nodes)
	}
}

// note keeps the names that the messages have now.
func (s spelledMaps) note(messages []*descriptorpb.DescriptorProto) {
	for _, md := range messages {
		if md.GetOptions().GetMapEntry() {
			s.entries[md.GetName()] = true
		}
		s.note(md.GetNestedType())
	}
}

// FieldNode hides where a field comes from that spells out a map.
func (s spelledMaps) FieldNode(fd *descriptorpb.FieldDescriptorProto) ast.FieldDeclNode {
	name := fd.GetTypeName()
	name = name[strings.LastIndexByte(name, '.')+1:]
	if fd.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED && s.entries[name] {
		return ast.NewNoSourceNode(s.FileDescriptorProto().GetName())
	}
	return s.Result.FieldNode(fd)
}
