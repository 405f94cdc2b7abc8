//go:build confluent

package confluent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moldau/registry/registrytest"
)

// change is one case of the data: a schema, what is to follow it, and whether it may.
type change struct {
	Description          string
	OriginalSchema       json.RawMessage   `json:"original_schema"`
	UpdateSchema         json.RawMessage   `json:"update_schema"`
	OriginalMetadata     json.RawMessage   `json:"original_metadata"`
	UpdateMetadata       json.RawMessage   `json:"update_metadata"`
	OriginalReferences   []reference       `json:"original_references"`
	UpdateReferences     []reference       `json:"update_references"`
	OriginalDependencies []dependency      `json:"original_dependencies"`
	UpdateDependencies   []dependency      `json:"update_dependencies"`
	Compatible           bool              `json:"compatible"`
	Lenient              *bool             `json:"compatible_lenient"`
	Changes              []json.RawMessage `json:"changes"`
}

type reference struct {
	Name    string `json:"name"`
	Subject string `json:"subject"`
	Version int    `json:"version"`
}

// dependency is the text of what a reference names; without one it is a file that every registry knows.
type dependency struct {
	Name string `json:"name"`
	Text string `json:"dependency"`
}

// schema is a schema as the registry takes it.
type schema struct {
	Schema     string          `json:"schema"`
	Type       string          `json:"schemaType"`
	References []reference     `json:"references,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
}

// door is the registry's REST API, in a context of the case's own.
type door struct{ context string }

// judge asks about every change of a file.
func judge(t *testing.T, file, kind string, changes []*change) {
	t.Helper()
	server := registrytest.Start(t)
	agreed, asked := 0, 0
	for i, c := range changes {
		lenient := c.Compatible
		if c.Lenient != nil {
			lenient = *c.Lenient
		}
		for policy, want := range map[string]bool{"STRICT": c.Compatible, "LENIENT": lenient} {
			asked++
			d := door{fmt.Sprintf("%s/contexts/.%s%d", server.URL, policy, i)}
			got, reason, err := d.ask(t, kind, policy, c)
			switch {
			case err != nil:
				t.Errorf("%s: %s: %v", file, c.Description, err)
			case got != want:
				t.Errorf("%s: %s: %s: compatible %v, want %v, for the changes %s: %s", file, c.Description, policy, got, want, c.Changes, reason)
			default:
				agreed++
			}
		}
	}
	if asked == 0 {
		t.Fatalf("%s holds no case", file)
	}
	t.Logf("%s: %d changes, %d of %d judgements agree", file, len(changes), agreed, asked)
}

// ask registers the original and asks whether the update may follow.
func (d door) ask(t *testing.T, kind, policy string, c *change) (compatible bool, reason string, err error) {
	original := schema{text(t, c.OriginalSchema), kind, nil, c.OriginalMetadata}
	update := schema{text(t, c.UpdateSchema), kind, nil, c.UpdateMetadata}
	if err := d.call(http.MethodPut, "/config", map[string]string{"compatibility": "NONE"}, nil); err != nil {
		return false, "", err
	}
	if original.References, err = d.depend(kind, c.OriginalReferences, c.OriginalDependencies); err != nil {
		return false, "", err
	}
	if err := d.call(http.MethodPost, "/subjects/s/versions", original, nil); err != nil {
		return false, "", fmt.Errorf("the original: %w", err)
	}
	if update.References, err = d.depend(kind, c.UpdateReferences, c.UpdateDependencies); err != nil {
		return false, "", err
	}
	if err := d.call(http.MethodPut, "/config", map[string]string{"compatibility": "BACKWARD", "compatibilityPolicy": policy}, nil); err != nil {
		return false, "", err
	}
	var answer struct {
		Compatible bool     `json:"is_compatible"`
		Messages   []string `json:"messages"`
	}
	err = d.call(http.MethodPost, "/compatibility/subjects/s/versions/latest?verbose=true", update, &answer)
	return answer.Compatible, strings.Join(answer.Messages, "; "), err
}

// depend registers what is referred to, and returns the references to it.
func (d door) depend(kind string, refs []reference, deps []dependency) ([]reference, error) {
	texts := make(map[string]string)
	for _, dep := range deps {
		texts[dep.Name] = dep.Text
	}
	var made []reference
	for _, ref := range refs {
		if texts[ref.Name] == "" {
			continue
		}
		path := "/subjects/" + strings.ReplaceAll(ref.Subject, "/", "%2F") + "/versions"
		if err := d.call(http.MethodPost, path, schema{texts[ref.Name], kind, made, nil}, nil); err != nil {
			return nil, fmt.Errorf("the reference %s: %w", ref.Name, err)
		}
		made = append(made, reference{ref.Name, ref.Subject, -1})
	}
	return made, nil
}

func (d door) call(method, path string, body, answer any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, d.context+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(resp.Body)
	err = errors.Join(err, resp.Body.Close())
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	if err != nil || answer == nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

// text is a schema's text: what a string holds, the file that it names, or the JSON itself.
func text(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	if !strings.HasSuffix(s, ".proto") {
		return s
	}
	b, err := os.ReadFile(filepath.Join(checkout(t), "protobuf-provider", "src", "test", "resources", s))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
