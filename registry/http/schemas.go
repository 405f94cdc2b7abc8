package http

import (
	"moldau/registry"
	"moldau/registry/catalog"
)

func root(*call) (any, error) { return struct{}{}, nil }

func searchSchemas(c *call) (any, error) {
	skip, take, err := c.page(c.registry.Config().SchemaLimit)
	if err != nil {
		return nil, err
	}
	found := c.registry.Search(c.Context(), registry.Search{
		Prefix: c.query.Get("subjectPrefix"), Aliases: c.flag("aliases"), Deleted: c.flag("deleted"),
		LatestOnly: c.flag("latestOnly"), RuleType: c.query.Get("ruleType"), Skip: skip, Take: take,
	})
	c.query.Del("format") // a search knows none
	out := make(schemaList, len(found))
	for i, f := range found {
		if out[i], err = c.schema(f.Schema); err != nil {
			return nil, err
		}
		out[i].Aliases = f.Aliases
	}
	return out, nil
}

func listTypes(c *call) (any, error) { return c.registry.Types(), nil }

// byID finds the schema of the id in the path.
func (c *call) byID() (*catalog.Schema, error) {
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	return c.registry.ByID(c.Context(), id, c.query.Get("subject"))
}

func getByID(c *call) (any, error) {
	s, err := c.byID()
	if err != nil {
		return nil, err
	}
	out, err := c.schema(s)
	if err != nil {
		return nil, err
	}
	if err := c.tagged(out, s); err != nil {
		return nil, err
	}
	out.ID = nil
	if !c.query.Has("subject") {
		out.Subject, out.Version = "", 0
	}
	if c.flag("fetchMaxId") {
		highest := c.registry.MaxID(s)
		out.MaxID = &highest
	}
	return out, nil
}

func getTextByID(c *call) (any, error) {
	s, err := c.byID()
	if err != nil {
		return nil, err
	}
	return c.text(s)
}

// text answers the text of a schema as it is.
func (c *call) text(s *catalog.Schema) (any, error) {
	t, err := c.registry.Formatted(c.Context(), s, c.query.Get("format"))
	return text(t), err
}

func (c *call) usesOfID() ([]*catalog.Schema, error) {
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	return c.registry.UsesOf(c.Context(), id, c.query.Get("subject"), c.flag("deleted"))
}

func listSubjectsOfID(c *call) (any, error) {
	uses, err := c.usesOfID()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range uses {
		if len(out) == 0 || out[len(out)-1] != s.Subject {
			out = append(out, s.Subject)
		}
	}
	return paged(c, out, unlimited)
}

// subjectVersion is a subject with a version in an answer.
type subjectVersion struct {
	Subject string `json:"subject"`
	Version int32  `json:"version"`
}

func listVersionsOfID(c *call) (any, error) {
	uses, err := c.usesOfID()
	if err != nil {
		return nil, err
	}
	var out []subjectVersion
	for _, s := range uses {
		out = append(out, subjectVersion{s.Subject, s.Version})
	}
	return paged(c, out, unlimited)
}

func getByGUID(c *call) (any, error) {
	s, err := c.registry.ByGUID(c.Context(), c.param("guid"))
	if err != nil {
		return nil, err
	}
	out, err := c.schema(s)
	if err == nil {
		out.Subject, out.Version, out.ID = "", 0, nil
	}
	return out, err
}

// contextID is an id with its context in an answer.
type contextID struct {
	Context string `json:"context"`
	ID      int32  `json:"id"`
}

func listIDsOfGUID(c *call) (any, error) {
	out := []contextID{}
	for _, s := range c.registry.IDsOf(c.Context(), c.param("guid")) {
		out = append(out, contextID{s.Name().Context, s.ID})
	}
	return out, nil
}
