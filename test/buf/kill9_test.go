//go:build interop

package buf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"
	ownerv1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/owner/v1"
	"google.golang.org/protobuf/proto"
)

// call makes a call of the module services.
func (s *server) call(procedure string, in, out proto.Message) error {
	raw, err := proto.Marshal(in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.registry+"/buf.registry.module.v1."+procedure, bytes.NewReader(raw))
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

// kill ends the process as a crash does.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
	s.cmd = nil
}

func named(module string) *modulev1.ModuleRef {
	return &modulev1.ModuleRef{Value: &modulev1.ModuleRef_Name_{Name: &modulev1.ModuleRef_Name{Owner: "acme", Module: module}}}
}

// state is a module after its n-th push: a message with n fields, and a file that it imports and that changes too.
func state(module string, n int) *modulev1.UploadRequest {
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

// TestKillDuringPushes kills the server amid pushes, again and again: what was acknowledged is there, and a push is there
// whole, with commit, label and all its subjects, or not at all.
func TestKillDuringPushes(t *testing.T) {
	s := start(t, "--set", "registry.buf.auto_subjects=record")
	modules := []string{"one", "two"}
	create := new(modulev1.CreateModulesRequest)
	for _, m := range modules {
		create.Values = append(create.Values, &modulev1.CreateModulesRequest_Value{
			OwnerRef: &ownerv1.OwnerRef{Value: &ownerv1.OwnerRef_Name{Name: "acme"}}, Name: m,
		})
	}
	if err := s.call("ModuleService/CreateModules", create, new(modulev1.CreateModulesResponse)); err != nil {
		t.Fatal(err)
	}
	done := make([]int, len(modules)) // pushes that are there
	for round := range 4 {
		var wg sync.WaitGroup
		acknowledged := make([]int, len(modules))
		for i, m := range modules {
			acknowledged[i] = done[i]
			wg.Go(func() { // ends when the server does
				for s.call("UploadService/Upload", state(m, acknowledged[i]+1), new(modulev1.UploadResponse)) == nil {
					acknowledged[i]++
				}
			})
		}
		wait := time.NewTimer(time.Duration(200+rand.IntN(600)) * time.Millisecond)
		<-wait.C
		s.kill()
		wg.Wait()
		s.run()
		for i, m := range modules {
			n, err := s.pushes(m)
			if err != nil {
				t.Fatalf("round %d, module %s: %v", round, m, err)
			}
			if n < acknowledged[i] || n > acknowledged[i]+1 {
				t.Fatalf("round %d, module %s: %d pushes are there, %d were acknowledged", round, m, n, acknowledged[i])
			}
			t.Logf("round %d, module %s: %d pushes acknowledged, %d there", round, m, acknowledged[i], n)
			done[i] = n
		}
	}
	if done[0]+done[1] < 8 {
		t.Fatalf("only %v pushes came through", done)
	}
	// A retry of the last one makes nothing new.
	for i, m := range modules {
		if err := s.call("UploadService/Upload", state(m, done[i]), new(modulev1.UploadResponse)); err != nil {
			t.Fatal(err)
		}
		if n, err := s.pushes(m); err != nil || n != done[i] {
			t.Fatalf("after a retry %d pushes are there, %d were: %v", n, done[i], err)
		}
	}
}

// pushes counts the pushes of a module that are there, and fails when one is not there whole.
func (s *server) pushes(module string) (int, error) {
	ref := &modulev1.ResourceRef{Value: &modulev1.ResourceRef_Name_{Name: &modulev1.ResourceRef_Name{Owner: "acme", Module: module}}}
	n, last := 0, ""
	for token := ""; ; {
		out := new(modulev1.ListCommitsResponse)
		if err := s.call("CommitService/ListCommits", &modulev1.ListCommitsRequest{ResourceRef: ref, PageSize: 250, PageToken: token}, out); err != nil {
			return 0, err
		}
		if token == "" && len(out.GetCommits()) > 0 {
			last = out.GetCommits()[0].GetId()
		}
		n += len(out.GetCommits())
		if token = out.GetNextPageToken(); token == "" {
			break
		}
	}
	if n == 0 {
		return 0, nil
	}
	files := new(modulev1.DownloadResponse)
	if err := s.call("DownloadService/Download", &modulev1.DownloadRequest{Values: []*modulev1.DownloadRequest_Value{{ResourceRef: ref}}}, files); err != nil {
		return 0, err
	}
	at := files.GetContents()[0]
	if at.GetCommit().GetId() != last {
		return 0, fmt.Errorf("the label is at %s, the last commit is %s", at.GetCommit().GetId(), last)
	}
	want := state(module, n).GetContents()[0].GetFiles()
	if len(at.GetFiles()) != len(want) {
		return 0, errors.New("the last commit does not have all files")
	}
	for i, f := range at.GetFiles() {
		if !proto.Equal(f, want[i]) {
			return 0, fmt.Errorf("file %s of the last commit is\n%s", f.GetPath(), f.GetContent())
		}
	}
	for _, subject := range []string{module + "%2Fbase.proto", module + "%2Ftop.proto", module + ".Base", module + ".Top"} {
		_, body := s.rest(http.MethodGet, "/subjects/"+subject+"/versions", "")
		var versions []int
		if err := json.Unmarshal([]byte(body), &versions); err != nil || len(versions) != n {
			return 0, fmt.Errorf("%d pushes, and subject %s has %s", n, subject, body)
		}
	}
	return n, nil
}
