package conform

import (
	"context"
	"fmt"

	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"moldau/registry/catalog"
	"moldau/registry/format/protobuf"
)

// protoMessage is one message of a schema, as the walk needs it.
type protoMessage struct {
	desc protoreflect.MessageDescriptor
	// dense holds the fields of small numbers in their places, sparse the others.
	dense  []*protoField
	sparse map[int32]*protoField
	// required has a bit for each required field. A message that has more than 64 sets crowded, and is always looked at in
	// the slow way.
	required uint64
	crowded  bool
}

// protoField is one field of a message.
type protoField struct {
	name   string
	number int32
	wire   uint8
	// packable is a repeated field of a scalar type, of which a run of values may come in one piece.
	packable bool
	repeated bool
	// text is a string that has to be valid UTF-8.
	text bool
	// bit is that of the field among the required ones.
	bit uint64
	// known are the numbers of a closed enum, where it matters that another one leaves the field unset.
	known protoreflect.EnumValueDescriptors
	// oneof is one more than the place of the oneof that the field is in.
	oneof   int
	message *protoMessage
}

// The wire types.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireGroup   = 3
	wireEnd     = 4
	wireFixed32 = 5
)

// denseFields bounds the numbers of fields that are found by their place.
const denseFields = 128

func (m *protoMessage) field(number int32) *protoField {
	if int(number) < len(m.dense) {
		return m.dense[number]
	}
	return m.sparse[number]
}

// protoIndex is a message of the file itself, by the place that the wire names it by.
type protoIndex struct {
	message *protoMessage
	nested  []*protoIndex
}

// protoChecker checks payloads of one Protobuf file.
type protoChecker struct {
	roots []*protoIndex
	rules *protoRules
}

func compileProtobuf(ctx context.Context, s *protobuf.Schema, rules *catalog.RuleSet, level Level, l Limits) (Checker, error) {
	file := s.Descriptor()
	if file == nil {
		return nil, fmt.Errorf("%w: its text does not compile", ErrUncheckable)
	}
	p := protoPlanner{ctx: ctx, schema: s, file: file, done: map[protoreflect.FullName]*protoMessage{}}
	roots, err := p.level(nil)
	if err != nil {
		return nil, err
	}
	c := &protoChecker{roots: roots}
	if level == Rules {
		c.rules, err = compileProtoRules(ctx, p.named, rules, l)
	}
	return c, err
}

// protoPlanner makes the plans of a file's messages.
type protoPlanner struct {
	ctx    context.Context
	schema *protobuf.Schema
	file   protoreflect.FileDescriptor
	done   map[protoreflect.FullName]*protoMessage
	// named are the messages that the wire can name.
	named []protoreflect.MessageDescriptor
}

// level makes the messages at one level of the file, whose path is given.
func (p *protoPlanner) level(path []int) ([]*protoIndex, error) {
	var found []*protoIndex
	for i := 0; ; i++ {
		at := append(path[:len(path):len(path)], i)
		name, err := p.schema.MessageName(at)
		if err != nil {
			return found, nil //nolint:nilerr // there is no further message
		}
		if err := p.ctx.Err(); err != nil {
			return nil, err
		}
		desc := findMessage(p.file, protoreflect.FullName(name))
		if desc == nil {
			return nil, fmt.Errorf("%w: message %s is not in its descriptor", ErrUncheckable, name)
		}
		nested, err := p.level(at)
		if err != nil {
			return nil, err
		}
		p.named = append(p.named, desc)
		found = append(found, &protoIndex{p.message(desc), nested})
	}
}

// findMessage finds a message in a file or in what it imports publicly.
func findMessage(file protoreflect.FileDescriptor, name protoreflect.FullName) protoreflect.MessageDescriptor {
	if m := messageIn(file.Messages(), name); m != nil {
		return m
	}
	for i := range file.Imports().Len() {
		if imp := file.Imports().Get(i); imp.IsPublic {
			if m := findMessage(imp.FileDescriptor, name); m != nil {
				return m
			}
		}
	}
	return nil
}

func messageIn(messages protoreflect.MessageDescriptors, name protoreflect.FullName) protoreflect.MessageDescriptor {
	for i := range messages.Len() {
		m := messages.Get(i)
		if m.FullName() == name {
			return m
		}
		if found := messageIn(m.Messages(), name); found != nil {
			return found
		}
	}
	return nil
}

