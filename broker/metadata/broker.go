package metadata

// Broker is a registered broker of an image. It is immutable.
type Broker struct {
	ID int32
	// Epoch is the create revision of the registration: it grows every time the broker registers.
	Epoch     int64
	Rack      string // empty when none is configured
	Endpoints []Endpoint
	// Fenced brokers are registered but lead nothing and are shown to no client.
	Fenced bool
	// Draining brokers are about to stop: they serve, and get no new leadership.
	Draining bool

	modRev Rev
}

// same reports whether two entries say the same.
func (b *Broker) same(o *Broker) bool {
	return b.ID == o.ID && b.modRev == o.modRev && b.Epoch == o.Epoch && b.Fenced == o.Fenced && b.Draining == o.Draining
}

// Endpoint is one listener of a broker as clients should reach it.
type Endpoint struct {
	Name             string `json:"name"` // listener name
	Host             string `json:"host"`
	Port             int32  `json:"port"`
	SecurityProtocol string `json:"securityProtocol"` // PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL
}

// Endpoint returns the endpoint of a listener.
func (b *Broker) Endpoint(listener string) (Endpoint, bool) {
	for _, e := range b.Endpoints {
		if e.Name == listener {
			return e, true
		}
	}
	return Endpoint{}, false
}
