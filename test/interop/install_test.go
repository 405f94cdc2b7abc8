//go:build interop

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"moldau/test/peers"
)

func java(t *testing.T) []string {
	return javaProgram(t, "Interop.java")
}

func javaTransactions(t *testing.T) []string {
	return javaProgram(t, "Transactions.java")
}

func javaProgram(t *testing.T, name string) []string {
	return []string{"java", "-cp", peers.Classpath(t), source(t, "java", name)}
}

func python(t *testing.T) []string {
	return pythonProgram(t, "interop.py")
}

func pythonTransactions(t *testing.T) []string {
	return pythonProgram(t, "transactions.py")
}

func pythonProgram(t *testing.T, name string) []string {
	venv := filepath.Join(cache(t), "python")
	bin := filepath.Join(venv, "bin", "python")
	if _, err := os.Stat(bin); err != nil {
		run(t, "", "python3", "-m", "venv", venv)
	}
	run(t, "", bin, "-m", "pip", "install", "-q", "-r", source(t, "python", "requirements.txt"))
	return []string{bin, source(t, "python", name)}
}

func node(t *testing.T) []string {
	dir := filepath.Join(cache(t), "node")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "interop.mjs"} {
		copyFile(t, source(t, "node", name), filepath.Join(dir, name))
	}
	run(t, dir, "npm", "install", "--no-audit", "--no-fund", "--silent")
	return []string{"node", filepath.Join(dir, "interop.mjs")}
}

func rust(t *testing.T) []string {
	target := filepath.Join(cache(t), "rust")
	src := filepath.Join(target, "source")
	if err := os.MkdirAll(filepath.Join(src, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	copyFile(t, source(t, "rust", "Cargo.toml"), filepath.Join(src, "Cargo.toml"))
	copyFile(t, source(t, "rust", "src", "main.rs"), filepath.Join(src, "src", "main.rs"))
	run(t, src, "cargo", "build", "--quiet", "--target-dir", target)
	return []string{filepath.Join(target, "debug", "moldau-interop")}
}

func golang(t *testing.T) []string {
	bin := filepath.Join(t.TempDir(), "interop")
	run(t, source(t, "go"), "go", "build", "-o", bin, ".")
	return []string{bin}
}

// cache is the folder in which installed clients are kept between runs.
func cache(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "moldau-interop")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func source(t *testing.T, elem ...string) string {
	t.Helper()
	p, err := filepath.Abs(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}
