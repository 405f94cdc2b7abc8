package http

func listContexts(c *call) (any, error) {
	return paged(c, c.registry.Contexts(c.Context(), c.query.Get("contextPrefix")), unlimited)
}

func deleteContext(c *call) (any, error) {
	if err := c.registry.DeleteContext(c.Context(), c.param("context")); err != nil {
		return nil, err
	}
	return nothing{}, nil
}
