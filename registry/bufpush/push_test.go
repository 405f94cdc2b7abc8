package bufpush

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"
	"google.golang.org/protobuf/proto"

	"moldau/registry"
	"moldau/registry/catalog"
	"moldau/registry/format"
)

const (
	money = "syntax = \"proto3\";\npackage money.v1;\nmessage Money {\n  int64 cents = 1;\n}\n"
	order = "syntax = \"proto3\";\npackage orders.v1;\nimport \"money/v1/money.proto\";\nmessage Order {\n  string id = 1;\n  money.v1.Money price = 2;\n}\n"
)

// Modules of one push that need each other: each commit depends on those it imports, and on what those need.
func TestPushDerivesDependencies(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	e.create("acme/orders", "acme/money", "acme/shop")
	ids := e.push(nil,
		content("acme/orders", "orders/v1/order.proto", order),
		content("acme/money", "money/v1/money.proto", money, "LICENSE", "free", "empty.proto", ""),
	)
	again := e.push(nil,
		content("acme/orders", "orders/v1/order.proto", order),
		content("acme/money", "money/v1/money.proto", money, "LICENSE", "free", "empty.proto", ""),
	)
	if strings.Join(ids, " ") != strings.Join(again, " ") {
		t.Fatalf("the same content is %v, then %v", ids, again)
	}
	shop := e.push(ids, content("acme/shop", "shop/v1/shop.proto", "syntax = \"proto3\";\npackage shop.v1;\nimport \"orders/v1/order.proto\";\nmessage Shop {\n  orders.v1.Order order = 1;\n}\n"))[0]
	out := new(modulev1.GetGraphResponse)
	e.do("module.v1.GraphService/GetGraph", &modulev1.GetGraphRequest{ResourceRefs: []*modulev1.ResourceRef{ref("acme/shop")}}, out)
	var edges []string
	for _, edge := range out.GetGraph().GetEdges() {
		edges = append(edges, edge.GetFromNode().GetCommitId()+">"+edge.GetToNode().GetCommitId())
	}
	want := shop + ">" + ids[0] + " " + ids[0] + ">" + ids[1]
	if got := strings.Join(edges, " "); got != want || len(out.GetGraph().GetCommits()) != 3 {
		t.Fatalf("the graph is %s, want %s", got, want)
	}
	if got := e.download("acme/money", "empty.proto"); got != "" {
		t.Errorf("an empty file has %q", got)
	}
	if got := e.download("acme/orders:"+ids[0], "orders/v1/order.proto"); got != order {
		t.Errorf("what came back is %s", got)
	}
	// The digest of what depends covers what it depends on.
	commits := new(modulev1.GetCommitsResponse)
	e.do("module.v1.CommitService/GetCommits", &modulev1.GetCommitsRequest{ResourceRefs: []*modulev1.ResourceRef{ref("acme/orders"), ref("acme/money")}}, commits)
	of := commits.GetCommits()
	if want := digest([]source{{"orders/v1/order.proto", []byte(order)}}, [][]byte{of[1].GetDigest().GetValue()}); string(of[0].GetDigest().GetValue()) != string(want) {
		t.Error("the digest is another one")
	}
}

