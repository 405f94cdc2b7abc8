//go:build interop

package interop

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"
)

// steps notes what a client in this process did, as the others print it.
type steps struct {
	t    *testing.T
	done map[string]string
}

func (s *steps) say(step string, result any) { s.done[step] = fmt.Sprint(result) }

func (s *steps) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// code is the code of an error that is wanted.
func code(err error) any {
	var e *sr.ResponseError
	if errors.As(err, &e) {
		return e.ErrorCode
	}
	return err
}

// franzSteps does the steps with package sr of franz-go.
func franzSteps(t *testing.T, url string) map[string]string {
	t.Helper()
	s := &steps{t: t, done: map[string]string{}}
	client, err := sr.NewClient(sr.URLs(url))
	s.must(err)
	ctx := t.Context()
	s.franzSchemas(ctx, client)
	s.franzSettings(ctx, client)
	s.franzReferences(ctx, client)
	s.franzDeletions(ctx, client)
	return s.done
}

const users = "users-value"

func avroSchema(name string) sr.Schema { return sr.Schema{Schema: registryTexts[name]} }

func (s *steps) franzSchemas(ctx context.Context, client *sr.Client) {
	_, err := client.SchemaByVersion(ctx, users, -1)
	s.say("unknown", code(err))
	one, err := client.CreateSchema(ctx, users, avroSchema("v1"))
	s.must(err)
	s.say("register", one.ID)
	again, err := client.RegisterSchema(ctx, users, avroSchema("v1"), -1, -1)
	s.must(err)
	s.say("again", again)
	found, err := client.LookupSchema(ctx, users, avroSchema("v1"))
	s.must(err)
	s.say("lookup", found.ID)
	s.say("lookup version", found.Version)
	check, err := client.CheckCompatibility(ctx, users, -1, avroSchema("v2"))
	s.must(err)
	s.say("compatible", check.Is)
	check, err = client.CheckCompatibility(ctx, users, -1, avroSchema("bad"))
	s.must(err)
	s.say("incompatible", check.Is)
	two, err := client.RegisterSchema(sr.WithParams(ctx, sr.Normalize), users, avroSchema("v2"), -1, -1)
	s.must(err)
	s.say("evolve", two)
	_, err = client.CreateSchema(ctx, users, avroSchema("bad"))
	s.say("refused", code(err))
	versions, err := client.SubjectVersions(ctx, users)
	s.must(err)
	s.say("versions", joined(versions))
	latest, err := client.SchemaByVersion(ctx, users, -1)
	s.must(err)
	s.say("latest", latest.ID)
	s.say("latest version", latest.Version)
	text, err := client.SchemaTextByID(ctx, 1)
	s.must(err)
	s.say("by id", text == registryTexts["v1"])
	byGUID, err := client.SchemaByGUID(ctx, found.GUID)
	s.must(err)
	s.say("by guid", byGUID.Schema.Schema == registryTexts["v1"])
	subjects, err := client.SubjectsByID(ctx, 1)
	s.must(err)
	s.say("subjects of id", joined(subjects))
	uses, err := client.SchemaVersionsByID(ctx, 1)
	s.must(err)
	s.say("versions of id", fmt.Sprintf("%s/%d", uses[0].Subject, uses[0].Version))
}

func (s *steps) franzSettings(ctx context.Context, client *sr.Client) {
	for _, r := range client.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatNone}, users) {
		s.must(r.Err)
	}
	for _, r := range client.Compatibility(ctx, users) {
		s.must(r.Err)
		s.say("level", r.Level)
	}
	for _, r := range client.ResetCompatibility(ctx, users) {
		s.must(r.Err)
	}
	for _, r := range client.Compatibility(ctx, users) {
		s.say("no level", code(r.Err))
	}
	for _, r := range client.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatFull}) {
		s.must(r.Err)
	}
	for _, r := range client.Compatibility(ctx) {
		s.must(r.Err)
		s.say("global level", r.Level)
	}
	for _, r := range client.ResetCompatibility(ctx) {
		s.must(r.Err)
	}
	for _, r := range client.SetMode(ctx, sr.ModeReadOnly, users) {
		s.must(r.Err)
	}
	for _, r := range client.Mode(ctx, users) {
		s.must(r.Err)
		s.say("mode", r.Mode)
	}
	_, err := client.CreateSchema(ctx, users, avroSchema("bad"))
	s.say("read only", code(err))
	for _, r := range client.ResetMode(ctx, users) {
		s.must(r.Err)
	}
	for _, r := range client.Mode(ctx) {
		s.must(r.Err)
		s.say("global mode", r.Mode)
	}
}

func (s *steps) franzReferences(ctx context.Context, client *sr.Client) {
	address, err := client.RegisterSchema(ctx, "address", avroSchema("address"), -1, -1)
	s.must(err)
	s.say("address", address)
	with := avroSchema("person")
	with.References = []sr.SchemaReference{{Name: "n.Address", Subject: "address", Version: 1}}
	person, err := client.RegisterSchema(ctx, "person-value", with, -1, -1)
	s.must(err)
	s.say("person", person)
	referrers, err := client.SchemaReferences(ctx, "address", 1)
	s.must(err)
	s.say("referenced by", referrers[0].ID)
	s.say("delete referenced", code(client.DeleteSchema(ctx, "address", 1, sr.SoftDelete)))

	contract := avroSchema("v1")
	contract.SchemaMetadata = &sr.SchemaMetadata{Properties: map[string]string{"owner": "web"}}
	contract.SchemaRuleSet = &sr.SchemaRuleSet{DomainRules: []sr.SchemaRule{
		{Name: "positive", Kind: sr.SchemaRuleKindCondition, Mode: sr.SchemaRuleModeWrite, Type: "CEL", Expr: "true"},
	}}
	made, err := client.CreateSchema(ctx, "contract", contract)
	s.must(err)
	s.say("contract", made.ID)
	s.say("rule", made.SchemaRuleSet.DomainRules[0].Name)

	other, err := client.RegisterSchema(ctx, ":.other:users-value", avroSchema("v2"), -1, -1)
	s.must(err)
	s.say("in context", other)
	contexts, err := client.Contexts(ctx)
	s.must(err)
	s.say("contexts", joined(contexts))
	for _, r := range client.SetMode(ctx, sr.ModeImport, "moved") {
		s.must(r.Err)
	}
	moved, err := client.RegisterSchema(ctx, "moved", avroSchema("bad"), 100, 7)
	s.must(err)
	s.say("import", moved)
}

func (s *steps) franzDeletions(ctx context.Context, client *sr.Client) {
	s.must(client.DeleteSchema(ctx, users, 1, sr.SoftDelete))
	left, err := client.SubjectVersions(ctx, users)
	s.must(err)
	s.say("versions left", joined(left))
	all, err := client.SubjectVersions(sr.WithParams(ctx, sr.ShowDeleted), users)
	s.must(err)
	s.say("deleted versions", joined(all))
	s.must(client.DeleteSchema(ctx, users, 1, sr.HardDelete))
	deleted, err := client.DeleteSubject(ctx, users, sr.SoftDelete)
	s.must(err)
	s.say("delete subject", joined(deleted))
	deleted, err = client.DeleteSubject(ctx, users, sr.HardDelete)
	s.must(err)
	s.say("delete subject for good", joined(deleted))
	_, err = client.SubjectVersions(ctx, users)
	s.say("gone", code(err))
}
