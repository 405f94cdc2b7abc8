package archtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listed is what `go list -json` says of one package.
type listed struct {
	ImportPath string
	Imports    []string
}

func TestLayers(t *testing.T) {
	for _, v := range violations(list(t)) {
		t.Error(v)
	}
}

// TestPlantedViolation puts files that break the rules into the build by an
// overlay and expects each to be named.
func TestPlantedViolation(t *testing.T) {
	overlay := plant(t, map[string]string{
		"broker/record/planted_violation.go":   "package record\n\nimport _ \"moldau/cmd/planted\"\n",
		"cmd/planted/planted.go":               "package planted\n",
		"internal/planted/planted.go":          "package planted\n\nimport _ \"moldau/broker/record\"\n",
		"broker/planted/planted.go":            "package planted\n\nimport _ \"github.com/spf13/cobra\"\n",
		"unheard_of/planted.go":                "package planted\n",
		"gateway/planted/planted_violation.go": "package planted\n\nimport _ \"moldau/broker/planted\"\n",
	})
	got := violations(list(t, "-overlay", overlay))
	for _, want := range []string{
		"moldau/broker/record imports moldau/cmd/planted",
		"moldau/internal/planted imports moldau/broker/record",
		"moldau/broker/planted imports github.com/spf13/cobra",
		"moldau/unheard_of has no rule",
		"moldau/gateway/planted imports moldau/broker/planted",
	} {
		if !slices.ContainsFunc(got, func(v string) bool { return strings.HasPrefix(v, want) }) {
			t.Errorf("planted violation was not reported: %s\ngot: %s", want, strings.Join(got, "\n     "))
		}
	}
}

// TestRulesAreUsed keeps the table free of rules for rooms that have gone
// wrong in spelling: every room named must start with the module's path.
func TestRulesAreUsed(t *testing.T) {
	for _, r := range rules {
		if r.why == "" {
			t.Errorf("%s: a rule without a reason", r.room)
		}
		for _, m := range r.may {
			if !strings.HasPrefix(m, "moldau/") {
				t.Errorf("%s: %q is not a package of this module", r.room, m)
			}
		}
	}
}

func violations(pkgs []listed) []string {
	var out []string
	for _, p := range pkgs {
		r, ok := ruleFor(p.ImportPath)
		if !ok {
			out = append(out, fmt.Sprintf("%s has no rule: add its room to internal/archtest/rules_test.go", p.ImportPath))
			continue
		}
		for _, imp := range p.Imports {
			if why := judge(r, p.ImportPath, imp); why != "" {
				out = append(out, fmt.Sprintf("%s imports %s: %s", p.ImportPath, imp, why))
			}
		}
	}
	return out
}

// judge answers why pkg may not import imp, or "".
func judge(r rule, pkg, imp string) string {
	if !strings.HasPrefix(imp, "moldau/") {
		return judgeForeign(pkg, imp)
	}
	if imp == everywhere {
		return ""
	}
	if within(imp, "moldau/test") && !within(pkg, "moldau/test") {
		return "test code is not for production"
	}
	for _, m := range r.may {
		if folder, all := strings.CutSuffix(m, "/..."); imp == m || all && within(imp, folder) {
			return ""
		}
	}
	return fmt.Sprintf("%s (it may import: %s)", r.why, strings.Join(r.may, " "))
}

func judgeForeign(pkg, imp string) string {
	for _, f := range foreign {
		if !strings.HasPrefix(imp, f.library) {
			continue
		}
		if !slices.ContainsFunc(f.rooms, func(room string) bool { return within(pkg, room) }) {
			return f.why
		}
	}
	return ""
}

func ruleFor(pkg string) (rule, bool) {
	best, found := rule{}, false
	for _, r := range rules {
		if within(pkg, r.room) && len(r.room) >= len(best.room) {
			best, found = r, true
		}
	}
	return best, found
}

// within reports whether pkg is room or lies below it.
func within(pkg, room string) bool {
	return pkg == room || strings.HasPrefix(pkg, room+"/")
}

// list asks the go command for the packages of the module.
func list(t *testing.T, flags ...string) []listed {
	t.Helper()
	args := append([]string{"list", "-e", "-json=ImportPath,Imports"}, flags...)
	cmd := exec.CommandContext(t.Context(), "go", append(args, "moldau/...")...)
	cmd.Dir = root(t)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []listed
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) < 3 {
		t.Fatalf("go list found only %d packages", len(pkgs))
	}
	return pkgs
}

// plant writes files outside the tree and returns an overlay that shows them
// to the go command as if they were in it.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, replace := t.TempDir(), map[string]string{}
	for name, text := range files {
		real := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(real, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root(t), filepath.FromSlash(name))] = real
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
