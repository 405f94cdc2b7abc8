package bufpush

import (
	"encoding/json"
	"fmt"
	"strings"

	"moldau/registry/catalog"
)

// The kinds of records in the ledger, by the first segment of their keys:
//
//	owner/NAME                 an owner
//	module/OWNER/NAME          a module
//	commit/MODULE-ID/NUMBER    a commit; numbers rise from 1
//	digest/MODULE-ID/DIGEST    the id of the commit with a digest
//	label/MODULE-ID/NAME       a label
//	move/LABEL-ID/NUMBER       what a label was set to
//	blob/SUM/NUMBER            a piece of a file's content, by its SHA-256
//	claim/SUBJECT              the id of the module that a subject belongs to
//	id/ID                      the key of the owner, module, commit or label with an id
//
// Values are JSON, but for blobs, which are bytes, and those of digest, claim and id, which are text.

// owner is who has modules.
type owner struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	URL         string `json:"url,omitempty"`
	Created     int64  `json:"created"` // milliseconds since 1970, as all times
	Updated     int64  `json:"updated"`
}

// module is a named place for commits.
type module struct {
	ID           string `json:"id"`
	OwnerID      string `json:"ownerId"`
	Owner        string `json:"owner"`
	Name         string `json:"name"`
	Private      bool   `json:"private,omitempty"`
	Deprecated   bool   `json:"deprecated,omitempty"`
	Description  string `json:"description,omitempty"`
	URL          string `json:"url,omitempty"`
	DefaultLabel string `json:"defaultLabel"`
	Commits      int    `json:"commits"` // the number of the last one
	Created      int64  `json:"created"`
	Updated      int64  `json:"updated"`

	subject string // that a generated module shows; empty for others
}

func (m *module) fullName() string { return m.Owner + "/" + m.Name }

// commit is the content of a module at some time. It never changes.
type commit struct {
	ID       string   `json:"id"`
	ModuleID string   `json:"moduleId"`
	Module   string   `json:"module"` // owner/name
	OwnerID  string   `json:"ownerId"`
	Number   int      `json:"number"`
	Digest   []byte   `json:"digest"`
	Direct   []string `json:"direct,omitempty"` // the commits whose files it imports
	Deps     []string `json:"deps,omitempty"`   // those and all they need
	Files    []file   `json:"files"`
	User     string   `json:"user,omitempty"` // the principal who pushed it
	Source   string   `json:"source,omitempty"`
	Created  int64    `json:"created"`
}

// file is one file of a commit.
type file struct {
	Path string `json:"path"`
	Sum  string `json:"sum"` // SHA-256 in hexadecimal
	Size int    `json:"size"`

	content []byte // of files that are not in the ledger
}

// label is a name for a commit that can be moved.
type label struct {
	ID       string `json:"id"`
	ModuleID string `json:"moduleId"`
	OwnerID  string `json:"ownerId"`
	Name     string `json:"name"`
	Commit   string `json:"commit"`
	Moves    int    `json:"moves"`
	User     string `json:"user,omitempty"`
	Archived int64  `json:"archived,omitempty"`
	Created  int64  `json:"created"`
	Updated  int64  `json:"updated"`
}

func ownerKey(name string) string         { return "owner/" + name }
func moduleKey(owner, name string) string { return "module/" + owner + "/" + name }
func labelKey(module, name string) string { return "label/" + module + "/" + name }
func claimKey(subject string) string      { return "claim/" + subject }
func idKey(id string) string              { return "id/" + id }

func commitKey(module string, number int) string {
	return fmt.Sprintf("commit/%s/%010d", module, number)
}

func digestKey(module string, digest []byte) string {
	return fmt.Sprintf("digest/%s/%x", module, digest)
}

func moveKey(label string, number int) string { return fmt.Sprintf("move/%s/%010d", label, number) }

// blobsOf are the keys of the pieces of a content.
func blobsOf(sum string, size int) []string {
	out := make([]string, 0, size/blobPiece+1)
	for n := range (size + blobPiece - 1) / blobPiece {
		out = append(out, fmt.Sprintf("blob/%s/%06d", sum, n))
	}
	return out
}

// blobPiece is how much of a file one record holds: a topic that takes records of a megabyte takes it.
const blobPiece = 512 << 10

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("bufpush: " + err.Error()) // records are plain data
	}
	return b
}

// get reads a record; ok is false when there is none, or none that can be read.
func get[T any](l *catalog.Ledger, key string) (*T, bool) {
	raw, ok := l.Get(key)
	if !ok {
		return nil, false
	}
	v := new(T)
	if json.Unmarshal(raw, v) != nil {
		return nil, false
	}
	return v, true
}

// list reads the records whose keys begin with a prefix, in order.
func list[T any](l *catalog.Ledger, prefix string) []*T {
	var out []*T
	for _, raw := range l.Find(prefix) {
		if v := new(T); json.Unmarshal(raw, v) == nil {
			out = append(out, v)
		}
	}
	return out
}

// byID reads the record of a kind with an id.
func byID[T any](l *catalog.Ledger, kind, id string) (*T, bool) {
	key, ok := l.Get(idKey(id))
	if !ok || !strings.HasPrefix(string(key), kind+"/") {
		return nil, false
	}
	return get[T](l, string(key))
}
