package bufpush

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"
	ownerv1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/owner/v1"

	"moldau/registry"
	"moldau/registry/catalog"
	"moldau/registry/format"
)

func labelRef(module, label string) *modulev1.LabelRef {
	owner, module, _ := strings.Cut(module, "/")
	return &modulev1.LabelRef{Value: &modulev1.LabelRef_Name_{Name: &modulev1.LabelRef_Name{Owner: owner, Module: module, Label: label}}}
}

// TestLabels sets, lists, archives and follows labels.
func TestLabels(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	e.create("acme/money")
	file := func(n int) string { return strings.Replace(money, "cents = 1", fmt.Sprintf("cents = %d", n), 1) }
	var ids []string
	for n := 1; n <= 3; n++ {
		ids = append(ids, e.push(nil, content("acme/money", "m.proto", file(n)))[0])
	}
	e.push(nil, on("draft", content("acme/money", "m.proto", file(1))))
	labels := func(filter modulev1.ListLabelsRequest_ArchiveFilter, of string) string {
		out := new(modulev1.ListLabelsResponse)
		e.do("module.v1.LabelService/ListLabels", &modulev1.ListLabelsRequest{
			ResourceRef: ref(of), ArchiveFilter: filter, Order: modulev1.ListLabelsRequest_ORDER_CREATE_TIME_ASC,
		}, out)
		var got []string
		for _, l := range out.GetLabels() {
			got = append(got, l.GetName()+"="+l.GetCommitId())
		}
		return strings.Join(got, " ")
	}
	const all, open = modulev1.ListLabelsRequest_ARCHIVE_FILTER_ALL, modulev1.ListLabelsRequest_ARCHIVE_FILTER_UNSPECIFIED
	if got, want := labels(open, "acme/money"), "main="+ids[2]+" draft="+ids[0]; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := labels(open, "acme/money:"+ids[0]), "draft="+ids[0]; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	history := new(modulev1.ListLabelHistoryResponse)
	e.do("module.v1.LabelService/ListLabelHistory", &modulev1.ListLabelHistoryRequest{LabelRef: labelRef("acme/money", "main"), PageSize: 2}, history)
	if v := history.GetValues(); len(v) != 2 || v[0].GetCommit().GetId() != ids[2] || v[1].GetCommit().GetId() != ids[1] || history.GetNextPageToken() == "" {
		t.Errorf("the history is %v", history)
	}
	e.do("module.v1.LabelService/ListLabelHistory", &modulev1.ListLabelHistoryRequest{LabelRef: labelRef("acme/money", "main"), PageSize: 2, PageToken: history.GetNextPageToken()}, history)
	if v := history.GetValues(); len(v) != 1 || v[0].GetCommit().GetId() != ids[0] || history.GetNextPageToken() != "" {
		t.Errorf("the rest of the history is %v", history)
	}
	e.do("module.v1.LabelService/ArchiveLabels", &modulev1.ArchiveLabelsRequest{LabelRefs: []*modulev1.LabelRef{labelRef("acme/money", "draft")}}, new(modulev1.ArchiveLabelsResponse))
	if got, want := labels(open, "acme/money")+" | "+labels(all, "acme/money"), "main="+ids[2]+" | main="+ids[2]+" draft="+ids[0]; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p := e.try("module.v1.LabelService/ArchiveLabels", &modulev1.ArchiveLabelsRequest{LabelRefs: []*modulev1.LabelRef{labelRef("acme/money", "main")}}, new(modulev1.ArchiveLabelsResponse))
	if p.Code != failedPrecondition {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
	commits := new(modulev1.ListCommitsResponse)
	e.do("module.v1.CommitService/ListCommits", &modulev1.ListCommitsRequest{ResourceRef: ref("acme/money")}, commits)
	if v := commits.GetCommits(); len(v) != 3 || v[0].GetId() != ids[2] {
		t.Errorf("the commits are %v", v)
	}
	resources := new(modulev1.GetResourcesResponse)
	e.do("module.v1.ResourceService/GetResources", &modulev1.GetResourcesRequest{ResourceRefs: []*modulev1.ResourceRef{
		ref("acme/money"), ref("acme/money:main"), ref("acme/money:" + ids[1]), {Value: &modulev1.ResourceRef_Id{Id: ids[1]}},
	}}, resources)
	r := resources.GetResources()
	if r[0].GetModule() == nil || r[1].GetLabel().GetCommitId() != ids[2] || r[2].GetCommit().GetId() != ids[1] || r[3].GetCommit().GetId() != ids[1] {
		t.Errorf("the resources are %v", r)
	}
}

// TestDeleteModules leaves nothing behind, but what others need, and gives subjects free.
func TestDeleteModules(t *testing.T) {
	e := start(t, fakeCluster(t), nil, func(c *registry.Config) { c.AutoSubjects = registry.AutoRecord })
	e.create("acme/money", "acme/orders", "acme/copy")
	ids := e.push(nil, content("acme/money", "money/v1/money.proto", money), content("acme/orders", "orders/v1/order.proto", order))
	del := func(name string) problem {
		return e.try("module.v1.ModuleService/DeleteModules", &modulev1.DeleteModulesRequest{ModuleRefs: []*modulev1.ModuleRef{moduleRef(name)}}, new(modulev1.DeleteModulesResponse))
	}
	if p := del("acme/money"); p.Code != failedPrecondition || !strings.Contains(p.Message, ids[1]) {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
	if _, p := e.tryPush(nil, content("acme/copy", "money/v1/money.proto", money)); p.Code != failedPrecondition || !strings.Contains(p.Message, "belongs to module acme/money") {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
	for _, name := range []string{"acme/orders", "acme/money"} {
		if p := del(name); p.Code != "" {
			t.Fatal(p.Message)
		}
	}
	e.push(nil, content("acme/copy", "money/v1/money.proto", money))
	if p := del("acme/copy"); p.Code != "" {
		t.Fatal(p.Message)
	}
	for key := range e.registry.Ledger().Find("") {
		if !strings.HasPrefix(key, "owner/") && !strings.HasPrefix(key, "id/") {
			t.Errorf("%s was left", key)
		}
	}
	if p := del("moldau/kafka"); p.Code != failedPrecondition {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
}

// TestGenerated reads subjects as modules: each version, at the path where the file is known to be, with what it refers to.
func TestGenerated(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	put := func(subject, text string, refs ...catalog.Reference) {
		t.Helper()
		if _, err := e.registry.Register(t.Context(), registry.Registration{Subject: subject, ID: -1, Type: format.Protobuf, Text: text, References: refs}); err != nil {
			t.Fatal(err)
		}
	}
	put("money/v1/money.proto", money)
	put("orders-value", strings.Replace(order, "string id = 1;", "", 1), catalog.Reference{Name: "money/v1/money.proto", Subject: "money/v1/money.proto", Version: 1})
	put("orders-value", order, catalog.Reference{Name: "money/v1/money.proto", Subject: "money/v1/money.proto", Version: 1})
	put("pay.v1.Money", money)
	if got := e.download("subjects/orders-value", "orders/v1/orders_value.proto"); !strings.Contains(got, "string id = 1") {
		t.Errorf("the newest version is %s", got)
	}
	if got := e.download("subjects/orders-value:v1", "orders/v1/orders_value.proto"); strings.Contains(got, "string id = 1") {
		t.Errorf("the first version is %s", got)
	}
	e.download("subjects/orders-value", "money/v1/money.proto")
	e.download("subjects/pay.v1.Money", "money/v1/money.proto") // another subject tells where it is
	commits := new(modulev1.ListCommitsResponse)
	e.do("module.v1.CommitService/ListCommits", &modulev1.ListCommitsRequest{ResourceRef: ref("subjects/orders-value")}, commits)
	if len(commits.GetCommits()) != 2 {
		t.Fatalf("%d commits", len(commits.GetCommits()))
	}
	first := commits.GetCommits()[0]
	byID := func(id string) *modulev1.ResourceRef {
		return &modulev1.ResourceRef{Value: &modulev1.ResourceRef_Id{Id: id}}
	}
	again := new(modulev1.GetCommitsResponse)
	e.do("module.v1.CommitService/GetCommits", &modulev1.GetCommitsRequest{ResourceRefs: []*modulev1.ResourceRef{byID(first.GetId())}}, again)
	if string(again.GetCommits()[0].GetDigest().GetValue()) != string(first.GetDigest().GetValue()) {
		t.Error("the digest changes")
	}
	e.do("module.v1.ModuleService/GetModules", &modulev1.GetModulesRequest{ModuleRefs: []*modulev1.ModuleRef{{Value: &modulev1.ModuleRef_Id{Id: first.GetModuleId()}}}}, new(modulev1.GetModulesResponse))
	owners := new(ownerv1.GetOwnersResponse)
	e.do("owner.v1.OwnerService/GetOwners", &ownerv1.GetOwnersRequest{OwnerRefs: []*ownerv1.OwnerRef{{Value: &ownerv1.OwnerRef_Id{Id: first.GetOwnerId()}}}}, owners)
	if owners.GetOwners()[0].GetOrganization().GetName() != subjectsOwner {
		t.Errorf("the owner is %v", owners)
	}
	// No module may depend on one made from a subject, whose versions can go.
	e.create("acme/shop")
	if _, p := e.tryPush([]string{first.GetId()}, content("acme/shop", "shop.proto", "syntax = \"proto3\";\nimport \"orders/v1/orders_value.proto\";\n")); p.Code != failedPrecondition {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
	if p := e.try("module.v1.ModuleService/GetModules", &modulev1.GetModulesRequest{ModuleRefs: []*modulev1.ModuleRef{moduleRef("subjects/none")}}, new(modulev1.GetModulesResponse)); p.Code != notFoundCode {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
}

func TestFileDescriptorSet(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	e.create("acme/orders", "acme/money")
	e.push(nil, content("acme/orders", "orders/v1/order.proto", order), content("acme/money", "money/v1/money.proto", money))
	get := func(exclude, source bool) (paths string, sources bool) {
		out := new(modulev1.GetFileDescriptorSetResponse)
		e.do("module.v1.FileDescriptorSetService/GetFileDescriptorSet", &modulev1.GetFileDescriptorSetRequest{
			ResourceRef: ref("acme/orders"), ExcludeImports: exclude, IncludeSourceCodeInfo: source,
		}, out)
		for _, f := range out.GetFileDescriptorSet().GetFile() {
			paths += f.GetName() + " "
			sources = sources || f.GetSourceCodeInfo() != nil
		}
		return paths, sources
	}
	if paths, sources := get(false, true); paths != "money/v1/money.proto orders/v1/order.proto " || !sources {
		t.Error(paths, sources)
	}
	if paths, sources := get(true, false); paths != "orders/v1/order.proto " || sources {
		t.Error(paths, sources)
	}
	for _, q := range []*modulev1.GetFileDescriptorSetRequest{{IncludeTypes: []string{"orders.v1.Order"}}, {ExcludeTypes: []string{"orders.v1.Order"}}} {
		q.ResourceRef = ref("acme/orders")
		if p := e.try("module.v1.FileDescriptorSetService/GetFileDescriptorSet", q, new(modulev1.GetFileDescriptorSetResponse)); p.Code != unimplemented || !strings.Contains(p.Message, "ask for all") {
			t.Errorf("%s: %s", p.Code, p.Message)
		}
	}
}

// TestLargeFile is a file of several records.
func TestLargeFile(t *testing.T) {
	e := start(t, fakeCluster(t), nil)
	e.create("acme/money")
	text := money + strings.Repeat("// filler\n", 120_000)
	e.push(nil, content("acme/money", "README.md", text, "m.proto", money))
	if got := e.download("acme/money", "README.md"); got != text {
		t.Errorf("%d bytes came back, want %d", len(got), len(text))
	}
	if _, p := e.tryPush(nil, content("acme/money", "README.md", strings.Repeat("x", maxFileBytes+1))); p.Code != resourceExhausted {
		t.Errorf("%s: %s", p.Code, p.Message)
	}
}

func TestEndpoints(t *testing.T) {
	var page strings.Builder
	if err := WriteReference(&page); err != nil {
		t.Fatal(err)
	}
	for path := range endpoints {
		parts := strings.Split(path, "/")
		if !strings.HasPrefix(path, Prefix) || len(parts) != 3 {
			t.Errorf("%s is no path of a procedure", path)
			continue
		}
		if parts[1] != mixedService && !strings.Contains(page.String(), "`"+parts[1]+"`") {
			t.Errorf("the page does not have %s", path)
		}
	}
	for code, status := range statuses {
		if http.StatusText(status) == "" && code != canceled {
			t.Errorf("%s has status %d", code, status)
		}
	}
}
