package bufpush

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"
	ownerv1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/owner/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"moldau/registry"
)

const getModulesPath = "/buf.registry.module.v1.ModuleService/GetModules"

func zip(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestProtocol sends requests as clients do and as they should not.
func TestProtocol(t *testing.T) {
	e := start(t, fakeCluster(t), nil, func(c *registry.Config) { c.MaxPushBytes = 64 << 10 })
	e.create("acme/orders")
	q, err := proto.Marshal(&modulev1.GetModulesRequest{ModuleRefs: []*modulev1.ModuleRef{moduleRef("acme/orders")}})
	if err != nil {
		t.Fatal(err)
	}
	large := bytes.Repeat([]byte{0}, 65<<10)
	for _, c := range []struct {
		name, path string
		body       []byte
		headers    []string
		status     int
		says       string
	}{
		{"plain", getModulesPath, q, nil, 200, "orders"},
		{"gzip", getModulesPath, zip(t, q), []string{"Content-Encoding", "gzip"}, 200, "orders"},
		{"JSON", getModulesPath, []byte(`{"moduleRefs":[{"name":{"owner":"acme","module":"orders"}}],"more":1}`), []string{"Content-Type", "application/json; charset=utf-8"}, 200, `"name":"orders"`},
		{"unknown path", "/buf.registry.module.v1.ModuleService/Nothing", q, nil, 404, "not found"},
		{"unknown service", "/buf.alpha.registry.v1alpha1.WebhookService/List", nil, nil, 404, "not found"},
		{"not gzip", getModulesPath, q, []string{"Content-Encoding", "gzip"}, 400, invalidArgument},
		{"gzip cut", getModulesPath, zip(t, q)[:20], []string{"Content-Encoding", "gzip"}, 400, invalidArgument},
		{"unknown encoding", getModulesPath, q, []string{"Content-Encoding", "br"}, 501, unimplemented},
		{"no message", getModulesPath, []byte{0xff}, nil, 400, invalidArgument},
		{"no references", getModulesPath, nil, nil, 400, invalidArgument},
		{"gRPC", getModulesPath, q, []string{"Content-Type", "application/grpc"}, 415, ""},
		{"too large", getModulesPath, large, nil, 429, resourceExhausted},
		{"too large when expanded", getModulesPath, zip(t, large), []string{"Content-Encoding", "gzip"}, 429, resourceExhausted},
		{"mixed registries", "/buf.registry.module.v1beta1.UploadService/Upload", nil, nil, 501, "another registry"},
		{"forged forwarding", getModulesPath, q, []string{"X-Moldau-Forwarded-By", "x", "X-Moldau-Time", "1", "X-Moldau-Principal", "User:root"}, 401, unauthenticated},
	} {
		a := e.post(c.path, c.body, c.headers...)
		if a.status != c.status || !bytes.Contains(bytes.ToLower(a.body), []byte(strings.ToLower(c.says))) {
			t.Errorf("%s: %d %q", c.name, a.status, a.body)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.url+getModulesPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != http.MethodPost {
		t.Errorf("GET is answered %d", resp.StatusCode)
	}
	// A large answer is compressed for those who take it.
	e.push(nil, content("acme/orders", "a.proto", "syntax = \"proto3\";\n"+strings.Repeat("// nothing\n", 1000)))
	q, err = proto.Marshal(&modulev1.DownloadRequest{Values: []*modulev1.DownloadRequest_Value{{ResourceRef: ref("acme/orders")}}})
	if err != nil {
		t.Fatal(err)
	}
	a := e.post("/buf.registry.module.v1.DownloadService/Download", q, "Accept-Encoding", "gzip")
	if a.header.Get("Content-Encoding") != "gzip" || len(a.body) > 2000 {
		t.Fatalf("%d bytes, encoding %q", len(a.body), a.header.Get("Content-Encoding"))
	}
	z, err := gzip.NewReader(bytes.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(z); err != nil || !bytes.Contains(b, []byte("nothing")) {
		t.Error(err)
	}
}

// TestOlderLogin reads the answer as clients that log in do: user 1, of it id 1 and username 4.
func TestOlderLogin(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	body := e.post("/buf.alpha.registry.v1alpha1.AuthnService/GetCurrentUser", nil, "X-Principal", "User:Ada").body
	field := func(b []byte, n protowire.Number) []byte {
		for len(b) > 0 {
			num, kind, k := protowire.ConsumeTag(b)
			if k < 0 || kind != protowire.BytesType {
				break
			}
			v, m := protowire.ConsumeBytes(b[k:])
			if num == n {
				return v
			}
			b = b[k+m:]
		}
		t.Fatalf("no field %d in %x", n, b)
		return nil
	}
	user := field(body, 1)
	if id := string(field(user, 1)); !isID(id) || string(field(user, 4)) != "ada" {
		t.Errorf("the user is %q", user)
	}
	out := new(ownerv1.GetCurrentUserResponse)
	e.do("owner.v1.UserService/GetCurrentUser", &ownerv1.GetCurrentUserRequest{}, out, "X-Principal", "User:Ada")
	if out.GetUser().GetName() != "ada" {
		t.Errorf("the user is %v", out.GetUser())
	}
}

// TestWhoMayDoWhat: those without a name read public modules only, and private ones are not there for them.
func TestWhoMayDoWhat(t *testing.T) {
	e := start(t, fakeCluster(t), registry.KnownOnly{}, func(c *registry.Config) { c.TokensFile = "given" })
	create := func(name string, v modulev1.ModuleVisibility, headers ...string) problem {
		return e.try("module.v1.ModuleService/CreateModules", &modulev1.CreateModulesRequest{Values: []*modulev1.CreateModulesRequest_Value{{
			OwnerRef: &ownerv1.OwnerRef{Value: &ownerv1.OwnerRef_Name{Name: "acme"}}, Name: name, Visibility: v,
		}}}, new(modulev1.CreateModulesResponse), headers...)
	}
	ada := []string{"X-Principal", "User:ada"}
	if p := create("open", modulev1.ModuleVisibility_MODULE_VISIBILITY_PUBLIC); p.Code != unauthenticated {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
	create("open", modulev1.ModuleVisibility_MODULE_VISIBILITY_PUBLIC, ada...)
	create("closed", modulev1.ModuleVisibility_MODULE_VISIBILITY_PRIVATE, ada...)
	for _, c := range []struct {
		module  string
		headers []string
		code    string
	}{
		{"acme/open", nil, ""},
		{"acme/open", ada, ""},
		{"acme/closed", nil, notFoundCode},
		{"acme/closed", ada, ""},
		{"moldau/kafka", nil, ""},
	} {
		p := e.try("module.v1.ModuleService/GetModules", &modulev1.GetModulesRequest{ModuleRefs: []*modulev1.ModuleRef{moduleRef(c.module)}}, new(modulev1.GetModulesResponse), c.headers...)
		if p.Code != c.code {
			t.Errorf("%s %v: %s: %s", c.module, c.headers, p.Code, p.Message)
		}
	}
	listed := new(modulev1.ListModulesResponse)
	e.do("module.v1.ModuleService/ListModules", &modulev1.ListModulesRequest{}, listed)
	if len(listed.GetModules()) != 1 {
		t.Errorf("nobody sees %v", listed.GetModules())
	}
	if p := e.try("owner.v1.UserService/GetCurrentUser", &ownerv1.GetCurrentUserRequest{}, new(ownerv1.GetCurrentUserResponse)); p.Code != unauthenticated {
		t.Errorf("nobody is %s: %s", p.Code, p.Message)
	}
	p := e.try("module.v1.ModuleService/DeleteModules", &modulev1.DeleteModulesRequest{ModuleRefs: []*modulev1.ModuleRef{moduleRef("acme/open")}}, new(modulev1.DeleteModulesResponse))
	if p.Code != unauthenticated {
		t.Errorf("nobody deletes: %s", p.Code)
	}
}

// TestForwarded pushes to the replica that does not write: it has the other one do it, on behalf of the same principal, and
// shows it at once.
func TestForwarded(t *testing.T) {
	c := fakeCluster(t)
	a := start(t, c, nil)
	a.create("acme/orders")
	b := start(t, c, nil)
	if err := b.registry.Reach(t.Context(), a.registry.Position()); err != nil {
		t.Fatal(err)
	}
	out := new(modulev1.UploadResponse)
	q := &modulev1.UploadRequest{Contents: []*modulev1.UploadRequest_Content{content("acme/orders", "money/v1/money.proto", money)}}
	b.do("module.v1.UploadService/Upload", q, out, "X-Principal", "User:ada")
	if got := b.download("acme/orders", "money/v1/money.proto"); got != money {
		t.Errorf("b shows %s", got)
	}
	if got := out.GetCommits()[0].GetCreatedByUserId(); got != userID("User:ada") {
		t.Errorf("the commit is by %s", got)
	}
	if p := b.try("module.v1.UploadService/Upload", &modulev1.UploadRequest{Contents: []*modulev1.UploadRequest_Content{content("acme/orders", "a.proto", "x")}}, out); p.Code != invalidArgument {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
	b.create("acme/more")
}

// TestDigest holds the digest against one that the buf CLI has accepted for this content.
func TestDigest(t *testing.T) {
	files := []source{{"money/v1/money.proto", []byte(money)}, {"LICENSE", []byte("free\n")}}
	const want = "c4b4d4cb6bab3e2a25e4ffddc972ed9a2b93f977c29c20892d5c18bd5a3fd71ffabc03161da2fad39b1728428398be1835abb099f5d4f0ef56870229eb244021"
	if got := hex.EncodeToString(digest(files, nil)); got != want {
		t.Errorf("the digest is %s", got)
	}
	other := slices.Clone(files)
	slices.Reverse(other)
	if got := hex.EncodeToString(digest(other, nil)); got != want {
		t.Error("the order of files counts")
	}
	a, b := bytes.Repeat([]byte{1}, 64), bytes.Repeat([]byte{2}, 64)
	if !bytes.Equal(digest(files, [][]byte{a, b}), digest(files, [][]byte{b, a})) {
		t.Error("the order of dependencies counts")
	}
	if bytes.Equal(digest(files, [][]byte{a}), digest(files, [][]byte{b})) || bytes.Equal(digest(files, [][]byte{a}), digest(files, nil)) {
		t.Error("dependencies do not count")
	}
}