// A push with a module that a commit outside needs: the pushed state takes the place of the one that the commit names.
func TestPushReplacesWhatOthersNeed(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	e.create("acme/money", "acme/orders", "acme/shop")
	old := e.push(nil, content("acme/money", "money/v1/money.proto", money), content("acme/orders", "orders/v1/order.proto", order))
	shop := content("acme/shop", "shop.proto", "syntax = \"proto3\";\nimport \"orders/v1/order.proto\";\n")
	ids := e.push([]string{old[1]}, shop, content("acme/money", "money/v1/money.proto", money+"message Note {}\n"))
	got, _ := byID[commit](e.registry.Ledger(), "commit", ids[0])
	if len(got.Direct) != 1 || got.Direct[0] != old[1] || len(got.Deps) != 2 || !slices.Contains(got.Deps, ids[1]) {
		t.Errorf("the commit needs %v, %v of them directly; pushed were %v", got.Deps, got.Direct, ids)
	}
	out := new(modulev1.GetGraphResponse)
	e.do("module.v1.GraphService/GetGraph", &modulev1.GetGraphRequest{ResourceRefs: []*modulev1.ResourceRef{ref("acme/shop")}}, out)
	if n := len(out.GetGraph().GetCommits()); n != 3 {
		t.Errorf("the graph has %d commits: %v", n, out.GetGraph())
	}
	// A module can't need itself through others.
	_, p := e.tryPush([]string{old[1]}, content("acme/money", "money/v1/money.proto", money, "more.proto", "syntax = \"proto3\";\nimport \"orders/v1/order.proto\";\n"))
	if p.Code != invalidArgument || !strings.Contains(p.Message, "need each other") {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
}

func TestPushRefuses(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	e.create("acme/aa", "acme/bb")
	const ok = "syntax = \"proto3\";\n"
	for _, c := range []struct {
		name     string
		contents []*modulev1.UploadRequest_Content
		deps     []string
		code     string
		says     string
	}{
		{"nothing", nil, nil, invalidArgument, "0 modules"},
		{"unknown module", []*modulev1.UploadRequest_Content{content("acme/none", "a.proto", ok)}, nil, notFoundCode, "acme/none"},
		{"no files", []*modulev1.UploadRequest_Content{content("acme/aa")}, nil, invalidArgument, "0 files"},
		{"path out of the module", []*modulev1.UploadRequest_Content{content("acme/aa", "../a.proto", ok)}, nil, invalidArgument, "../a.proto"},
		{"twice the same file", []*modulev1.UploadRequest_Content{content("acme/aa", "a.proto", ok, "a.proto", ok)}, nil, invalidArgument, "twice"},
		{"twice the same module", []*modulev1.UploadRequest_Content{content("acme/aa", "a.proto", ok), content("acme/aa", "b.proto", ok)}, nil, invalidArgument, "twice"},
		{"one path in two modules", []*modulev1.UploadRequest_Content{content("acme/aa", "a.proto", ok), content("acme/bb", "a.proto", ok)}, nil, invalidArgument, "both in"},
		{"missing import", []*modulev1.UploadRequest_Content{content("acme/aa", "a.proto", ok+"import \"no.proto\";\n")}, nil, invalidArgument, "a.proto:2: no.proto"},
		{"no syntax", []*modulev1.UploadRequest_Content{content("acme/aa", "a.proto", ok+"message {")}, nil, invalidArgument, "a.proto:2"},
		{"unknown type", []*modulev1.UploadRequest_Content{content("acme/aa", "a.proto", ok+"message M {\n  Z z = 1;\n}\n")}, nil, invalidArgument, "a.proto:3"},
		{"circle of modules", []*modulev1.UploadRequest_Content{
			content("acme/aa", "a.proto", ok+"import \"b.proto\";\n"), content("acme/bb", "b.proto", ok+"import \"c.proto\";\n", "c.proto", ok+"import \"a.proto\";\n"),
		}, nil, invalidArgument, "need each other"},
		{"deep", []*modulev1.UploadRequest_Content{content("acme/aa", "a.proto", ok+strings.Repeat("message M {", 2000)+strings.Repeat("}", 2000))}, nil, resourceExhausted, "deep"},
		{"unknown dependency", []*modulev1.UploadRequest_Content{content("acme/aa", "a.proto", ok)}, []string{newID()}, notFoundCode, "commit"},
		{"label that is an id", []*modulev1.UploadRequest_Content{on(newID(), content("acme/aa", "a.proto", ok))}, nil, invalidArgument, "label"},
		{"module of the server", []*modulev1.UploadRequest_Content{content("moldau/kafka", "a.proto", ok)}, nil, failedPrecondition, "kept by the server"},
	} {
		if _, p := e.tryPush(c.deps, c.contents...); p.Code != c.code || !strings.Contains(p.Message, c.says) {
			t.Errorf("%s: %s: %s", c.name, p.Code, p.Message)
		}
	}
	if n := len(list[commit](e.registry.Ledger(), "commit/")); n != 0 {
		t.Errorf("%d commits are there", n)
	}
}

// with is a file whose message has options.
func with(options, fields string) string {
	return "syntax = \"proto3\";\npackage p.v1;\nimport \"moldau/kafka/v1/subject.proto\";\nmessage M {\n" + options + "\n" + fields + "\n}\n"
}

// optionsCommit is the commit of the module with the options.
func (e *env) optionsCommit() []string {
	e.t.Helper()
	out := new(modulev1.GetCommitsResponse)
	e.do("module.v1.CommitService/GetCommits", &modulev1.GetCommitsRequest{ResourceRefs: []*modulev1.ResourceRef{ref("moldau/kafka")}}, out)
	return []string{out.GetCommits()[0].GetId()}
}

func TestSubjectsByOption(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	deps := e.optionsCommit()
	const option = "option (moldau.kafka.v1.subject) = "
	for _, c := range []struct{ module, option, want, refused string }{
		{"topic", option + `{topic: "t"};`, "t-value", ""},
		{"key", option + `{topic: "t", part: PART_KEY};`, "t-key", ""},
		{"record", option + `{strategy: STRATEGY_RECORD};`, "p.v1.M", ""},
		{"topicrecord", option + `{topic: "t", strategy: STRATEGY_TOPIC_RECORD};`, "t-p.v1.M", ""},
		{"named", option + `{name: "mine"};`, "mine", ""},
		{"context", option + `{name: "mine", context: "staging"};`, ":.staging:mine", ""},
		{"notopic", option + `{strategy: STRATEGY_TOPIC};`, "", "needs a topic"},
		{"both", option + `{name: "x", topic: "t"};`, "", "takes no topic"},
		{"twice", option + `{name: "x"};` + option + `{name: "x"};`, "", "belongs to message p.v1.M"},
		{"bad", option + `{name: "a\tb"};`, "", "name of a subject"},
		{"level", option + `{name: "lev", compatibility: COMPATIBILITY_NONE};`, "lev", ""},
	} {
		e.create("acme/" + c.module)
		file := c.module + ".proto"
		_, p := e.tryPush(deps, content("acme/"+c.module, file, with(c.option, "string a = 1;")))
		if c.refused != "" {
			if p.Code != invalidArgument || !strings.Contains(p.Message, c.refused) || !strings.Contains(p.Message, file+":4") {
				t.Errorf("%s: %s: %s", c.module, p.Code, p.Message)
			}
			continue
		}
		if p.Code != "" {
			t.Errorf("%s: %s", c.module, p.Message)
			continue
		}
		s := e.latest(c.want)
		if len(s.References) != 1 || s.References[0] != (catalog.Reference{Name: "moldau/kafka/v1/subject.proto", Subject: "moldau/kafka/v1/subject.proto", Version: 1}) {
			t.Errorf("%s: the references are %+v", c.module, s.References)
		}
	}
	if cfg := e.registry.Catalog().OwnConfig("lev"); cfg == nil || cfg.CompatibilityLevel != catalog.None {
		t.Errorf("the level is %+v", cfg)
	}
}

// The option of buf's own registry counts by its name, whatever its number and whether it repeats.
func TestSubjectsByBufsOption(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	e.create("acme/orders")
	e.push(nil, content("acme/orders",
		"buf/confluent/v1/extensions.proto", `syntax = "proto3";
package buf.confluent.v1;
import "google/protobuf/descriptor.proto";
extend google.protobuf.MessageOptions { Subject subject = 54321; }
message Subject { string instance_name = 1; string name = 2; }
`,
		"o.proto", `syntax = "proto3";
import "buf/confluent/v1/extensions.proto";
message O { option (buf.confluent.v1.subject) = {instance_name: "main", name: "o-value"}; string a = 1; }
`))
	const want = "buf/confluent/v1/extensions.proto:| o-value:| o.proto:|"
	if got := e.subjects(); got != want {
		t.Errorf("the subjects are %s", got)
	}
}

func TestAutoSubjects(t *testing.T) {
	e := start(t, fakeCluster(t), nil, func(c *registry.Config) { c.AutoSubjects = registry.AutoRecord })
	e.create("acme/orders", "acme/money")
	e.push(nil, content("acme/orders", "orders/v1/order.proto", order), content("acme/money", "money/v1/money.proto", money))
	const want = "money.v1.Money:| money/v1/money.proto:| orders.v1.Order:| orders/v1/order.proto:|"
	if got := e.subjects(); got != want {
		t.Errorf("the subjects are %s", got)
	}
}

// What a serializer sends for the same message is found, and makes nothing new: the text, and the descriptor in base64, both
// with the references that it makes of imports.
func TestSameAsSerializers(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	deps := e.optionsCommit()
	e.create("acme/orders")
	text := "syntax = \"proto3\";\npackage orders.v1;\n\nimport \"google/protobuf/timestamp.proto\";\nimport \"moldau/kafka/v1/subject.proto\";\nimport \"money/v1/money.proto\"; // a comment\n\n// What is ordered.\nmessage Order {\n  option (moldau.kafka.v1.subject) = { topic: \"orders\" };\n  map<string, money.v1.Money> prices = 2;\n  google.protobuf.Timestamp at = 3;\n  oneof how { string card = 4; bool cash = 5; }\n}\n"
	e.push(deps, content("acme/orders", "orders/v1/order.proto", text, "money/v1/money.proto", money))
	want, before := e.latest("orders-value"), e.subjects()
	files, err := compile(t.Context(), []string{"orders/v1/order.proto"}, map[string][]byte{
		"orders/v1/order.proto": []byte(text), "money/v1/money.proto": []byte(money), "moldau/kafka/v1/subject.proto": []byte(e.download("moldau/kafka", "moldau/kafka/v1/subject.proto")),
	})
	if err != nil {
		t.Fatal(err)
	}
	fd := withoutSource(descriptors(files, false)[0])
	for _, m := range fd.GetMessageType() {
		for _, f := range m.GetField() {
			f.JsonName = nil
		}
		for _, m := range m.GetNestedType() {
			for _, f := range m.GetField() {
				f.JsonName = nil
			}
		}
	}
	raw, err := proto.Marshal(fd)
	if err != nil {
		t.Fatal(err)
	}
	refs := []catalog.Reference{
		{Name: "moldau/kafka/v1/subject.proto", Subject: "moldau/kafka/v1/subject.proto", Version: 1},
		{Name: "money/v1/money.proto", Subject: "money/v1/money.proto", Version: 1},
	}
	for name, sent := range map[string]string{"text": text, "descriptor": base64.StdEncoding.EncodeToString(raw)} {
		got, err := e.registry.Register(t.Context(), registry.Registration{Subject: "orders-value", ID: -1, Type: format.Protobuf, Text: sent, References: refs})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.ID != want.ID || got.Version != want.Version {
			t.Errorf("%s: id %d version %d, was %d and %d\n%s\n%s", name, got.ID, got.Version, want.ID, want.Version, got.Text, want.Text)
		}
	}
	if got := e.subjects(); got != before {
		t.Errorf("the subjects are %s, they were %s", got, before)
	}
}

// A break is refused as a whole: also what else is in the push, and all breaks are told.
func TestBreakIsRefusedWhole(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	deps := e.optionsCommit()
	e.create("acme/aa", "acme/bb")
	const option = "  option (moldau.kafka.v1.subject) = {name: \"%\"};"
	file := func(name, fields string) string { return with(strings.ReplaceAll(option, "%", name), fields) }
	e.push(deps, content("acme/aa", "a.proto", file("one", "  string x = 1;\n  int64 y = 2;")))
	before, entries := e.subjects(), e.registry.Ledger()
	_, p := e.tryPush(deps,
		content("acme/bb", "b.proto", strings.Replace(file("two", "  string x = 1;"), "p.v1", "q.v1", 1)),
		content("acme/aa", "a.proto", file("one", "  string x = 1;\n  string y = 2;")))
	for _, says := range []string{"subject one: a.proto:7: FIELD_SCALAR_KIND_CHANGED", "subject a.proto: a.proto:7"} {
		if p.Code != failedPrecondition || !strings.Contains(p.Message, says) {
			t.Errorf("%s: %s", p.Code, p.Message)
		}
	}
	if e.subjects() != before || e.registry.Ledger().Size() != entries.Size() {
		t.Errorf("something was written: %s", e.subjects())
	}
	// On a label of its own it is pushed, with a warning, and moves nothing.
	out := new(modulev1.UploadResponse)
	p = e.do("module.v1.UploadService/Upload", &modulev1.UploadRequest{DepCommitIds: deps, Contents: []*modulev1.UploadRequest_Content{
		on("draft", content("acme/aa", "a.proto", file("one", "  string x = 1;\n  string y = 2;"))),
	}}, out)
	if !strings.Contains(p.warning, "subject one: a.proto:7: FIELD_SCALAR_KIND_CHANGED") || e.subjects() != before {
		t.Errorf("the warning is %q, the subjects %s", p.warning, e.subjects())
	}
	// To set the default label to that commit is refused for the same reason.
	q := &modulev1.CreateOrUpdateLabelsRequest{Values: []*modulev1.CreateOrUpdateLabelsRequest_Value{{
		LabelRef: &modulev1.LabelRef{Value: &modulev1.LabelRef_Name_{Name: &modulev1.LabelRef_Name{Owner: "acme", Module: "aa", Label: "main"}}},
		CommitId: out.GetCommits()[0].GetId(),
	}}}
	if p := e.try("module.v1.LabelService/CreateOrUpdateLabels", q, new(modulev1.CreateOrUpdateLabelsResponse)); p.Code != failedPrecondition {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
}

// TestManyBreaks is told of some, not of all.
func TestManyBreaks(t *testing.T) {
	e := start(t, fakeCluster(t), nil, func(c *registry.Config) { c.AutoSubjects = registry.AutoRecord })
	e.create("acme/many")
	file := func(kind string) string {
		text := "syntax = \"proto3\";\nmessage M {\n"
		for n := 1; n <= 100; n++ {
			text += fmt.Sprintf("  %s f%d = %d;\n", kind, n, n)
		}
		return text + "}\n"
	}
	e.push(nil, content("acme/many", "m.proto", file("string")))
	_, p := e.tryPush(nil, content("acme/many", "m.proto", file("int32")))
	if lines := strings.Split(p.Message, "\n"); p.Code != failedPrecondition || len(lines) != maxComplaints+1 || lines[maxComplaints] != "and more" {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
}
