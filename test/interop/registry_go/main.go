// Command registry_go does what registry_clients_test.go describes with the client of confluent-kafka-go.
//
// It takes the address of a registry and the texts of schemas in JSON, and prints a line "step<TAB>result" for each step.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/rest"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func say(step string, result ...any) {
	text := make([]string, len(result))
	for i, r := range result {
		text[i] = fmt.Sprint(r)
	}
	fmt.Println(step + "\t" + strings.Join(text, ","))
}

func list[T any](l []T) []any {
	out := make([]any, len(l))
	for i, v := range l {
		out[i] = v
	}
	return out
}

// code is the code of an error that is wanted.
func code[T any](v T, err error) any {
	var e *rest.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprintf("%v, %v", v, err)
}

// must ends the program over an error that is not.
func must[T any](v T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return v
}

func run(url, args string) error {
	texts := map[string]string{}
	if err := json.Unmarshal([]byte(args), &texts); err != nil {
		return err
	}
	avro := func(name string) schemaregistry.SchemaInfo { return schemaregistry.SchemaInfo{Schema: texts[name]} }
	client, err := schemaregistry.NewClient(schemaregistry.NewConfig(url))
	if err != nil {
		return err
	}
	const users = "users-value"
	say("unknown", code(client.GetLatestSchemaMetadata(users)))
	say("register", must(client.Register(users, avro("v1"), false)))
	if err := client.ClearCaches(); err != nil {
		return err
	}
	say("again", must(client.Register(users, avro("v1"), false)))
	found := must(client.GetIDFullResponse(users, avro("v1"), false))
	say("lookup", found.ID)
	say("lookup version", must(client.GetVersion(users, avro("v1"), false)))
	say("compatible", must(client.TestCompatibility(users, 1, avro("v2"))))
	say("incompatible", must(client.TestSubjectCompatibility(users, avro("bad"))))
	say("evolve", must(client.Register(users, avro("v2"), true)))
	say("refused", code(client.Register(users, avro("bad"), false)))
	say("versions", list(must(client.GetAllVersions(users)))...)
	latest := must(client.GetLatestSchemaMetadata(users))
	say("latest", latest.ID)
	say("latest version", latest.Version)
	if err := client.ClearCaches(); err != nil {
		return err
	}
	say("by id", must(client.GetBySubjectAndID(users, 1)).Schema == texts["v1"])
	say("by guid", must(client.GetByGUID(found.GUID)).Schema == texts["v1"])
	var uses []string
	for _, u := range must(client.GetSubjectsAndVersionsByID(1)) {
		uses = append(uses, fmt.Sprintf("%s/%d", u.Subject, u.Version))
	}
	say("versions of id", list(uses)...)

	must(client.UpdateCompatibility(users, schemaregistry.None))
	level := must(client.GetCompatibility(users))
	say("level", level.String())
	must(client.UpdateDefaultConfig(schemaregistry.ServerConfig{CompatibilityUpdate: schemaregistry.Full}))
	config := must(client.GetDefaultConfig())
	say("global level", config.CompatibilityLevel.String())
	must(client.UpdateDefaultCompatibility(schemaregistry.Backward))

	say("address", must(client.Register("address", avro("address"), false)))
	person := avro("person")
	person.References = []schemaregistry.Reference{{Name: "n.Address", Subject: "address", Version: 1}}
	say("person", must(client.Register("person-value", person, false)))
	say("delete referenced", code(client.DeleteSubjectVersion("address", 1, false)))

	contract := avro("v1")
	contract.Metadata = &schemaregistry.Metadata{Properties: map[string]string{"owner": "web"}}
	contract.RuleSet = &schemaregistry.RuleSet{DomainRules: []schemaregistry.Rule{
		{Name: "positive", Kind: "CONDITION", Mode: "WRITE", Type: "CEL", Expr: "true"},
	}}
	say("contract", must(client.Register("contract", contract, false)))
	with := must(client.GetLatestWithMetadata("contract", map[string]string{"owner": "web"}, false))
	say("with metadata", with.ID)
	say("rule", with.RuleSet.DomainRules[0].Name)
	say("no metadata", code(client.GetLatestWithMetadata("contract", map[string]string{"owner": "app"}, false)))

	say("in context", must(client.Register(":.other:users-value", avro("v2"), false)))
	say("contexts", list(must(client.GetAllContexts()))...)

	say("delete version", must(client.DeleteSubjectVersion(users, 1, false)))
	say("versions left", list(must(client.GetAllVersions(users)))...)
	say("delete version for good", must(client.DeleteSubjectVersion(users, 1, true)))
	say("delete subject", list(must(client.DeleteSubject(users, false)))...)
	say("delete subject for good", list(must(client.DeleteSubject(users, true)))...)
	say("gone", code(client.GetAllVersions(users)))
	say("subjects", list(must(client.GetAllSubjects()))...)
	return client.Close()
}
