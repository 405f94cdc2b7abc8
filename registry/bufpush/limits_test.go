package bufpush

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"
	"google.golang.org/protobuf/proto"

	"moldau/registry"
)

// TestManyFields: a request of few bytes that would be large in memory is refused before it is read. Two bytes were found to become
// a message of a hundred.
func TestManyFields(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	const upload = "/buf.registry.module.v1.UploadService/Upload"
	empty := bytes.Repeat([]byte{0x0a, 0x00}, maxElements+1) // contents
	nested := append([]byte{0x0a}, protoBytes(bytes.Repeat([]byte{0x12, 0x00}, maxElements+1))...)
	for name, c := range map[string]struct {
		body  []byte
		media string
	}{
		"messages":           {empty, "application/proto"},
		"messages in others": {nested, "application/proto"},
		"compressed":         {zip(t, empty), "application/proto"},
		"JSON":               {[]byte(`{"contents":[` + strings.Repeat("{},", maxElements) + `{}]}`), "application/json"},
	} {
		headers := []string{"Content-Type", c.media}
		if name == "compressed" {
			headers = append(headers, "Content-Encoding", "gzip")
		}
		if a := e.post(upload, c.body, headers...); a.status != 400 || !bytes.Contains(a.body, []byte("more than 100000 fields")) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := e.post(getModulesPath, make([]byte, maxBody+1)); a.status != 429 {
		t.Errorf("a large request that is no push: %d %s", a.status, a.body)
	}
}

// protoBytes is a value of a field that is a message.
func protoBytes(b []byte) []byte {
	n := len(b)
	var out []byte
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(append(out, byte(n)), b...)
}

func FuzzUnmarshal(f *testing.F) {
	raw, err := proto.Marshal(&modulev1.UploadRequest{Contents: []*modulev1.UploadRequest_Content{content("a/b", "x.proto", "y")}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte{0x0a, 0x00, 0x0a})
	f.Fuzz(func(t *testing.T, raw []byte) {
		ours, theirs := new(modulev1.UploadRequest), new(modulev1.UploadRequest)
		a, b := unmarshalBinary(raw, ours), proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(raw, theirs)
		if errors.Is(a, errElements) {
			return
		}
		if (a == nil) != (b == nil) || a == nil && !proto.Equal(ours, theirs) {
			t.Errorf("%v, %v", a, b)
		}
	})
}

// TestLargeDownload: the same module asked for many times in one request makes no answer of any size.
func TestLargeDownload(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	e.create("acme/large")
	text := "syntax = \"proto3\";\n" + strings.Repeat("// nothing\n", (1<<20)/11)
	e.push(nil, content("acme/large", "a.proto", text))
	q := new(modulev1.DownloadRequest)
	for range 5 {
		q.Values = append(q.Values, &modulev1.DownloadRequest_Value{ResourceRef: ref("acme/large")})
	}
	out := new(modulev1.DownloadResponse)
	e.do("module.v1.DownloadService/Download", q, out)
	if len(out.GetContents()) != 5 {
		t.Errorf("%d modules", len(out.GetContents()))
	}
	for range 65 {
		q.Values = append(q.Values, &modulev1.DownloadRequest_Value{ResourceRef: ref("acme/large")})
	}
	if p := e.try("module.v1.DownloadService/Download", q, out); p.Code != resourceExhausted {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
}

// TestAllModules: what is pushed is kept in memory, so there is a bound to all of it. What is there already may be pushed again.
func TestAllModules(t *testing.T) {
	e := start(t, fakeCluster(t), nil, func(c *registry.Config) { c.MaxModulesBytes = 100_000 })
	e.create("acme/one", "acme/two")
	one := content("acme/one", "one.proto", "syntax = \"proto3\";\n"+strings.Repeat("// nothing\n", 8000))
	first := e.push(nil, one)
	if _, p := e.tryPush(nil, content("acme/two", "two.proto", "syntax = \"proto3\";\n"+strings.Repeat("// something\n", 2000))); p.Code != resourceExhausted {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
	if again := e.push(nil, one); again[0] != first[0] {
		t.Error("the same content is another commit")
	}
}

// TestFindCommits lists a module's commits by pages and by the beginnings of their ids.
func TestFindCommits(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	e.create("acme/money")
	var ids []string
	for n := range 5 {
		ids = append(ids, e.push(nil, content("acme/money", "m.proto", fmt.Sprintf("syntax = \"proto3\"; message M%d {}", n)))[0])
	}
	find := func(of, query string, size uint32, token string) (string, string) {
		out := new(modulev1.ListCommitsResponse)
		e.do("module.v1.CommitService/ListCommits", &modulev1.ListCommitsRequest{
			ResourceRef: ref(of), IdQuery: query, PageSize: size, PageToken: token, Order: modulev1.ListCommitsRequest_ORDER_CREATE_TIME_ASC,
		}, out)
		var got []string
		for _, c := range out.GetCommits() {
			got = append(got, c.GetId())
		}
		return strings.Join(got, " "), out.GetNextPageToken()
	}
	first, token := find("acme/money", "", 3, "")
	rest, end := find("acme/money", "", 3, token)
	if first+" "+rest != strings.Join(ids, " ") || end != "" {
		t.Errorf("%s and %s, want %s", first, rest, ids)
	}
	for _, of := range []string{"acme/money", "acme/money:main", "acme/money:" + ids[1]} {
		if got, _ := find(of, ids[1][:12], 10, ""); got != ids[1] {
			t.Errorf("%s: found %q", of, got)
		}
	}
	if got, _ := find("acme/money", "not an id", 10, ""); got != "" {
		t.Errorf("found %q", got)
	}
}
