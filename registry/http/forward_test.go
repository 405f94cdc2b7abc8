package http

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"moldau/registry"
	"moldau/registry/relay"
)

func TestWritesAreForwarded(t *testing.T) {
	c := fakeCluster(t)
	a := startEnv(t, c)
	a.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	b := startEnv(t, c)
	// Reads and what is registered already are answered by any replica, everything else by the one that writes; who asks
	// the other one sees what it has written.
	b.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	b.want("POST", "/subjects/s/versions", schema(hit2), 200, `{"id":2}`)
	b.want("GET", "/subjects/s/versions", "", 200, `[1,2]`)
	b.want("POST", "/subjects/s/versions", schema(hit3), 409, `{"error_code":40901...`)
	b.want("POST", "/subjects/a%2Fb/versions?normalize=true", schema(hit1), 200, `{"version":1,"id":1,"guid":"...`, acceptUnknown, "true")
	b.want("PUT", "/config/s", `{"compatibility":"NONE"}`, 200, `{"compatibility":"NONE"}`)
	b.want("GET", "/config/s", "", 200, `{"compatibilityLevel":"NONE"}`)
	b.want("PUT", "/mode/s", `{"mode":"READONLY"}`, 200, `{"mode":"READONLY"}`)
	b.want("DELETE", "/mode/s", "", 200, `{"mode":"READONLY"}`)
	b.want("DELETE", "/subjects/s/versions/1", "", 200, `1`)
	b.want("DELETE", "/contexts/.none", "", 204, ``)
	b.want("DELETE", "/subjects/none", "", 404, `{"error_code":40401...`)
	a.want("GET", "/subjects", "", 200, `["a/b","s"]`)
	// The one that wrote goes, and the other one takes over.
	a.stop()
	b.want("POST", "/subjects/t/versions", schema(hit3), 200, `{"id":3}`)
}

// TestForwardedOverTLS: replicas that speak TLS know each other by an authority of their own, bodies included; one that does not
// know it says so.
func TestForwardedOverTLS(t *testing.T) {
	ca, cert, key := certificates(t)
	secure := func(trusted string) func(*registry.Config) {
		return func(c *registry.Config) { c.TLSCertFile, c.TLSKeyFile, c.TLSCAFile = cert, key, trusted }
	}
	c := fakeCluster(t)
	a := startEnv(t, c, secure(ca))
	a.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	b := startEnv(t, c, secure(ca))
	b.want("POST", "/subjects/s/versions", schema(hit2), 200, `{"id":2}`)
	b.want("GET", "/subjects/s/versions", "", 200, `[1,2]`)
	b.want("POST", "/subjects/s/versions", schema(hit3), 409, `{"error_code":40901...`)
	stranger := startEnv(t, c, secure(""))
	stranger.want("POST", "/subjects/t/versions", schema(hit3), 500, `{"error_code":50003,"message":"Error while forwarding the request to the leader: the request could not be forwarded to the replica that writes: ...`)
	a.want("GET", "/subjects", "", 200, `["s"]`)
}

// pointed is a registry that takes a given replica for the one that writes.
type pointed struct{ *registry.Registry }

func (pointed) OwnedBy(ctx context.Context, _ string) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func TestForwards(t *testing.T) {
	c := fakeCluster(t)
	a := startEnv(t, c)
	a.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	a.want("DELETE", "/subjects/s", "", 401, `{"error_code":401,"message":"Unauthorized: ...`, "X-Moldau-Forwarded-By", "evil", "X-Moldau-Time", "1")
	b := startEnv(t, c)
	forward := func(from, to *env, patience time.Duration) (*relay.Reply, error) {
		r := relay.New(pointed{from.registry}, nil)
		defer r.Close()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodDelete, from.url+"/subjects/s", nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Do(&relay.Request{Request: req}, func() error { return &registry.ElsewhereError{URL: to.url} })
	}
	// A replica that does not write and is taken for the one that does sends nothing on.
	if reply, err := forward(a, b, time.Second); !errors.Is(err, relay.ErrNotDone) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", reply, err)
	}
	a.want("GET", "/subjects", "", 200, `["s"]`)
	reply, err := forward(b, a, 30*time.Second)
	if err != nil || reply.Status != http.StatusOK || string(reply.Body) != "[1]" || reply.Header.Get("Content-Type") != defaultMedia {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestNoClusterIsToldInTime(t *testing.T) {
	e := startEnv(t, fakeCluster(t), func(c *registry.Config) {
		c.BootstrapServers = []string{"127.0.0.1:1"}
		c.RequestTimeout = 300 * time.Millisecond
	})
	e.want("GET", "/subjects", "", 500, `{"error_code":50002...`)
	if err := e.registry.Ready(t.Context()); err == nil {
		t.Error("it says it is ready")
	}
}
