package gateway

import (
	"strings"

	datav1 "moldau/gen/moldau/data/v1"
	"moldau/registry/serde"
)

// schemaOf returns the schema that a message names.
func schemaOf(s *datav1.Schema) *serde.Ref {
	ref := &serde.Ref{Message: s.GetMessage(), InHeader: s.GetFraming() == datav1.SchemaFraming_SCHEMA_FRAMING_HEADER}
	switch by := s.GetReference().(type) {
	case *datav1.Schema_Id:
		ref.ID = int(by.Id)
		if ref.ID == 0 {
			ref.ID = -1 // ids count from 1; 0 would stand for none
		}
	case *datav1.Schema_Version:
		ref.Subject, ref.Version = by.Version.GetSubject(), int(by.Version.GetVersion())
	case *datav1.Schema_Text:
		ref.Text, ref.Type, ref.Subject = by.Text.GetText(), by.Text.GetFormat(), by.Text.GetSubject()
		ref.Register, ref.Strategy = by.Text.GetRegister(), strategies[by.Text.GetStrategy()]
		for _, r := range by.Text.GetReferences() {
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
