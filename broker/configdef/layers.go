package configdef

import "maps"

// Layers holds the configs that were set for a broker, by where they were set. Texts by name; nil maps are empty.
type Layers struct {
	// Broker is what was changed for this one broker while it ran. It wins over everything.
	Broker map[string]string
	// Cluster is what was changed for all brokers while they ran.
	Cluster map[string]string
	// Static is what the broker was started with.
	Static map[string]string
}

// InForce returns the configs in force on the broker: each name with the strongest text set for it. Names that nobody
// set are not there.
func (l Layers) InForce() map[string]string {
	m := make(map[string]string, len(l.Broker)+len(l.Cluster)+len(l.Static))
	maps.Copy(m, l.Static)
	maps.Copy(m, l.Cluster)
	maps.Copy(m, l.Broker)
	return m
}
