//go:build interop

package buf

import (
	"net/http"
	"strings"
	"testing"
)

const order = `syntax = "proto3";
package orders.v1;
message Order {
  string id = 1;
  int64 cents = 2;
}
`

// TestModule pushes one module and reads it back in every way.
func TestModule(t *testing.T) {
	s, c := start(t), newCLI(t, plain)
	name := s.registry + "/acme/orders"
	c.module("m", name)
	c.write("m/orders/v1/order.proto", order)
	c.refused("m", []string{"acme/orders"}, "push")
	first := c.run("m", "push", "--create", "--create-visibility", "public")
	if again := c.run("m", "push"); again != first {
		t.Fatalf("the same content again is %q, it was %q", again, first)
	}
	c.run("m", "export", name, "-o", "../out")
	if got := c.read("out/orders/v1/order.proto"); got != order {
		t.Fatalf("what came back is not what was pushed:\n%s", got)
	}
	c.run("m", "build", name)
	c.run("m", "breaking", "--against", name)
	c.run("m", "breaking", "--against-registry")
	// A second commit, on a label of its own, leaves the default one alone.
	c.write("m/orders/v1/order.proto", strings.Replace(order, "int64 cents = 2;", "int64 cents = 2;\n  string note = 3;", 1))
	second := c.run("m", "push", "--label", "draft")
	if second == first {
		t.Fatal("another content is the same commit")
	}
	if got := c.run("m", "export", name, "-o", "../out2") + c.read("out2/orders/v1/order.proto"); got != order {
		t.Fatalf("the default label moved:\n%s", got)
	}
	c.run("m", "export", name+":draft", "-o", "../out3")
	if got := c.read("out3/orders/v1/order.proto"); !strings.Contains(got, "note") {
		t.Fatalf("the label shows\n%s", got)
	}
	c.run("m", "push")
	c.write("m/orders/v1/order.proto", strings.Replace(order, "int64 cents", "string cents", 1))
	c.refused("m", []string{"changed type"}, "breaking", "--against", name)
	c.refused("m", []string{"changed type"}, "breaking", "--against-registry")
	for _, want := range []struct{ says, args string }{
		{"acme/orders", "registry module info " + name},
		{second[strings.LastIndex(second, ":")+1:], "registry module commit list " + name},
		{first[strings.LastIndex(first, ":")+1:], "registry module commit list " + name},
		{second[strings.LastIndex(second, ":")+1:], "registry module commit resolve " + name},
		{second[strings.LastIndex(second, ":")+1:], "registry module commit list " + name + ":draft"},
		{"draft", "registry module label list " + name},
		{"", "registry module label archive " + name + ":draft"},
		{"", "registry module label unarchive " + name + ":draft"},
		{"", "registry module commit add-label " + name + ":" + first[strings.LastIndex(first, ":")+1:] + " --label old"},
		{"old", "registry module label list " + name},
		{"", "registry module deprecate " + name},
		{"", "registry module undeprecate " + name},
		{"", "registry organization create " + s.registry + "/other"},
		{"other", "registry organization info " + s.registry + "/other"},
	} {
		if out := c.run("m", strings.Fields(want.args)...); !strings.Contains(out, want.says) {
			t.Errorf("buf %s does not say %q:\n%s", want.args, want.says, out)
		}
	}
	// All is still there after a restart.
	s.stop()
	s.run()
	c.forget()
	c.run("m", "export", name+":draft", "-o", "../out4")
	if got := c.read("out4/orders/v1/order.proto"); !strings.Contains(got, "note") {
		t.Fatalf("after a restart the label shows\n%s", got)
	}
	c.run("m", "registry", "module", "delete", "--force", name)
	c.refused("m", []string{"not"}, "registry", "module", "info", name)
}

// moneyDigest is what the CLI accepts for acme/money of TestWorkspace; registry/bufpush tests that its digest is this.
const moneyDigest = "c4b4d4cb6bab3e2a25e4ffddc972ed9a2b93f977c29c20892d5c18bd5a3fd71ffabc03161da2fad39b1728428398be1835abb099f5d4f0ef56870229eb244021"

