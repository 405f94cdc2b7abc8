package gateway

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	datav1 "moldau/gen/moldau/data/v1"
	"moldau/registry/serde"
)

// maxSchemas bounds the schemas that one call may name: each may have to be asked for, and compiled.
const maxSchemas = 50

// schemaRefs are the schemas that the messages of a call name, each once.
type schemaRefs map[schemaName]*serde.Ref

// schemaName tells schemas of a call apart.
type schemaName struct {
	id, version      int32
	subject, message string
	text             string // the whole of SchemaText, in its wire form
	framing          datav1.SchemaFraming
}

// of returns the schema that a message names.
func (refs schemaRefs) of(s *datav1.Schema) (*serde.Ref, error) {
	name := schemaName{message: s.GetMessage(), framing: s.GetFraming()}
	switch by := s.GetReference().(type) {
	case *datav1.Schema_Id:
		if name.id = by.Id; name.id == 0 {
			name.id = -1 // ids count from 1; 0 would stand for none
		}
	case *datav1.Schema_Version:
		name.subject, name.version = by.Version.GetSubject(), by.Version.GetVersion()
	case *datav1.Schema_Text:
		if by.Text.GetText() == "" {
			return nil, errors.New("the schema has no text")
		}
		wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(by.Text)
		if err != nil {
			return nil, err
		}
		name.text = string(wire)
	}
	if ref, ok := refs[name]; ok {
		return ref, nil
	}
	if len(refs) == maxSchemas {
		return nil, fmt.Errorf("a call may name %d schemas, and this is one more", maxSchemas)
	}
	ref := schemaOf(s, &name)
	refs[name] = ref
	return ref, nil
}

func schemaOf(s *datav1.Schema, name *schemaName) *serde.Ref {
	ref := &serde.Ref{
		ID: int(name.id), Subject: name.subject, Version: int(name.version), Message: name.message,
		InHeader: name.framing == datav1.SchemaFraming_SCHEMA_FRAMING_HEADER,
	}
	if text := s.GetText(); text != nil {
		ref.Text, ref.Type, ref.Subject = text.GetText(), text.GetFormat(), text.GetSubject()
		ref.Register, ref.Strategy = text.GetRegister(), strategies[text.GetStrategy()]
		for _, r := range text.GetReferences() {
			ref.References = append(ref.References, serde.Reference{Name: r.GetName(), Subject: r.GetSubject(), Version: int(r.GetVersion())})
		}
	}
	return ref
}

var strategies = map[datav1.SubjectStrategy]serde.Strategy{
	datav1.SubjectStrategy_SUBJECT_STRATEGY_TOPIC:        serde.Topic,
	datav1.SubjectStrategy_SUBJECT_STRATEGY_RECORD:       serde.Record,
	datav1.SubjectStrategy_SUBJECT_STRATEGY_TOPIC_RECORD: serde.TopicRecord,
}

// decodedPayload returns what was decoded, or the bytes as they are and why they could not be.
func decodedPayload(d serde.Decoded, raw []byte, err error) (*datav1.Payload, string) {
	if err != nil {
		return &datav1.Payload{Content: &datav1.Payload_Raw{Raw: raw}}, strings.ToValidUTF8(err.Error(), "\ufffd")
	}
	s := &datav1.Schema{Message: d.Message, Format: d.Schema.Type, Guid: d.Schema.GUID}
	if d.Schema.ID > 0 {
		s.Reference = &datav1.Schema_Id{Id: int32(d.Schema.ID)} //nolint:gosec // ids have 32 bits
	}
	return &datav1.Payload{Content: &datav1.Payload_Schema{Schema: &datav1.SchemaValue{Schema: s, Json: d.JSON}}}, ""
}
