package bufpush

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"
	ownerv1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/owner/v1"
	"github.com/twmb/franz-go/pkg/kfake"
	"google.golang.org/protobuf/proto"

	"moldau/registry"
	"moldau/registry/catalog"
	"moldau/registry/format"
	"moldau/registry/format/protobuf"
	"moldau/registry/relay"
)

// env is a registry in front of a fake cluster, with the door of this package.
type env struct {
	t        *testing.T
	registry *registry.Registry
	url      string
}

func fakeCluster(t *testing.T) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// start starts one replica. Requests are made by the principal in the header X-Principal.
func start(t *testing.T, c *kfake.Cluster, authorizer registry.Authorizer, change ...func(*registry.Config)) *env {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := registry.DefaultConfig()
	cfg.BootstrapServers = c.ListenAddrs()
	cfg.AdvertisedURL = "http://" + l.Addr().String()
	cfg.SessionTimeout = 6 * time.Second
	for _, f := range change {
		f(&cfg)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
	r, err := registry.New(cfg, registry.Deps{Formats: []format.Format{protobuf.New(cfg.Limits())}, Authorizer: authorizer, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	to := relay.New(r, nil)
	h := New(r, to, log, nil)
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if p := q.Header.Get("X-Principal"); p != "" {
			q = q.WithContext(registry.WithPrincipal(q.Context(), p))
		}
		h.ServeHTTP(w, q)
	})}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }() // ends with the test
	t.Cleanup(func() {
		_ = srv.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		to.Close()
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &env{t, r, cfg.AdvertisedURL}
}

// answer is what the server answered.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// post sends a body to a path and returns the answer.
func (e *env) post(path string, body []byte, headers ...string) answer {
	e.t.Helper()
	req, err := http.NewRequestWithContext(e.t.Context(), http.MethodPost, e.url+path, bytes.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/proto")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, b}
}

// problem is the code and message of a call that failed; the code is empty when it did not.
type problem struct {
	Code, Message string
	warning       string
}

// try makes a call of the module services.
func (e *env) try(procedure string, in, out proto.Message, headers ...string) problem {
	e.t.Helper()
	raw, err := proto.Marshal(in)
	if err != nil {
		e.t.Fatal(err)
	}
	a := e.post("/buf.registry."+procedure, raw, headers...)
	warning, err := base64.RawStdEncoding.DecodeString(a.header.Get(warningHeader))
	if err != nil {
		e.t.Fatal(err)
	}
	p := problem{warning: string(warning)}
	if a.status != http.StatusOK {
		if err := json.Unmarshal(a.body, &p); err != nil || p.Code == "" {
			e.t.Fatalf("%s: %d %s", procedure, a.status, a.body)
		}
		return p
	}
	if err := proto.Unmarshal(a.body, out); err != nil {
		e.t.Fatal(err)
	}
	return p
}

func (e *env) do(procedure string, in, out proto.Message, headers ...string) problem {
	e.t.Helper()
	p := e.try(procedure, in, out, headers...)
	if p.Code != "" {
		e.t.Fatalf("%s: %s: %s", procedure, p.Code, p.Message)
	}
	return p
}

func moduleRef(name string) *modulev1.ModuleRef {
	owner, module, _ := strings.Cut(name, "/")
	return &modulev1.ModuleRef{Value: &modulev1.ModuleRef_Name_{Name: &modulev1.ModuleRef_Name{Owner: owner, Module: module}}}
}

// ref is a reference to owner/module or owner/module:ref.
func ref(name string) *modulev1.ResourceRef {
	name, child, _ := strings.Cut(name, ":")
	owner, module, _ := strings.Cut(name, "/")
	return &modulev1.ResourceRef{Value: &modulev1.ResourceRef_Name_{Name: &modulev1.ResourceRef_Name{
		Owner: owner, Module: module, Child: &modulev1.ResourceRef_Name_Ref{Ref: child},
	}}}
}

// create makes modules.
func (e *env) create(names ...string) {
	e.t.Helper()
	for _, name := range names {
		owner, module, _ := strings.Cut(name, "/")
		e.do("module.v1.ModuleService/CreateModules", &modulev1.CreateModulesRequest{Values: []*modulev1.CreateModulesRequest_Value{{
			OwnerRef: &ownerv1.OwnerRef{Value: &ownerv1.OwnerRef_Name{Name: owner}}, Name: module,
			Visibility: modulev1.ModuleVisibility_MODULE_VISIBILITY_PUBLIC,
		}}}, new(modulev1.CreateModulesResponse))
	}
}

// content is one module of a push: its files as path and text, in turns.
func content(name string, files ...string) *modulev1.UploadRequest_Content {
	out := &modulev1.UploadRequest_Content{ModuleRef: moduleRef(name)}
	for i := 0; i+1 < len(files); i += 2 {
		out.Files = append(out.Files, &modulev1.File{Path: files[i], Content: []byte(files[i+1])})
	}
	return out
}

func on(label string, c *modulev1.UploadRequest_Content) *modulev1.UploadRequest_Content {
	c.ScopedLabelRefs = []*modulev1.ScopedLabelRef{{Value: &modulev1.ScopedLabelRef_Name{Name: label}}}
	return c
}

// push pushes modules and returns the ids of their commits.
func (e *env) push(deps []string, contents ...*modulev1.UploadRequest_Content) []string {
	e.t.Helper()
	ids, p := e.tryPush(deps, contents...)
	if p.Code != "" {
		e.t.Fatalf("push: %s: %s", p.Code, p.Message)
	}
	return ids
}

func (e *env) tryPush(deps []string, contents ...*modulev1.UploadRequest_Content) ([]string, problem) {
	e.t.Helper()
	out := new(modulev1.UploadResponse)
	p := e.try("module.v1.UploadService/Upload", &modulev1.UploadRequest{Contents: contents, DepCommitIds: deps}, out)
	var ids []string
	for _, c := range out.GetCommits() {
		ids = append(ids, c.GetId())
	}
	return ids, p
}

// download is the text of a file.
func (e *env) download(name, path string) string {
	e.t.Helper()
	out := new(modulev1.DownloadResponse)
	e.do("module.v1.DownloadService/Download", &modulev1.DownloadRequest{Values: []*modulev1.DownloadRequest_Value{{ResourceRef: ref(name)}}}, out)
	for _, f := range out.GetContents()[0].GetFiles() {
		if f.GetPath() == path {
			return string(f.GetContent())
		}
	}
	e.t.Fatalf("there is no %s in %s", path, name)
	return ""
}

// subjects are all subjects with the number of their versions.
func (e *env) subjects() string {
	var out []string
	for name, versions := range e.registry.Catalog().Find("") {
		out = append(out, name+":"+strings.Repeat("|", len(versions)))
	}
	return strings.Join(out, " ")
}

func (e *env) latest(subject string) *catalog.Schema {
	e.t.Helper()
	s := e.registry.Catalog().Latest(subject)
	if s == nil {
		e.t.Fatalf("there is no subject %s; there are %s", subject, e.subjects())
	}
	return s
}