func (p *protoPlanner) message(desc protoreflect.MessageDescriptor) *protoMessage {
	if known := p.done[desc.FullName()]; known != nil {
		return known
	}
	m := &protoMessage{desc: desc, sparse: map[int32]*protoField{}}
	p.done[desc.FullName()] = m
	next := uint64(1)
	for i := range desc.Fields().Len() {
		f := p.field(desc.Fields().Get(i))
		if mustBeSet(desc.Fields().Get(i)) {
			m.crowded = m.crowded || next == 0
			f.bit = next
			m.required |= next
			next <<= 1
		}
		m.put(f)
	}
	return m
}

// mustBeSet says whether decoders refuse a message without a field: one that is required, and the value of a map's entry where
// the empty message that stands in for it lacks a required field.
func mustBeSet(f protoreflect.FieldDescriptor) bool {
	if f.Cardinality() == protoreflect.Required {
		return true
	}
	return f.ContainingMessage().IsMapEntry() && f.Message() != nil && f.Message().RequiredNumbers().Len() > 0
}

func (m *protoMessage) put(f *protoField) {
	if f.number >= denseFields {
		m.sparse[f.number] = f
		return
	}
	for int(f.number) >= len(m.dense) {
		m.dense = append(m.dense, nil)
	}
	m.dense[f.number] = f
}

func (p *protoPlanner) field(desc protoreflect.FieldDescriptor) *protoField {
	f := &protoField{
		name:     string(desc.Name()),
		number:   int32(desc.Number()),
		wire:     wireOf(desc.Kind()),
		repeated: desc.Cardinality() == protoreflect.Repeated,
	}
	f.packable = f.repeated && f.wire != wireBytes && f.wire != wireGroup
	if o := desc.ContainingOneof(); o != nil {
		f.oneof = o.Index() + 1
	}
	switch {
	case desc.Kind() == protoreflect.StringKind:
		f.text = mustBeText(desc)
	case desc.Message() != nil:
		f.message = p.message(desc.Message())
	case desc.Enum() != nil && desc.Enum().IsClosed() && (desc.Cardinality() == protoreflect.Required || f.oneof != 0):
		f.known = desc.Enum().Values()
	}
	return f
}

func wireOf(k protoreflect.Kind) uint8 {
	switch k {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return wireFixed32
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return wireFixed64
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return wireBytes
	case protoreflect.GroupKind:
		return wireGroup
	default:
		return wireVarint
	}
}

// mustBeText says whether decoders check the UTF-8 of a string: those of proto3, of editions unless a feature says
// otherwise, and of maps; in proto2 others where an option asks Java for it.
func mustBeText(desc protoreflect.FieldDescriptor) bool {
	if desc.ContainingMessage().IsMapEntry() {
		return true
	}
	if o, ok := desc.ParentFile().Options().(*descriptorpb.FileOptions); ok && o.GetJavaStringCheckUtf8() {
		return true
	}
	if desc.Syntax() != protoreflect.Editions {
		return desc.Syntax() == protoreflect.Proto3
	}
	feature := (*descriptorpb.FeatureSet)(nil).ProtoReflect().Descriptor().Fields().ByName("utf8_validation")
	v, err := protoutil.ResolveFeature(desc, feature)
	return err != nil || v.Enum() == descriptorpb.FeatureSet_VERIFY.Number()
}

// find answers the message that a path leads to; an empty path leads to the first.
func (c *protoChecker) find(index []int32) *protoMessage {
	if len(index) == 0 {
		index = firstMessage[:]
	}
	at := &protoIndex{nested: c.roots}
	for _, i := range index {
		if i < 0 || int(i) >= len(at.nested) {
			return nil
		}
		at = at.nested[i]
	}
	return at.message
}

var firstMessage = [1]int32{0}

// Check implements Checker.
func (c *protoChecker) Check(payload []byte, index []int32) error {
	m := c.find(index)
	if m == nil {
		return &Violation{UnknownMessage, fmt.Sprintf("the schema has no message with the indexes %v", index)}
	}
	w := protoWalk{buf: payload, depth: protoDepth}
	if !w.message(m, len(payload), 0) {
		return w.violation()
	}
	if w.missing {
		if v := missingField(m, payload); v != nil {
			return v
		}
	}
	if c.rules == nil {
		return nil
	}
	if w.strayKey {
		var err error
		if payload, err = protobuf.WithoutStrayKeys(m.desc, protoregistry.GlobalTypes, payload); err != nil {
			return &Violation{Undecided, fmt.Sprintf("the message cannot be decoded for its conditions: %v", err)}
		}
	}
	return c.rules.hold(m.desc, payload)
}
