package bufpush

import (
	"crypto/sha256"
	"encoding/hex"

	"moldau/proto"
)

// mainLabel is the default label of modules that name none.
const mainLabel = "main"

// optionsOwner has the module with the options that name subjects.
const (
	optionsOwner  = "moldau"
	optionsModule = "kafka"
)

// builtIn are the modules inside the program.
func builtIn() *shelf {
	s := &shelf{owners: map[string]*owner{}, modules: map[string]*module{}, commits: map[string]*commit{}, latest: map[string]*commit{}}
	o := &owner{ID: fixedID("owner", optionsOwner), Name: optionsOwner, Description: "Modules inside the server."}
	m := &module{
		ID: fixedID("module", optionsOwner, optionsModule), OwnerID: o.ID, Owner: optionsOwner, Name: optionsModule,
		Description: "Options that name the subjects of messages.", DefaultLabel: mainLabel, Commits: 1,
	}
	files := []source{{proto.SubjectPath, []byte(proto.SubjectText)}}
	c := fixedCommit(m, 1, files)
	s.owners[o.Name], s.modules[m.fullName()], s.commits[c.ID], s.latest[m.fullName()] = o, m, c, c
	return s
}

// fixedCommit is a commit whose id depends on what it holds.
func fixedCommit(m *module, number int, files []source) *commit {
	d := digest(files, nil)
	c := &commit{
		ID: fixedID("commit", m.ID, hex.EncodeToString(d)), ModuleID: m.ID, Module: m.fullName(), OwnerID: m.OwnerID,
		Number: number, Digest: d,
	}
	for _, f := range files {
		c.Files = append(c.Files, fileOf(f, true))
	}
	return c
}

// fileOf describes a file, and keeps its content if that is wanted.
func fileOf(s source, keep bool) file {
	sum := sha256.Sum256(s.content)
	f := file{Path: s.path, Sum: hex.EncodeToString(sum[:]), Size: len(s.content)}
	if keep {
		f.content = s.content
	}
	return f
}
