package serde

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// Reference is what a schema refers to: a name inside its text, and the subject and version that hold it.
type Reference struct {
	Name    string `json:"name"`
	Subject string `json:"subject"`
	Version int    `json:"version"`
}

// latest is the version that stands for the latest one.
const latest = -1

// Ref names the schema to encode with, in one of three ways: by its id; by a subject and a version; or by its text, which
// is then looked up under the subject, and with Register registered there when it is new.
type Ref struct {
	// ID is the schema's id. A subject beside it says in whose context the id counts.
	ID int
	// Subject is where the schema is kept. Left out, Strategy makes it from Topic, IsKey and, but for the strategy Topic,
	// the name of what the text describes.
	Subject string
	// Version is a version of the subject; 0 and -1 mean the latest.
	Version int

	// Text is a schema's text, Type its format: AVRO, PROTOBUF or JSON, empty for AVRO. References are what it refers to.
	Text, Type string
	References []Reference
	// Register registers the text if the subject does not have it; Normalize has it looked up and registered normalized.
	Register, Normalize bool

	Topic    string
	IsKey    bool
	Strategy Strategy

	// Message is the full name of the message that payloads hold, for Protobuf; empty for the first of the file.
	Message string
	// InHeader has the schema named in a record header instead of at the head of the payload.
	InHeader bool
}

// check refuses what contradicts itself, and fills in what follows from the rest.
func (r *Ref) check() error {
	switch {
	case r.ID < 0:
		return invalid("the id %d is negative", r.ID)
	case r.ID > 0 && (r.Text != "" || r.Version != 0):
		return invalid("an id stands alone: a version or a text beside it makes no sense")
	case r.Text != "" && r.Version != 0:
		return invalid("a version beside a text makes no sense")
	case r.Version < latest:
		return invalid("the version %d is negative", r.Version)
	case r.Text == "" && (r.Type != "" || len(r.References) > 0 || r.Register):
		return invalid("a type, references and registration need a text")
	}
	if r.Text != "" && r.Type == "" {
		r.Type = typeAvro
	}
	if r.ID > 0 || r.Subject != "" {
		return nil
	}
	if r.Text == "" && r.Strategy != "" && r.Strategy != Topic {
		return invalid("the strategy %s needs a subject, an id or a text", r.Strategy)
	}
	if r.Strategy != "" && r.Strategy != Topic {
		return nil // the text will tell
	}
	var err error
	r.Subject, err = Topic.Subject(r.Topic, r.IsKey, "")
	return err
}

// key is what the schema is remembered by.
func (r *Ref) key() key {
	switch {
	case r.ID > 0:
		return key{kind: byID, id: r.ID, subject: contextOf(r.Subject)}
	case r.Text == "":
		version := r.Version
		if version == 0 {
			version = latest
		}
		return key{kind: byVersion, subject: r.Subject, version: version}
	}
	return key{kind: byText, sum: r.sum()}
}

func (r *Ref) sum() [sha256.Size]byte {
	h := sha256.New()
	add := func(text string) {
		h.Write(binary.AppendUvarint(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	for _, text := range []string{
		r.Text, r.Type, r.Subject, r.Topic, string(r.Strategy), r.Message,
		strconv.FormatBool(r.IsKey), strconv.FormatBool(r.Register), strconv.FormatBool(r.Normalize),
	} {
		add(text)
	}
	for _, ref := range r.References {
		add(ref.Name)
		add(ref.Subject)
		add(strconv.Itoa(ref.Version))
	}
	return [sha256.Size]byte(h.Sum(nil))
}
