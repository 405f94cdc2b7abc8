package http

import (
	"strings"

	"moldau/registry"
	"moldau/registry/catalog"
)

// anySubject is the prefix of the names of all subjects in all contexts.
const anySubject = ":*:"

// filter is what a list holds, by the parameters deleted and deletedOnly.
func (c *call) filter() catalog.Filter {
	switch {
	case c.flag("deletedOnly"):
		return catalog.DeletedOnly
	case c.flag("deleted"):
		return catalog.LiveAndDeleted
	}
	return catalog.Live
}

func listSubjects(c *call) (any, error) {
	prefix := anySubject
	if c.query.Has("subjectPrefix") {
		prefix = c.query.Get("subjectPrefix")
	}
	return paged(c, c.registry.Subjects(c.Context(), prefix, c.filter()), unlimited)
}

func lookUp(c *call) (any, error) {
	q, err := c.registration()
	if err != nil {
		return nil, err
	}
	s, err := c.registry.Lookup(c.Context(), q, c.flag("deleted"))
	if err != nil {
		return nil, err
	}
	return c.schema(s)
}

func deleteSubject(c *call) (any, error) {
	return c.registry.DeleteSubject(c.Context(), c.param("subject"), c.flag("permanent"))
}

func getWithMetadata(c *call) (any, error) {
	keys, values := c.query["key"], c.query["value"]
	properties := map[string]string{}
	for i := range min(len(keys), len(values)) {
		properties[keys[i]] = values[i]
	}
	s, err := c.registry.WithMetadata(c.Context(), c.param("subject"), properties, c.flag("deleted"))
	if err != nil {
		return nil, err
	}
	return c.schema(s)
}

func listVersions(c *call) (any, error) {
	f := c.filter()
	negative := c.flag("deletedAsNegative")
	if negative {
		f = catalog.LiveAndDeleted
	}
	versions, err := c.registry.Versions(c.Context(), c.param("subject"), f)
	if err != nil {
		return nil, err
	}
	out := make([]int32, len(versions))
	for i, s := range versions {
		out[i] = s.Version
		if negative && s.Deleted {
			out[i] = -s.Version
		}
	}
	return paged(c, out, unlimited)
}

func register(c *call) (any, error) {
	q, err := c.registration()
	if err != nil {
		return nil, err
	}
	s, err := c.registry.Register(c.Context(), q)
	if err != nil {
		return nil, err
	}
	return c.registered(s, strings.TrimSpace(q.Text) != "" && len(q.AddTags)+len(q.RemoveTags) == 0 && !q.PropagateTags)
}

// atVersion finds the version in the path.
func (c *call) atVersion(deleted bool) (*catalog.Schema, error) {
	version, err := c.version()
	if err != nil {
		return nil, err
	}
	return c.registry.Version(c.Context(), c.param("subject"), version, deleted)
}

func getVersion(c *call) (any, error) {
	s, err := c.atVersion(c.flag("deleted"))
	if err != nil {
		return nil, err
	}
	out, err := c.schema(s)
	if err != nil {
		return nil, err
	}
	return out, c.tagged(out, s)
}

func getVersionText(c *call) (any, error) {
	s, err := c.atVersion(c.flag("deleted"))
	if err != nil {
		return nil, err
	}
	return c.text(s)
}

func listReferrers(c *call) (any, error) {
	version, err := c.version()
	if err != nil {
		return nil, err
	}
	by, err := c.registry.Referrers(c.Context(), c.param("subject"), version, c.flag("deleted"))
	if err != nil {
		return nil, err
	}
	out := make([]int32, len(by))
	for i, s := range by {
		out[i] = s.ID
	}
	return paged(c, out, c.registry.Config().SchemaLimit)
}

func deleteVersion(c *call) (any, error) {
	version, err := c.version()
	if err != nil {
		return nil, err
	}
	return c.registry.DeleteVersion(c.Context(), c.param("subject"), version, c.flag("permanent"))
}

// tagRequest is the body of a request for other tags.
type tagRequest struct {
	NewVersion    integer           `json:"newVersion"`
	TagsToAdd     []tagsJSON        `json:"tagsToAdd"`
	TagsToRemove  []tagsJSON        `json:"tagsToRemove"`
	Metadata      *catalog.Metadata `json:"metadata"`
	RuleSet       *catalog.RuleSet  `json:"ruleSet"`
	RulesToMerge  *catalog.RuleSet  `json:"rulesToMerge"`
	RulesToRemove []string          `json:"rulesToRemove"`
}

func modifyTags(c *call) (any, error) {
	version, err := c.version()
	if err != nil {
		return nil, err
	}
	var b tagRequest
	if err := c.decode(&b); err != nil {
		return nil, err
	}
	s, err := c.registry.Retag(c.Context(), registry.Tagging{
		Subject: c.param("subject"), Version: version, NewVersion: int32(b.NewVersion),
		Add: entities(b.TagsToAdd), Remove: entities(b.TagsToRemove),
		Metadata: b.Metadata, RuleSet: b.RuleSet, MergeRules: b.RulesToMerge, DropRules: b.RulesToRemove,
	})
	if err != nil {
		return nil, err
	}
	return c.registered(s, false)
}
