package bufpush

import (
	"slices"
	"strings"
)

// entry is a commit in a list. It is read when it is shown: a module may have many, each with the names of all its files.
type entry struct {
	id   string // empty where it is not known before the commit is read
	read func() (*commit, error)
}

func entryOf(c *commit) entry { return entry{c.ID, func() (*commit, error) { return c, nil }} }

func (v *view) entryByID(id string) entry {
	return entry{id, func() (*commit, error) { return v.commitByID(id) }}
}

// pageOf cuts a page out of a list and reads its commits.
func pageOf(all []entry, size uint32, token string) (commits []*commit, next string, err error) {
	part, next, err := page(all, size, token)
	if err != nil {
		return nil, "", err
	}
	for _, e := range part {
		c, err := e.read()
		if err != nil {
			return nil, "", err
		}
		commits = append(commits, c)
	}
	return commits, next, nil
}

// entries are the commits of a module whose ids begin with a prefix, the newest last.
func (v *view) entries(m *module, prefix string) []entry {
	var out []entry
	if all, ok := v.unpushed(m); ok {
		for _, e := range all {
			if strings.HasPrefix(e.id, prefix) {
				out = append(out, e)
			}
		}
		return out
	}
	under := "commit/" + m.ID + "/"
	var keys []string
	if prefix == "" {
		for key := range v.ledger.Find(under) {
			keys = append(keys, key)
		}
	} else {
		for _, key := range v.ledger.Find(idKey(prefix)) {
			if strings.HasPrefix(string(key), under) {
				keys = append(keys, string(key))
			}
		}
		slices.Sort(keys)
	}
	for _, key := range keys {
		out = append(out, entry{read: func() (*commit, error) {
			c, ok := get[commit](v.ledger, key)
			if !ok {
				return nil, notFound("there is no commit at %s", key)
			}
			return c, nil
		}})
	}
	return out
}

// unpushed are the commits of a module that nobody pushed.
func (v *view) unpushed(m *module) ([]entry, bool) {
	if m.subject != "" {
		return v.generated.entries(m), true
	}
	if c := v.built.latest[m.fullName()]; c != nil {
		return []entry{entryOf(c)}, true
	}
	return nil, false
}

// history are the commits that a label was set to, the newest last.
func (v *view) history(l *label) []entry {
	var out []entry
	for _, id := range v.ledger.Find("move/" + l.ID + "/") {
		out = append(out, v.entryByID(string(id)))
	}
	if len(out) == 0 { // a label that was not pushed
		out = []entry{v.entryByID(l.Commit)}
	}
	return out
}
