package peers

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed pom.xml
var pom []byte

// KafkaVersion is the release of Apache Kafka that pom.xml names.
const KafkaVersion = "4.4.0"

// classpath answers the Java class path of the artifacts in pom.xml. The
// result is kept in a folder named after the pom's hash, so that Maven runs
// once per machine and pom.
func classpath(tb testing.TB) string {
	tb.Helper()
	requireProgram(tb, "java")
	requireProgram(tb, "mvn")
	sum := sha256.Sum256(pom)
	dir := filepath.Join(os.TempDir(), "moldau-peers-"+hex.EncodeToString(sum[:6]))
	file := filepath.Join(dir, "classpath.txt")
	if b, err := os.ReadFile(file); err == nil && jarsExist(string(b)) {
		return string(b)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatalf("peers: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pom.xml"), pom, 0o600); err != nil {
		tb.Fatalf("peers: %v", err)
	}
	fresh := fmt.Sprintf("classpath-%d.txt", os.Getpid())
	mvn := exec.Command("mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile="+fresh)
	mvn.Dir = dir
	if out, err := mvn.CombinedOutput(); err != nil {
		tb.Fatalf("peers: resolve Apache Kafka %s: %v\n%s", KafkaVersion, err, out)
	}
	// Two test binaries may resolve at once; the rename lets either win whole.
	if err := os.Rename(filepath.Join(dir, fresh), file); err != nil {
		tb.Fatalf("peers: %v", err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		tb.Fatalf("peers: %v", err)
	}
	return string(b)
}

func jarsExist(cp string) bool {
	for jar := range strings.SplitSeq(strings.TrimSpace(cp), string(os.PathListSeparator)) {
		if _, err := os.Stat(jar); err != nil {
			return false
		}
	}
	return true
}

func requireProgram(tb testing.TB, name string) {
	tb.Helper()
	if _, err := exec.LookPath(name); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		tb.Fatalf("peers: %s is not installed", name)
	}
	tb.Skipf("peers: %s is not installed", name)
}

// Classpath answers the Java class path of Apache Kafka's jars, the client
// among them, for tests that start Java programs of their own.
func Classpath(tb testing.TB) string {
	tb.Helper()
	return classpath(tb)
}
