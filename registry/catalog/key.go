package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"moldau/internal/jsontext"
)

// ErrRecord says that a record of the topic can't be understood or contradicts what is known already.
var ErrRecord = errors.New("registry record")

// The types of records.
const (
	schemaType        = "SCHEMA"
	configType        = "CONFIG"
	modeType          = "MODE"
	contextType       = "CONTEXT"
	deleteSubjectType = "DELETE_SUBJECT"
	clearSubjectType  = "CLEAR_SUBJECT"
	noopType          = "NOOP"
)

// tenant is the only one there is here; the form of context records has a place for others.
const tenant = "default"

// Key says what a record is about.
type Key struct {
	kind    string
	subject string // qualified; the context in CONTEXT records
	version int32
}

// SchemaKey is the key of a version.
func SchemaKey(subject string, version int32) Key { return Key{schemaType, subject, version} }

// ConfigKey is the key of a subject's or context's config; an empty scope means the default context.
func ConfigKey(scope string) Key { return Key{configType, scope, 0} }

// ModeKey is the key of a subject's or context's mode; an empty scope means the default context.
func ModeKey(scope string) Key { return Key{modeType, scope, 0} }

// ContextKey is the key of the record that says that a context exists.
func ContextKey(context string) Key { return Key{contextType, context, 0} }

// keyJSON is a key of any type. Field names are matched as they are written by every version of Confluent's registry.
type keyJSON struct {
	KeyType string  `json:"keytype"`
	Subject *string `json:"subject"`
	Version int32   `json:"version"`
	Magic   int32   `json:"magic"`
	Tenant  string  `json:"tenant"`
	Context string  `json:"context"`
}

// ParseKey reads a key in any order of its fields.
func ParseKey(raw []byte) (Key, error) {
	var j keyJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return Key{}, fmt.Errorf("%w: key: %w", ErrRecord, err)
	}
	k := Key{kind: j.KeyType}
	if j.Subject != nil {
		k.subject = Normal(*j.Subject)
	}
	switch j.KeyType {
	case schemaType:
		if j.Magic != 0 && j.Magic != 1 {
			return Key{}, fmt.Errorf("%w: key: the magic of a schema is %d", ErrRecord, j.Magic)
		}
		if j.Version < 1 {
			return Key{}, fmt.Errorf("%w: key: the version is %d", ErrRecord, j.Version)
		}
		k.version = j.Version
	case contextType:
		k.subject = j.Context
	case configType, modeType, deleteSubjectType, clearSubjectType, noopType:
	default:
		return Key{}, fmt.Errorf("%w: key: there is no type %q", ErrRecord, j.KeyType)
	}
	return k, nil
}

// Append appends the key as it is written here, always with the same bytes for the same key.
func (k Key) Append(dst []byte) []byte {
	dst = append(dst, `{"keytype":"`...)
	dst = append(dst, k.kind...)
	dst = append(dst, '"')
	switch {
	case k.kind == contextType:
		dst = append(dst, `,"tenant":"`+tenant+`","context":`...)
		dst = jsontext.AppendString(dst, k.subject)
	case k.subject != "" || k.kind == schemaType:
		dst = append(dst, `,"subject":`...)
		dst = jsontext.AppendString(dst, k.subject)
	}
	magic := byte('0')
	if k.kind == schemaType {
		dst = append(dst, `,"version":`...)
		dst = strconv.AppendInt(dst, int64(k.version), 10)
		magic = '1'
	}
	dst = append(dst, `,"magic":`...)
	return append(dst, magic, '}')
}

// String is the key in the words that answers to clients use.
func (k Key) String() string {
	if k.kind == schemaType {
		return fmt.Sprintf("{magic=1,keytype=%s,subject=%s,version=%d}", k.kind, k.subject, k.version)
	}
	return fmt.Sprintf("{magic=0,keytype=%s,subject=%s}", k.kind, k.subject)
}
