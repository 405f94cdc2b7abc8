//go:build interop

package interop

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"moldau/test/peers"
)

// readmePatience bounds each snippet.
const readmePatience = time.Minute

// TestReadme runs what README.md prints between "One minute to the first record" and "What it promises", block by block, as it stands
// there but for the addresses. tail, which never ends, ends with the first record.
func TestReadme(t *testing.T) {
	m := peers.StartMoldau(t, peers.BuildMoldau(t))
	text, err := os.ReadFile(source(t, "..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, part, found := strings.Cut(string(text), "## One minute to the first record")
	part, _, ends := strings.Cut(part, "## What it promises")
	if !found || !ends {
		t.Fatal("README.md has no part with the first record")
	}
	part = strings.NewReplacer("127.0.0.1:9092", m.Kafka(), "127.0.0.1:8080", m.Addresses["http"], "127.0.0.1:8081", m.Addresses["registry"],
		"topic tail orders", "topic tail orders -n 1").Replace(part)
	runners := map[string]func(t *testing.T, m *peers.Moldau, snippet string){
		"sh": readmeShell, "java": readmeJava, "python": readmePython, "js": readmeNode, "go": readmeGo,
	}
	ran := map[string]int{}
	for _, block := range regexp.MustCompile("(?s)```([a-z]*)\n(.*?)```").FindAllStringSubmatch(part, -1) {
		language, snippet := block[1], block[2]
		run := runners[language]
		if run == nil {
			t.Errorf("nobody runs %q:\n%s", language, snippet)
			continue
		}
		ran[language]++
		run(t, m, snippet)
	}
	for language := range runners {
		if ran[language] == 0 {
			t.Errorf("there is no snippet in %s", language)
		}
	}
	got := snippet(t, m, exec.Command(m.Binary, "topic", "consume", "greetings", "-f", "%k %v\n"))
	if n := strings.Count(got, "k1 hello\n"); n != 5 {
		t.Errorf("%d greetings, want those of kcat, Java, Python, Node and Go:\n%s", n, got)
	}
}

// snippet runs a command that must succeed and returns what it printed.
func snippet(t *testing.T, m *peers.Moldau, cmd *exec.Cmd) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), readmePatience)
	defer cancel()
	limited := exec.CommandContext(ctx, cmd.Args[0], cmd.Args[1:]...)
	limited.Dir, limited.Stdin = cmd.Dir, cmd.Stdin
	limited.Env = append(os.Environ(), "PATH="+filepath.Dir(m.Binary)+":"+os.Getenv("PATH"),
		"MOLDAU_BROKERS="+m.Kafka(), "MOLDAU_REGISTRY=http://"+m.Addresses["registry"])
	var out, errs bytes.Buffer
	limited.Stdout, limited.Stderr = &out, &errs
	if err := limited.Run(); err != nil {
		t.Errorf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out.String(), errs.String())
	}
	return out.String()
}

func readmeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readmeShell(t *testing.T, m *peers.Moldau, text string) {
	snippet(t, m, exec.Command("bash", "-e", "-o", "pipefail", readmeFile(t, t.TempDir(), "snippet.sh", strings.ReplaceAll(text, "curl ", "curl -fsS "))))
}

func readmeJava(t *testing.T, m *peers.Moldau, text string) {
	snippet(t, m, exec.Command("java", "-cp", peers.Classpath(t), readmeFile(t, t.TempDir(), "Hello.java", text)))
}

func readmePython(t *testing.T, m *peers.Moldau, text string) {
	snippet(t, m, exec.Command(python(t)[0], readmeFile(t, t.TempDir(), "hello.py", text)))
}

// readmeNode puts the snippet where the client is installed.
func readmeNode(t *testing.T, m *peers.Moldau, text string) {
	snippet(t, m, exec.Command("node", readmeFile(t, filepath.Dir(node(t)[1]), "hello.mjs", text)))
}

// readmeGo runs in the module of this checkout, which has the client.
func readmeGo(t *testing.T, m *peers.Moldau, text string) {
	snippet(t, m, exec.Command("go", "run", readmeFile(t, t.TempDir(), "main.go", text)))
}
