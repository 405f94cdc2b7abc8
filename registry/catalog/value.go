package catalog

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// avro is the type of schemas that name none.
const avro = "AVRO"

// schemaJSON is the value of a SCHEMA record.
type schemaJSON struct {
	Subject    string      `json:"subject"`
	Version    int32       `json:"version"`
	ID         int32       `json:"id"`
	MD5        string      `json:"md5,omitempty"`
	SchemaType string      `json:"schemaType,omitempty"`
	References []Reference `json:"references,omitempty"`
	Metadata   *Metadata   `json:"metadata,omitempty"`
	RuleSet    *RuleSet    `json:"ruleSet,omitempty"`
	Schema     string      `json:"schema"`
	Deleted    bool        `json:"deleted"`
}

// configJSON is the value of a CONFIG record.
type configJSON struct {
	Subject string `json:"subject,omitempty"`
	Config
}

// modeJSON is the value of a MODE record.
type modeJSON struct {
	Subject string `json:"subject,omitempty"`
	Mode    string `json:"mode"`
}

// subjectJSON is the value of a DELETE_SUBJECT or CLEAR_SUBJECT record.
type subjectJSON struct {
	Subject string `json:"subject,omitempty"`
	Version int32  `json:"version,omitempty"`
}

// contextJSON is the value of a CONTEXT record.
type contextJSON struct {
	Tenant  string `json:"tenant"`
	Context string `json:"context"`
}

// noopJSON is the value of a NOOP record. Other registries write none and read none.
type noopJSON struct {
	MaxIDs map[string]int32 `json:"maxIds,omitempty"`
}

// encode writes a value. Values are plain data that can always be written.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("registry value: %v", err)) // no type of this file can fail
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func encodeSchema(s *Schema) []byte {
	return encode(schemaJSON{
		Subject: s.Subject, Version: s.Version, ID: s.ID, SchemaType: s.Type, References: s.References,
		Metadata: s.Metadata, RuleSet: s.RuleSet, Schema: s.Text, Deleted: s.Deleted,
	})
}

func decodeSchema(k Key, r Record) (*Schema, error) {
	var j schemaJSON
	if err := json.Unmarshal(r.Value, &j); err != nil {
		return nil, fmt.Errorf("%w: schema: %w", ErrRecord, err)
	}
	if j.ID < 0 {
		return nil, fmt.Errorf("%w: the id of a schema is %d", ErrRecord, j.ID)
	}
	if j.SchemaType == "" {
		j.SchemaType = avro
	}
	s := &Schema{
		Subject: k.subject, Version: k.version, ID: j.ID, Type: j.SchemaType, References: j.References,
		Metadata: j.Metadata, RuleSet: j.RuleSet, Text: j.Schema, Deleted: j.Deleted,
		Timestamp: r.Timestamp, Offset: r.Offset,
	}
	if sum, err := base64.StdEncoding.DecodeString(j.MD5); err == nil && len(sum) == len(s.GUID) {
		s.GUID = GUID(sum)
	} else {
		s.GUID = s.Sum()
	}
	return s, nil
}

func decode(what string, raw []byte, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrRecord, what, err)
	}
	return nil
}
