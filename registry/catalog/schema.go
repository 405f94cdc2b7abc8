package catalog

import (
	"crypto/md5" //nolint:gosec // identity, not security: it is what clients of the registry compute too
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
)

// Reference is what a schema says it refers to: a name inside its text, and the subject and version that hold it.
type Reference struct {
	Name    string `json:"name,omitempty"`
	Subject string `json:"subject,omitempty"`
	Version int32  `json:"version,omitempty"`
}

// Schema is one version of a subject.
type Schema struct {
	Subject    string // qualified
	Version    int32
	ID         int32 // of the text in the subject's context
	Type       string
	References []Reference
	Metadata   *Metadata
	RuleSet    *RuleSet
	Text       string
	Deleted    bool // softly
	GUID       GUID
	Timestamp  int64 // milliseconds since 1970, when it was written
	Offset     int64 // of its record
}

// GUID is a hash of a schema: of its text, references, metadata and rules. It is the same in every registry.
type GUID [md5.Size]byte

// String is the GUID in the form of a UUID.
func (g GUID) String() string {
	var b [36]byte
	hex.Encode(b[:8], g[:4])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	hex.Encode(b[9:13], g[4:6])
	hex.Encode(b[14:18], g[6:8])
	hex.Encode(b[19:23], g[8:10])
	hex.Encode(b[24:], g[10:])
	return string(b[:])
}

// ParseGUID reads a GUID with or without hyphens.
func ParseGUID(text string) (GUID, bool) {
	var g GUID
	if len(text) == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-' {
		text = strings.ReplaceAll(text, "-", "")
	}
	if len(text) != 2*len(g) {
		return g, false
	}
	_, err := hex.Decode(g[:], []byte(text))
	return g, err == nil
}

// Sum is the GUID of a schema with this content.
func Sum(text string, refs []Reference, m *Metadata, r *RuleSet) GUID {
	h := md5.New() //nolint:gosec // see the import
	sumText(h, text)
	for _, ref := range refs {
		sumText(h, ref.Name)
		sumText(h, ref.Subject)
		var version [4]byte
		binary.BigEndian.PutUint32(version[:], uint32(ref.Version)) //nolint:gosec // the bits, as others hash them
		h.Write(version[:])
	}
	if m != nil {
		h.Write([]byte{1})
		m.sum(h)
	}
	if r != nil {
		h.Write([]byte{1})
		r.sum(h)
	}
	return GUID(h.Sum(nil))
}

// Sum is the GUID of the schema as it is now.
func (s *Schema) Sum() GUID { return Sum(s.Text, s.References, s.Metadata, s.RuleSet) }

// SameContent says whether two schemas have the same type, text, references, metadata and rules.
func (s *Schema) SameContent(o *Schema) bool {
	return s.Type == o.Type && s.Text == o.Text && slices.Equal(s.References, o.References) &&
		s.Metadata.Equal(o.Metadata) && s.RuleSet.Equal(o.RuleSet)
}

// Name is the subject's name in its parts.
func (s *Schema) Name() Name { return ParseName(s.Subject) }

// Key is the key of the schema's record.
func (s *Schema) Key() Key { return SchemaKey(s.Subject, s.Version) }

// index is the schema's place among others: by subject, then by version.
func (s *Schema) index() string { return versionIndex(s.Subject, s.Version) }

func versionIndex(subject string, version int32) string {
	b := make([]byte, 0, len(subject)+5)
	b = append(append(b, subject...), 0)
	return string(binary.BigEndian.AppendUint32(b, uint32(version))) //nolint:gosec // versions are positive
}
