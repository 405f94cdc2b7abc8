package kafka

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"moldau/broker"
)

// Every sentinel of package broker has a code of its own: none reaches a client as UNKNOWN_SERVER_ERROR, which Java
// consumers answer by fetching for ever.
func TestEverySentinelHasACode(t *testing.T) {
	text, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	sentinels := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Err") {
			sentinels++
			if !strings.Contains(string(text), "{broker."+spec.Names[0].Name+",") {
				t.Errorf("broker.%s has no row in errors.go", spec.Names[0].Name)
			}
		}
		return true
	})
	if sentinels < 40 {
		t.Errorf("only %d sentinels were found", sentinels)
	}
	for _, row := range codes {
		if got := code(fmt.Errorf("append t-0: %w", row.err)); got == -1 {
			t.Errorf("%v has no code when it is wrapped", row.err)
		}
	}
}

func TestUnknownErrorsAreNotShown(t *testing.T) {
	secret := errors.New("open /var/lib/secret: permission denied")
	if code(nil) != 0 || code(secret) != -1 {
		t.Error("codes of nil and of unknown errors")
	}
	if errorMessage(nil) != nil {
		t.Error("nil has a message")
	}
	if m := errorMessage(secret); m == nil || strings.Contains(*m, "secret") {
		t.Errorf("an unknown error is shown: %v", m)
	}
	wrapped := fmt.Errorf("produce: %w", broker.ErrInvalidTimestamp)
	if m := errorMessage(wrapped); m == nil || *m != wrapped.Error() {
		t.Errorf("a known error is not shown: %v", m)
	}
}
