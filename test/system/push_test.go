//go:build system

package system

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"
	ownerv1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/owner/v1"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"
)

// call makes a call of the module services, as the buf CLI does.
func call(ctx context.Context, url, procedure string, in, out proto.Message) error {
	raw, err := proto.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/buf.registry.module.v1."+procedure, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/proto")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %d %s", procedure, resp.StatusCode, body)
	}
	return proto.Unmarshal(body, out)
}

func named(module string) *modulev1.ModuleRef {
	return &modulev1.ModuleRef{Value: &modulev1.ModuleRef_Name_{Name: &modulev1.ModuleRef_Name{Owner: "acme", Module: module}}}
}

// createModules makes the modules that are pushed to.
func createModules(t *testing.T, url string, modules ...string) {
	t.Helper()
	q := new(modulev1.CreateModulesRequest)
	for _, m := range modules {
		q.Values = append(q.Values, &modulev1.CreateModulesRequest_Value{
			OwnerRef: &ownerv1.OwnerRef{Value: &ownerv1.OwnerRef_Name{Name: "acme"}}, Name: m,
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := call(ctx, url, "ModuleService/CreateModules", q, new(modulev1.CreateModulesResponse)); err != nil {
		t.Fatal(err)
	}
}

// pushOf is the n-th push of a module: a message with n fields, and a file that it imports and that changes too.
func pushOf(module string, n int) *modulev1.UploadRequest {
	fields := func(kind string) string {
		var b strings.Builder
		for i := 1; i <= n; i++ {
			fmt.Fprintf(&b, "  %s f%d = %d;\n", kind, i, i)
		}
		return b.String()
	}
	file := func(path, text string) *modulev1.File {
		return &modulev1.File{Path: path, Content: []byte("syntax = \"proto3\";\npackage " + module + ";\n" + text)}
	}
	return &modulev1.UploadRequest{Contents: []*modulev1.UploadRequest_Content{{
		ModuleRef: named(module),
		Files: []*modulev1.File{
			file(module+"/base.proto", "message Base {\n"+fields("int64")+"}\n"),
			file(module+"/top.proto", "import \""+module+"/base.proto\";\nmessage Top {\n"+fields("Base")+"}\n"),
		},
	}}}
}

// pusher pushes one module again and again.
type pusher struct {
	module string
	told   []string // the commits of the pushes that were acknowledged
	wrong  []string
}

// push makes the next push until it is acknowledged, and once more: that must make nothing new.
func (p *pusher) push(url string, halt *atomic.Bool) {
	n := len(p.told) + 1
	for !halt.Load() {
		id := p.try(url, n)
		if id == "" {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		p.told = append(p.told, id)
		if again := p.try(url, n); again != "" && again != id {
			p.wrong = append(p.wrong, fmt.Sprintf("push %d of %s is commit %s, and %s when it is repeated", n, p.module, id, again))
		}
		return
	}
}

// try returns the commit of a push, or nothing.
func (p *pusher) try(url string, n int) string {
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	out := new(modulev1.UploadResponse)
	if call(ctx, url, "UploadService/Upload", pushOf(p.module, n), out) != nil || len(out.GetCommits()) != 1 {
		return ""
	}
	return out.GetCommits()[0].GetId()
}

// verify checks what was acknowledged against what a replica has now: every push with all its parts, at most one more, which was
// not acknowledged any more, and ids that no other schema has.
func (p *pusher) verify(t *testing.T, url string, l *ledger) {
	t.Helper()
	for _, w := range p.wrong {
		t.Error(w)
	}
	commits, err := p.commits(t.Context(), url)
	if err != nil {
		t.Fatalf("%s, module %s: %v", url, p.module, err)
	}
	if n := len(commits); n < len(p.told) || n > len(p.told)+1 {
		t.Fatalf("%s, module %s: %d pushes are there, %d were acknowledged", url, p.module, n, len(p.told))
	}
	for i, id := range p.told {
		if commits[i] != id {
			t.Errorf("%s, module %s: commit %d is %s, it was told to be %s", url, p.module, i+1, commits[i], id)
		}
	}
	if err := p.whole(t.Context(), url, len(commits)); err != nil {
		t.Fatalf("%s, module %s with %d commits: %v", url, p.module, len(commits), err)
	}
	l.unused(t, url, p.module, len(commits))
}

// at is a reference to the default label of the module.
func (p *pusher) at() *modulev1.ResourceRef {
	return &modulev1.ResourceRef{Value: &modulev1.ResourceRef_Name_{Name: &modulev1.ResourceRef_Name{Owner: "acme", Module: p.module}}}
}

// commits are the commits that are there, the oldest first.
func (p *pusher) commits(ctx context.Context, url string) (ids []string, err error) {
	for token := ""; ; {
		out := new(modulev1.ListCommitsResponse)
		err := call(ctx, url, "CommitService/ListCommits", &modulev1.ListCommitsRequest{
			ResourceRef: p.at(), PageSize: 250, PageToken: token, Order: modulev1.ListCommitsRequest_ORDER_CREATE_TIME_ASC,
		}, out)
		if err != nil {
			return nil, err
		}
		for _, c := range out.GetCommits() {
			ids = append(ids, c.GetId())
		}
		if token = out.GetNextPageToken(); token == "" {
			return ids, nil
		}
	}
}

// whole checks that n pushes are there with all their parts: files, label, and a version of every subject.
func (p *pusher) whole(ctx context.Context, url string, n int) error {
	if n == 0 {
		return errors.New("nothing was pushed")
	}
	files := new(modulev1.DownloadResponse)
	if err := call(ctx, url, "DownloadService/Download", &modulev1.DownloadRequest{Values: []*modulev1.DownloadRequest_Value{{ResourceRef: p.at()}}}, files); err != nil {
		return err
	}
	have, want := files.GetContents()[0].GetFiles(), pushOf(p.module, n).GetContents()[0].GetFiles()
	if len(have) != len(want) {
		return errors.New("the label does not have all files")
	}
	for i, f := range have {
		if !proto.Equal(f, want[i]) {
			return fmt.Errorf("file %s at the label is\n%s", f.GetPath(), f.GetContent())
		}
	}
	for _, subject := range []string{p.module + "%2Fbase.proto", p.module + "%2Ftop.proto", p.module + ".Base", p.module + ".Top"} {
		a := ask(ctx, "GET", url+"/subjects/"+subject+"/versions", "")
		var versions []int
		if err := json.Unmarshal(a.body, &versions); err != nil || len(versions) != n {
			return fmt.Errorf("subject %s has %s", subject, a.body)
		}
	}
	return nil
}

// unused checks that the ids of what was pushed belong to nothing that was registered.
func (l *ledger) unused(t *testing.T, url, module string, n int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, subject := range []string{module + ".Base", module + ".Top"} {
		for v := 1; v <= n; v++ {
			id := ask(t.Context(), "GET", fmt.Sprintf("%s/subjects/%s/versions/%d", url, subject, v), "").id()
			if schema, taken := l.owner[id]; taken || id == 0 {
				t.Errorf("version %d of %s has id %d, which is of schema %d", v, subject, id, schema)
			}
		}
	}
}

// generations checks that a topic holds no committed record of a writer behind one of a later writer, and returns how many writers
// there were.
func generations(t *testing.T, addr, topic string) int {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(200*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	last, seen := 0, 0
	for quiet := 0; quiet < 3; {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		fetches := cl.PollFetches(ctx)
		cancel()
		if fetches.NumRecords() == 0 {
			quiet++
			continue
		}
		quiet = 0
		fetches.EachRecord(func(r *kgo.Record) {
			for _, h := range r.Headers {
				if h.Key != "moldau.generation" {
					continue
				}
				switch n, err := strconv.Atoi(string(h.Value)); {
				case err != nil || n < last:
					t.Errorf("%s: offset %d is of writer %s, after writer %d", topic, r.Offset, h.Value, last)
				case n > last:
					last = n
					seen++
				}
			}
		})
	}
	return seen
}
