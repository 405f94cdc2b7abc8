package http

import (
	"errors"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"
)

// A client that somebody else wrote finds its way.
func TestFranzGoClient(t *testing.T) {
	e := newEnv(t)
	ctx := t.Context()
	cl, err := sr.NewClient(sr.URLs(e.url))
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	types, err := cl.SupportedTypes(ctx)
	must(err)
	if !slices.Contains(types, sr.TypeAvro) {
		t.Errorf("types %v", types)
	}
	s1, err := cl.CreateSchema(ctx, "web/hits-value", sr.Schema{Schema: hit1})
	must(err)
	s2, err := cl.CreateSchema(ctx, "web/hits-value", sr.Schema{Schema: hit2})
	must(err)
	if s1.ID != 1 || s2.ID != 2 || s2.Version != 2 || s2.Subject != "web/hits-value" {
		t.Errorf("%+v %+v", s1, s2)
	}
	_, err = cl.CreateSchema(ctx, "web/hits-value", sr.Schema{Schema: hit3})
	var refusal *sr.ResponseError
	if !errors.As(err, &refusal) || refusal.ErrorCode != 40901 || refusal.StatusCode != 409 {
		t.Errorf("%v", err)
	}
	found, err := cl.LookupSchema(ctx, "web/hits-value", sr.Schema{Schema: hit1})
	must(err)
	text, err := cl.SchemaTextByID(ctx, 1)
	must(err)
	if found.Version != 1 || text != hit1 {
		t.Errorf("%+v %s", found, text)
	}
	all, err := cl.AllSchemas(sr.WithParams(ctx, sr.ShowDeleted))
	must(err)
	uses, err := cl.SchemaUsagesByID(ctx, 2)
	must(err)
	if len(all) != 2 || len(uses) != 1 || uses[0].Version != 2 {
		t.Errorf("%+v %+v", all, uses)
	}
	if s, err := cl.SchemaByGUID(ctx, found.GUID); err != nil || s.Schema.Schema != hit1 {
		t.Errorf("by GUID %q: %+v, %v", found.GUID, s, err)
	}
	for _, r := range cl.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatFull}, "web/hits-value", sr.GlobalSubject) {
		if r.Err != nil || r.Level != sr.CompatFull {
			t.Errorf("%+v", r)
		}
	}
	verdict, err := cl.CheckCompatibility(sr.WithParams(ctx, sr.Verbose), "web/hits-value", -1, sr.Schema{Schema: hit3})
	must(err)
	if verdict.Is || len(verdict.Messages) == 0 {
		t.Errorf("%+v", verdict)
	}
	for _, r := range cl.SetMode(ctx, sr.ModeReadOnly, "web/hits-value") {
		must(r.Err)
	}
	if r := cl.Mode(ctx, "web/hits-value"); r[0].Mode != sr.ModeReadOnly {
		t.Errorf("%+v", r)
	}
	for _, r := range cl.ResetMode(ctx, "web/hits-value") {
		must(r.Err)
	}
	if _, err := cl.DeleteSubject(ctx, "web/hits-value", sr.SoftDelete); err != nil {
		t.Error(err)
	}
	versions, err := cl.DeleteSubject(ctx, "web/hits-value", sr.HardDelete)
	if err != nil || !slices.Equal(versions, []int{1, 2}) {
		t.Errorf("%v, %v", versions, err)
	}
}
