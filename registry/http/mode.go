package http

import "net/http"

// modeJSON is a mode in an answer.
type modeJSON struct {
	Mode string `json:"mode,omitempty"`
}

func getMode(c *call) (any, error) {
	mode, err := c.registry.Mode(c.Context(), c.param("subject"), c.flag("defaultToGlobal"))
	return modeJSON{mode}, err
}

func putMode(c *call) (any, error) {
	var b struct {
		Mode change[string] `json:"mode"`
	}
	if err := c.decode(&b); err != nil {
		return nil, err
	}
	if !b.Mode.set {
		return nil, problem(http.StatusUnprocessableEntity, "The request names no mode")
	}
	if err := c.registry.SetMode(c.Context(), c.param("subject"), b.Mode.value, c.flag("force")); err != nil {
		return nil, err
	}
	return modeJSON{b.Mode.value}, nil
}

func deleteMode(c *call) (any, error) {
	mode, err := c.registry.DeleteMode(c.Context(), c.param("subject"), c.flag("recursive"))
	return modeJSON{mode}, err
}
