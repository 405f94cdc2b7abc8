package serde

import (
	"crypto/tls"
	"errors"
	"net/http"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"moldau/registry/format"
)

// Config says which registry to use and how much to remember. What is zero has a default.
type Config struct {
	// URLs are where replicas of one registry answer; the next one is asked when one can't be reached. A path is kept, so
	// that http://host:8081/contexts/.name works within one context.
	URLs []string
	// User and Password are for basic authentication, Token is a bearer token. At most one of the two kinds is used.
	User, Password, Token string
	// TLS is for URLs that begin with https; nil takes the roots of the system.
	TLS *tls.Config
	// Transport carries the requests instead of the network, as it does where the registry runs in the same process.
	Transport http.RoundTripper
	// UserAgent is told to the registry.
	UserAgent string

	// Timeout bounds one request.
	Timeout time.Duration
	// MaxSchemas and MaxBytes bound the schemas that are remembered, the bytes being those of their texts.
	MaxSchemas, MaxBytes int
	// LatestAge is how long the latest version of a subject is taken to be the latest.
	LatestAge time.Duration
	// UnknownAge is how long a schema that was not found is not asked for again, FailureAge the same for a registry that
	// could not answer.
	UnknownAge, FailureAge time.Duration
	// Limits bounds what one schema may cost.
	Limits format.Limits
}

const (
	defaultTimeout    = 10 * time.Second
	defaultMaxSchemas = 1_000
	defaultMaxBytes   = 64 << 20
	defaultLatestAge  = 5 * time.Second
	defaultUnknownAge = 5 * time.Second
	defaultFailureAge = time.Second
	// maxAnswer bounds an answer of the registry.
	maxAnswer = 256 << 20
)

func (c *Config) complete() error {
	if len(c.URLs) == 0 {
		return errors.New("serde: the registry has no address")
	}
	if c.Token != "" && c.User != "" {
		return errors.New("serde: both a token and a user are given")
	}
	setDefault(&c.Timeout, defaultTimeout)
	setDefault(&c.MaxSchemas, defaultMaxSchemas)
	setDefault(&c.MaxBytes, defaultMaxBytes)
	setDefault(&c.LatestAge, defaultLatestAge)
	setDefault(&c.UnknownAge, defaultUnknownAge)
	setDefault(&c.FailureAge, defaultFailureAge)
	if c.UserAgent == "" {
		c.UserAgent = "moldau"
	}
	if c.Limits == (format.Limits{}) {
		c.Limits = format.DefaultLimits()
	}
	return nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// connect makes what speaks to the registry, and what carries its requests.
func (c *Config) connect() (*sr.Client, *http.Client, error) {
	transport := c.Transport
	if transport == nil {
		t, ok := http.DefaultTransport.(*http.Transport)
		if !ok {
			t = &http.Transport{Proxy: http.ProxyFromEnvironment}
		}
		t = t.Clone()
		t.TLSClientConfig = c.TLS
		t.MaxIdleConnsPerHost = 8
		transport = t
	}
	carrier := &http.Client{Timeout: c.Timeout, Transport: bounded{transport}}
	opts := []sr.ClientOpt{sr.URLs(c.URLs...), sr.UserAgent(c.UserAgent), sr.HTTPClient(carrier)}
	switch {
	case c.Token != "":
		opts = append(opts, sr.BearerToken(c.Token))
	case c.User != "":
		opts = append(opts, sr.BasicAuth(c.User, c.Password))
	}
	client, err := sr.NewClient(opts...)
	return client, carrier, err
}

// bounded keeps an answer from filling the memory.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxAnswer)
	}
	return resp, err
}

// CloseIdleConnections closes the connections that are not in use.
func (b bounded) CloseIdleConnections() {
	if t, ok := b.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}