// TestWorkspace pushes two modules of which one imports the other, and a third one that depends on them.
func TestWorkspace(t *testing.T) {
	s, c := start(t), newCLI(t, plain)
	c.write("w/buf.yaml", "version: v2\nmodules:\n  - path: orders\n    name: "+s.registry+"/acme/orders\n  - path: money\n    name: "+s.registry+"/acme/money\n")
	c.write("w/money/money/v1/money.proto", "syntax = \"proto3\";\npackage money.v1;\nmessage Money {\n  int64 cents = 1;\n}\n")
	c.write("w/money/LICENSE", "free\n")
	c.write("w/orders/orders/v1/order.proto", "syntax = \"proto3\";\npackage orders.v1;\nimport \"money/v1/money.proto\";\nmessage Order {\n  money.v1.Money price = 1;\n}\n")
	c.run("w", "push", "--create")
	c.run("w", "push")
	c.module("third", s.registry+"/acme/shop", s.registry+"/acme/orders")
	c.write("third/shop/v1/shop.proto", "syntax = \"proto3\";\npackage shop.v1;\nimport \"orders/v1/order.proto\";\nmessage Shop {\n  repeated orders.v1.Order orders = 1;\n}\n")
	c.run("third", "dep", "update")
	if lock := c.read("third/buf.lock"); !strings.Contains(lock, "acme/money") || !strings.Contains(lock, "b5:"+moneyDigest) {
		t.Fatalf("the lock is\n%s", lock)
	}
	c.run("third", "build")
	c.run("third", "push", "--create")
	c.forget()
	c.run("third", "export", s.registry+"/acme/shop", "-o", "../out")
	for _, f := range []string{"shop/v1/shop.proto", "orders/v1/order.proto", "money/v1/money.proto"} {
		c.read("out/" + f)
	}
	if out := c.run("third", "dep", "graph"); !strings.Contains(out, "acme/money") {
		t.Errorf("the graph is\n%s", out)
	}
	c.run("third", "ls-files", s.registry+"/acme/orders")
	c.refused("third", []string{"needs it"}, "registry", "module", "delete", "--force", s.registry+"/acme/money")
}

// TestSubjects has messages with options: they become subjects, and a push that breaks one is refused whole.
func TestSubjects(t *testing.T) {
	s, c := start(t), newCLI(t, plain)
	name := s.registry + "/acme/orders"
	c.module("m", name, s.registry+"/moldau/kafka")
	c.write("m/orders/v1/money.proto", "syntax = \"proto3\";\npackage orders.v1;\nmessage Money {\n  int64 cents = 1;\n}\n")
	text := `syntax = "proto3";
package orders.v1;
import "moldau/kafka/v1/subject.proto";
import "orders/v1/money.proto";
message Order {
  option (moldau.kafka.v1.subject) = {topic: "orders"};
  option (moldau.kafka.v1.subject) = {topic: "audit", strategy: STRATEGY_TOPIC_RECORD, compatibility: COMPATIBILITY_FULL};
  string id = 1;
  Money price = 2;
}
message Key {
  option (moldau.kafka.v1.subject) = {topic: "orders", part: PART_KEY};
  string id = 1;
}
message Plain {
  option (moldau.kafka.v1.subject) = {strategy: STRATEGY_RECORD};
}
`
	c.write("m/orders/v1/order.proto", text)
	c.run("m", "dep", "update")
	c.run("m", "push", "--create")
	const all = `audit-orders.v1.Order[1] moldau/kafka/v1/subject.proto[1] orders-key[1] orders-value[1] orders.v1.Plain[1] orders/v1/money.proto[1] orders/v1/order.proto[1]`
	if got := s.subjects(); got != all {
		t.Fatalf("the subjects are\n%s", got)
	}
	if status, body := s.rest(http.MethodGet, "/config/audit-orders.v1.Order", ""); status != 200 || !strings.Contains(body, "FULL") {
		t.Errorf("the level is %s", body)
	}
	// A break leaves everything as it was, and says what it is.
	was := c.run("m", "registry", "module", "commit", "resolve", name)
	c.write("m/orders/v1/order.proto", strings.Replace(text, "string id = 1;\n  Money", "int64 id = 1;\n  Money", 1))
	c.refused("m", []string{"orders-value", "orders/v1/order.proto:8", "FIELD_SCALAR_KIND_CHANGED"}, "push")
	if got := s.subjects(); got != all {
		t.Fatalf("after a refused push the subjects are\n%s", got)
	}
	if now := c.run("m", "registry", "module", "commit", "resolve", name); now != was {
		t.Fatalf("after a refused push the module is at %s, it was at %s", now, was)
	}
	// On another label it is a warning.
	if out := c.run("m", "push", "--label", "draft"); !strings.Contains(out, "FIELD_SCALAR_KIND_CHANGED") {
		t.Errorf("no warning in\n%s", out)
	}
	if got := s.subjects(); got != all {
		t.Fatalf("after a draft the subjects are\n%s", got)
	}
	// A change that may be made, with a new version in an imported file too.
	c.write("m/orders/v1/money.proto", "syntax = \"proto3\";\npackage orders.v1;\nmessage Money {\n  int64 cents = 1;\n  string currency = 2;\n}\n")
	c.write("m/orders/v1/order.proto", text)
	c.run("m", "push")
	if got := s.subjects(); !strings.Contains(got, "orders-value[1,2]") || !strings.Contains(got, "money.proto[1,2]") {
		t.Fatalf("after a good change the subjects are\n%s", got)
	}
	// Another module can't have a subject of this one.
	c.module("thief", s.registry+"/acme/thief", s.registry+"/moldau/kafka")
	c.write("thief/thief/v1/t.proto", "syntax = \"proto3\";\npackage thief.v1;\nimport \"moldau/kafka/v1/subject.proto\";\nmessage T {\n  option (moldau.kafka.v1.subject) = {topic: \"orders\"};\n}\n")
	c.run("thief", "dep", "update")
	c.refused("thief", []string{"orders-value", "acme/orders"}, "push", "--create")
	// The subject reads back as a module, at the path that the file has.
	c.run("m", "breaking", "--against", s.registry+"/subjects/orders-value")
	c.write("m/orders/v1/order.proto", strings.Replace(text, "string id = 1;\n  Money", "int64 id = 1;\n  Money", 1))
	c.refused("m", []string{"changed type"}, "breaking", "--against", s.registry+"/subjects/orders-value")
	c.refused("m", []string{"changed type"}, "breaking", "--against", s.registry+"/subjects/orders-value:v1")
}

