package http

// clusterIDJSON tells which clusters there are.
type clusterIDJSON struct {
	Scope struct {
		Path     []string          `json:"path"`
		Clusters map[string]string `json:"clusters"`
	} `json:"scope"`
	ID string `json:"id"`
}

func getClusterID(c *call) (any, error) {
	id, err := c.registry.ClusterID(c.Context())
	if err != nil {
		return nil, err
	}
	var out clusterIDJSON
	out.Scope.Path = []string{}
	out.Scope.Clusters = map[string]string{"kafka-cluster": id, "schema-registry-cluster": c.registry.Group()}
	return out, nil
}

func getServerVersion(c *call) (any, error) {
	return struct {
		Version  string `json:"version"`
		CommitID string `json:"commitId"`
	}{c.registry.Config().Version, ""}, nil
}

func getDeployment(*call) (any, error) {
	return struct {
		Attributes []string `json:"attributes"`
	}{[]string{}}, nil
}
