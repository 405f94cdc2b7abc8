package http

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"moldau/registry"
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

func TestForgedForwards(t *testing.T) {
	c := fakeCluster(t)
	a := startEnv(t, c)
	a.want("POST", "/subjects/s/versions", schema(hit1), 200, `{"id":1}`)
	now := strconv.FormatInt(time.Now().UnixMilli(), 10)
	forged := base64.StdEncoding.EncodeToString(make([]byte, 32))
	a.want("DELETE", "/subjects/s", "", 401, `{"error_code":401,"message":"The forwarded request is not signed by a replica of this registry"}`,
		forwardedByHeader, "evil", timeHeader, now, signatureHeader, forged)
	a.want("DELETE", "/subjects/s", "", 401, `{"error_code":401,"message":"The forwarded request is too old...`,
		forwardedByHeader, "evil", timeHeader, "1", signatureHeader, forged)
	// What a replica signed is good for that request only, and for a while.
	b := startEnv(t, c)
	by, proof, err := b.registry.Sign(t.Context(), message("DELETE", "/subjects/s", "User:x", now, nil))
	if err != nil {
		t.Fatal(err)
	}
	signed := base64.StdEncoding.EncodeToString(proof)
	headers := []string{forwardedByHeader, by, timeHeader, now, signatureHeader, signed, principalHeader, "User:x"}
	a.want("DELETE", "/subjects/s?permanent=true", "", 401, `{"error_code":401...`, headers...)
	eventually(t, func() bool {
		status, _ := a.do("DELETE", "/subjects/s", "", headers...)
		return status == http.StatusOK
	})
	// A forwarded request is not forwarded again.
	proofB := func(method, uri string) []string {
		by, proof, err := a.registry.Sign(t.Context(), message(method, uri, "User:x", now, nil))
		if err != nil {
			t.Fatal(err)
		}
		return []string{forwardedByHeader, by, timeHeader, now, signatureHeader, base64.StdEncoding.EncodeToString(proof), principalHeader, "User:x"}
	}
	eventually(t, func() bool {
		status, body := b.do("DELETE", "/subjects/s?permanent=true", "", proofB("DELETE", "/subjects/s?permanent=true")...)
		return status == 500 && strings.HasPrefix(body, `{"error_code":50004`)
	})
}

// eventually calls ok until it is true; the keys of replicas are read again once a second at most.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for range 50 {
		if ok() {
			return
		}
		if !pause(t.Context(), 100*time.Millisecond) {
			break
		}
	}
	t.Error("it does not come to that")
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
