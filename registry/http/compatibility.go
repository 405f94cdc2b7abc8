package http

import (
	"errors"

	"moldau/registry"
)

// verdictJSON is the answer to a check of compatibility.
type verdictJSON struct {
	Compatible bool      `json:"is_compatible"`
	Messages   *[]string `json:"messages,omitempty"`
}

func checkAll(c *call) (any, error) { return c.check(nil) }

func checkOne(c *call) (any, error) {
	version, err := c.version()
	if err != nil {
		return nil, err
	}
	return c.check(&version)
}

// check tells whether a schema is compatible. Who wants to know all is told that a schema is invalid as one more reason.
func (c *call) check(version *int32) (any, error) {
	q, err := c.registration()
	if err != nil {
		return nil, err
	}
	verbose := c.flag("verbose")
	messages, err := c.registry.Check(c.Context(), q, version)
	if verbose && errors.Is(err, registry.ErrInvalidSchema) {
		var r *registry.Refusal
		errors.As(err, &r)
		messages, err = []string{r.Detail}, nil
	}
	if err != nil {
		return nil, err
	}
	out := verdictJSON{Compatible: len(messages) == 0}
	if verbose {
		list := append([]string{}, messages...)
		out.Messages = &list
	}
	return out, nil
}
