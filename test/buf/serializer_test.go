//go:build interop

package buf

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// python installs Confluent's client for Python once, and returns the interpreter that has it.
func python(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	venv := filepath.Join(cache, "moldau-buf", "python")
	bin := filepath.Join(venv, "bin", "python")
	for _, args := range [][]string{
		{"python3", "-m", "venv", venv},
		{bin, "-m", "pip", "install", "-q", "-r", filepath.Join("python", "requirements.txt")},
	} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return bin
}

// TestSerializerFindsWhatWasPushed has a message serialized by a client that registers what it does not find: it finds
// the subject, and what that refers to, and nothing new comes into being.
func TestSerializerFindsWhatWasPushed(t *testing.T) {
	bin := python(t)
	s, c := start(t), newCLI(t, plain)
	c.module("m", s.registry+"/acme/orders", s.registry+"/moldau/kafka")
	c.write("m/money/v1/money.proto", "syntax = \"proto3\";\npackage money.v1;\n// Money is counted.\nmessage Money {\n  int64 cents = 1;\n}\n")
	c.write("m/orders/v1/order.proto", `syntax = "proto3";

package orders.v1;

import "google/protobuf/timestamp.proto";
import "moldau/kafka/v1/subject.proto";
import "money/v1/money.proto";

message Before {}

// Order is what somebody wants.
message Order {
  option (moldau.kafka.v1.subject) = {topic: "orders"};
  map<string, money.v1.Money> prices = 2;
  google.protobuf.Timestamp at = 3;
  oneof how {
    string card = 4;
    bool cash = 5;
  }
  repeated int32 counts = 6 [packed = true, deprecated = true];
  enum Kind {
    KIND_UNSPECIFIED = 0;
    KIND_BIG = 7;
  }
  optional Kind kind = 8;
  reserved 9, 11 to 13;
}
`)
	c.run("m", "dep", "update")
	c.run("m", "push", "--create")
	c.run("m", "build", "--exclude-source-info", "-o", "../image.binpb")
	before := s.subjects()
	out, err := exec.CommandContext(t.Context(), bin, filepath.Join("python", "serializer.py"), "http://"+s.registry,
		filepath.Join(c.dir, "image.binpb"), "orders.v1.Order", "orders").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if after := s.subjects(); after != before {
		_, text := s.rest(http.MethodGet, "/schemas?latestOnly=true", "")
		t.Fatalf("the serializer registered something: the subjects are\n%s\nthey were\n%s\n%s", after, before, text)
	}
	var pushed struct {
		ID int `json:"id"`
	}
	if _, body := s.rest(http.MethodGet, "/subjects/orders-value/versions/1", ""); json.Unmarshal([]byte(body), &pushed) != nil {
		t.Fatal(body)
	}
	// The second message of its file: a zero, the id, and the path of the message.
	if got, want := strings.TrimSpace(string(out)), fmt.Sprintf("00%08x0202", pushed.ID); got != want {
		t.Errorf("the payload is %s, want %s", got, want)
	}
}
