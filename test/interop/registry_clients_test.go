//go:build interop

package interop

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"moldau/test/peers"
)

// registryTexts are the schemas of the steps. bad can't follow v2, as readers of it know no default.
var registryTexts = map[string]string{
	"v1":      `{"type":"record","name":"User","namespace":"n","fields":[{"name":"id","type":"string"}]}`,
	"v2":      `{"type":"record","name":"User","namespace":"n","fields":[{"name":"id","type":"string"},{"name":"age","type":["null","int"],"default":null}]}`,
	"bad":     `{"type":"record","name":"User","namespace":"n","fields":[{"name":"id","type":"string"},{"name":"size","type":"int"}]}`,
	"address": `{"type":"record","name":"Address","namespace":"n","fields":[{"name":"city","type":"string"}]}`,
	"person":  `{"type":"record","name":"Person","namespace":"n","fields":[{"name":"home","type":"n.Address"}]}`,
}

// registrySteps are what every client does with an empty registry, as far as it can, and what comes of it: the ids, versions
// and names that it returns, or the code of the error.
var registrySteps = map[string]string{
	"unknown": "40401", // the latest version of a subject that does not exist

	"register": "1", "again": "1", "lookup": "1", "lookup version": "1", "compatible": "true", "incompatible": "false",
	"evolve": "2", "refused": "40901", "versions": "1,2", "latest": "2", "latest version": "2",
	"by id": "true", "by guid": "true", "subjects of id": "users-value", "versions of id": "users-value/1",

	"level": "NONE", "no level": "40408", "global level": "FULL",
	"mode": "READONLY", "read only": "42205", "global mode": "READWRITE", "import": "100",

	"address": "3", "person": "4", "referenced by": "4", "delete referenced": "42206",
	"contract": "5", "with metadata": "5", "rule": "positive", "no metadata": "40403",
	"in context": "1", "contexts": ".,.other",

	"delete version": "1", "versions left": "2", "deleted versions": "1,2", "delete version for good": "1",
	"delete subject": "2", "delete subject for good": "2", "gone": "40401",
	"subjects": ":.other:users-value,address,contract,person-value",
}

// registryClient is a client of the registry.
type registryClient struct {
	name string
	// run does the steps and returns their results.
	run func(t *testing.T, url string) map[string]string
	// without are the steps that it has no call for; or only are those that it has.
	without, only []string
}

// steps are those that the client must do, with their results.
func (c *registryClient) steps(t *testing.T) map[string]string {
	t.Helper()
	for _, step := range slices.Concat(c.without, c.only) {
		if registrySteps[step] == "" {
			t.Errorf("there is no step %q", step)
		}
	}
	want := maps.Clone(registrySteps)
	maps.DeleteFunc(want, func(step, _ string) bool {
		return slices.Contains(c.without, step) || c.only != nil && !slices.Contains(c.only, step)
	})
	if want["import"] != "" && want["subjects"] != "" {
		want["subjects"] = strings.Replace(want["subjects"], "contract,", "contract,moved,", 1)
	}
	return want
}

var registryClients = []registryClient{
	{name: "franz-go", run: franzSteps, without: []string{
		"with metadata", "no metadata", "delete version", "delete version for good", "subjects",
	}},
	{name: "confluent-kafka-go", run: program(goRegistry), without: []string{
		"subjects of id", "no level", "mode", "read only", "global mode", "import", "referenced by", "deleted versions",
	}},
	{name: "confluent-kafka-python", run: program(pythonRegistry), without: []string{"import"}},
	{name: "confluent-java", run: program(javaRegistry), without: []string{"by guid", "referenced by", "contexts"}},
	{name: "confluent-javascript", run: program(nodeRegistry("confluent.mjs")), without: []string{
		"subjects of id", "versions of id", "no level", "mode", "read only", "global mode", "import", "referenced by", "contexts",
		"deleted versions",
	}},
	{name: "kafkajs", run: program(nodeRegistry("kafkajs.mjs")), only: []string{
		"register", "again", "lookup", "evolve", "refused", "latest", "by id", "address", "person",
	}},
}

// TestRegistryClients does the steps with each client against a process of its own.
func TestRegistryClients(t *testing.T) {
	moldau := peers.BuildMoldau(t)
	for _, c := range registryClients {
		t.Run(c.name, func(t *testing.T) {
			want := c.steps(t)
			got := c.run(t, "http://"+peers.StartMoldau(t, moldau).Addresses["registry"])
			for step, result := range want {
				if got[step] != result {
					t.Errorf("%s: %q, want %q", step, got[step], result)
				}
			}
			for step := range got {
				if _, known := want[step]; !known {
					t.Errorf("%s is not among its steps", step)
				}
			}
		})
	}
}

// program makes a client of a command, which takes the address of the registry and the schemas.
func program(install func(t *testing.T) []string) func(t *testing.T, url string) map[string]string {
	return func(t *testing.T, url string) map[string]string {
		t.Helper()
		command := install(t)
		args := []string{url, string(marshal(t, registryTexts))}
		if command[0] == "java" {
			args = []string{url}
			for _, name := range []string{"v1", "v2", "bad", "address", "person"} {
				args = append(args, registryTexts[name])
			}
		}
		cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], args...)...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Errorf("%v\n%s", err, errs.Bytes())
		}
		results := map[string]string{}
		for line := range strings.Lines(out.String()) {
			step, result, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			results[step] = result
		}
		return results
	}
}

func goRegistry(t *testing.T) []string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "registry")
	run(t, source(t, "registry_go"), "go", "build", "-o", bin, ".")
	return []string{bin}
}

func pythonRegistry(t *testing.T) []string {
	t.Helper()
	return []string{pythonSerializers(t)[0], source(t, "registry_python", "registry.py")}
}

func nodeRegistry(name string) func(t *testing.T) []string {
	return func(t *testing.T) []string {
		t.Helper()
		dir := filepath.Join(cache(t), "registry-node")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"package.json", name} {
			copyFile(t, source(t, "registry_node", file), filepath.Join(dir, file))
		}
		run(t, dir, "npm", "install", "--no-audit", "--no-fund", "--silent")
		return []string{"node", filepath.Join(dir, name)}
	}
}

func javaRegistry(t *testing.T) []string {
	t.Helper()
	dir := filepath.Join(cache(t), "registry-java")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	copyFile(t, source(t, "registry_java", "pom.xml"), filepath.Join(dir, "pom.xml"))
	file := filepath.Join(dir, "classpath.txt")
	run(t, dir, "mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile="+file)
	cp, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"java", "-cp", strings.TrimSpace(string(cp)), source(t, "registry_java", "Registry.java")}
}

func joined[T any](list []T) string {
	text := make([]string, len(list))
	for i, v := range list {
		text[i] = fmt.Sprint(v)
	}
	return strings.Join(text, ",")
}
