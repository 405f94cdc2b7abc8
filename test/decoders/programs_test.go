//go:build interop

package decoders

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed pom.xml
var pom []byte

//go:embed requirements.txt
var requirements []byte

// What a decoder says of a frame.
const (
	refused   = 0
	accepted  = 1
	undecided = 2
	trailing  = 3
)

// decoder is a running program that answers frames.
type decoder struct {
	name string
	in   *bufio.Writer
	out  *bufio.Reader
}

// ask sends frames and answers what the program says of each.
func (d *decoder) ask(t *testing.T, kind byte, bodies ...[]byte) []byte {
	t.Helper()
	sent := make(chan error, 1)
	go func() { sent <- d.send(kind, bodies) }()
	answers := make([]byte, len(bodies))
	if _, err := io.ReadFull(d.out, answers); err != nil {
		t.Fatalf("%s: read answers: %v", d.name, err)
	}
	if err := <-sent; err != nil {
		t.Fatalf("%s: send: %v", d.name, err)
	}
	return answers
}

func (d *decoder) send(kind byte, bodies [][]byte) error {
	for _, b := range bodies {
		head := [5]byte{kind}
		binary.BigEndian.PutUint32(head[1:], uint32(len(b)))
		if _, err := d.in.Write(append(head[:], b...)); err != nil {
			return err
		}
	}
	return d.in.Flush()
}

func start(t *testing.T, name string, command ...string) *decoder {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	return &decoder{name, bufio.NewWriter(in), bufio.NewReader(out)}
}

// java starts Decoders.java. Its limit of items without bytes is the one that the test gives to the checker.
func java(t *testing.T) *decoder {
	need(t, "java", "mvn")
	dir := installed(t, "java", pom, func(dir string) {
		write(t, filepath.Join(dir, "pom.xml"), pom)
		run(t, dir, "mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=classpath.txt")
	})
	path, err := os.ReadFile(filepath.Join(dir, "classpath.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return start(t, "java", "java", "-Xmx512m", "-Dorg.apache.avro.limits.collectionItems.maxAllocation=4096",
		"-cp", string(path), "Decoders.java")
}

func python(t *testing.T) *decoder {
	need(t, "python3")
	dir := installed(t, "python", requirements, func(dir string) {
		write(t, filepath.Join(dir, "requirements.txt"), requirements)
		run(t, dir, "python3", "-m", "venv", "venv")
		run(t, dir, filepath.Join("venv", "bin", "python"), "-m", "pip", "install", "-q", "-r", "requirements.txt")
	})
	return start(t, "python", filepath.Join(dir, "venv", "bin", "python"), "decoders.py")
}

// installed answers the folder of an installation, made once for each list of what is in it.
func installed(t *testing.T, name string, list []byte, install func(dir string)) string {
	t.Helper()
	sum := sha256.Sum256(list)
	dir := filepath.Join(os.TempDir(), "moldau-decoders-"+name+"-"+hex.EncodeToString(sum[:6]))
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return dir
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	install(dir)
	write(t, done, nil)
	return dir
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if filepath.Base(name) != name {
		cmd.Path = filepath.Join(dir, name)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("decoders: %s is not installed", p)
			}
			t.Skipf("decoders: %s is not installed", p)
		}
	}
}