// TestTypes builds some types of a module alone. The CLI downloads the files and chooses by itself; it never asks the server for
// descriptors.
func TestTypes(t *testing.T) {
	s, c := start(t), newCLI(t, plain)
	name := s.registry + "/acme/orders"
	c.module("m", name)
	c.write("m/orders/v1/order.proto", order+"message Invoice {}\n")
	c.run("m", "push", "--create")
	out := c.run("m", "build", name, "-o", "-#format=json", "--type", "orders.v1.Order")
	if !strings.Contains(out, `"Order"`) || strings.Contains(out, `"Invoice"`) {
		t.Error(out)
	}
}

// TestRegisteredByREST reads a subject that was never pushed as a module.
func TestRegisteredByREST(t *testing.T) {
	s, c := start(t), newCLI(t, plain)
	if status, body := s.rest(http.MethodPost, "/subjects/payments-value/versions",
		`{"schemaType":"PROTOBUF","schema":"syntax = \"proto3\"; package pay.v1; message Pay { string id = 1; }"}`); status != 200 {
		t.Fatal(body)
	}
	c.module("m", s.registry+"/acme/pay")
	c.run("m", "export", s.registry+"/subjects/payments-value", "-o", "../out")
	if got := c.read("out/pay/v1/payments_value.proto"); !strings.Contains(got, "message Pay") {
		t.Fatal(got)
	}
	if out := c.run("m", "registry", "module", "info", s.registry+"/subjects/payments-value"); !strings.Contains(out, "payments-value") {
		t.Error(out)
	}
	c.refused("m", []string{"kept by the server"}, "registry", "module", "create", s.registry+"/subjects/mine")
}

// TestNewerDependency has a module that needs another one in an older state than the module that depends on both.
func TestNewerDependency(t *testing.T) {
	s, c := start(t), newCLI(t, plain)
	money := "syntax = \"proto3\";\npackage money.v1;\nmessage Money {\n  int64 cents = 1;\n}\n"
	c.module("money", s.registry+"/acme/money")
	c.write("money/money/v1/money.proto", money)
	c.run("money", "push", "--create")
	c.module("orders", s.registry+"/acme/orders", s.registry+"/acme/money")
	c.write("orders/orders/v1/order.proto", "syntax = \"proto3\";\npackage orders.v1;\nimport \"money/v1/money.proto\";\nmessage Order {\n  money.v1.Money price = 1;\n}\n")
	c.run("orders", "dep", "update")
	c.run("orders", "push", "--create")
	c.write("money/money/v1/money.proto", money+"message Note {}\n")
	newer := c.run("money", "push")
	for _, direct := range []bool{true, false} {
		name, deps, imports := "shop", []string{s.registry + "/acme/orders", s.registry + "/acme/money"}, "import \"money/v1/money.proto\";\nmessage Noted {\n  money.v1.Note note = 1;\n}\n"
		if !direct {
			name, imports = "stall", ""
		}
		c.module(name, s.registry+"/acme/"+name, deps...)
		c.write(name+"/"+name+"/v1/a.proto", "syntax = \"proto3\";\npackage "+name+".v1;\nimport \"orders/v1/order.proto\";\n"+imports+"message Shop {\n  orders.v1.Order order = 1;\n}\n")
		c.run(name, "dep", "update")
		if lock := c.read(name + "/buf.lock"); !strings.Contains(lock, newer[strings.LastIndex(newer, ":")+1:]) {
			t.Fatalf("the lock does not have %s\n%s", newer, lock)
		}
		c.run(name, "build")
		c.run(name, "push", "--create")
		c.forget()
		c.run(name, "export", s.registry+"/acme/"+name, "-o", "../out-"+name)
		if got := c.read("out-" + name + "/money/v1/money.proto"); !strings.Contains(got, "Note") {
			t.Errorf("%s comes with an older state of what it needs:\n%s", name, got)
		}
	}
}
