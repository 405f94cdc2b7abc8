package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"moldau/registry/serde"
)

// The kinds of entries of an archive.
const (
	entrySchema = "schema"
	entryConfig = "config"
	entryMode   = "mode"
)

// archiveEntry is one thing that a registry holds: a version of a subject, or the config or the mode of a subject, of a
// context (:.name:) or, where the subject is empty, of everything. Schemas are as the registry answers them.
type archiveEntry struct {
	Kind string `json:"kind"`
	registered
	Deleted bool            `json:"deleted,omitempty"`
	Config  json.RawMessage `json:"config,omitempty"`
	Mode    string          `json:"mode,omitempty"`
}

// archive is what a registry holds: schemas by subject and version, then configs, then modes.
type archive []archiveEntry

func (a archive) sort() {
	kinds := map[string]int{entrySchema: 0, entryConfig: 1, entryMode: 2}
	slices.SortFunc(a, func(x, y archiveEntry) int {
		return cmp.Or(cmp.Compare(kinds[x.Kind], kinds[y.Kind]), strings.Compare(x.Subject, y.Subject), cmp.Compare(x.Version, y.Version))
	})
}

// readers is how many requests are under way at a time.
const readers = 8

// fetchArchive reads everything that a registry holds under a prefix; an empty one is all contexts.
func fetchArchive(ctx context.Context, s *serde.Serde, prefix string, settings bool) (archive, error) {
	everything := prefix == ""
	if everything {
		prefix = ":*:"
	}
	names, err := subjects(ctx, s, prefix, true)
	if err == nil && everything && len(names) == 0 { // a registry that knows no contexts
		names, err = subjects(ctx, s, "", true)
	}
	if err != nil {
		return nil, err
	}
	scopes := []string{}
	if settings && everything {
		if scopes, err = contexts(ctx, s); err != nil {
			return nil, err
		}
		scopes = append(scopes, "")
	}
	out, err := inParallel(ctx, names, func(ctx context.Context, subject string) (archive, error) {
		return fetchSubject(ctx, s, subject)
	})
	if err != nil {
		return nil, err
	}
	if settings {
		more, err := inParallel(ctx, append(scopes, names...), func(ctx context.Context, scope string) (archive, error) {
			return fetchSettings(ctx, s, scope)
		})
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	out.sort()
	return out, nil
}

// contexts are the scopes of all contexts but the default one. A registry without contexts has none.
func contexts(ctx context.Context, s *serde.Serde) ([]string, error) {
	var names []string
	err := s.Do(ctx, "list the contexts", http.MethodGet, "/contexts", nil, &names)
	if err != nil && !errors.Is(err, serde.ErrNotFound) && !errors.Is(err, serde.ErrUnavailable) && !errors.Is(err, serde.ErrRefused) {
		return nil, err
	}
	var out []string
	for _, n := range names {
		if n != "." {
			out = append(out, ":"+n+":")
		}
	}
	return out, nil
}

// inParallel runs do for each name and gathers what it brings.
func inParallel(ctx context.Context, names []string, do func(context.Context, string) (archive, error)) (archive, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan string)
	var (
		mu  sync.Mutex
		out archive
		wg  sync.WaitGroup
	)
	for range min(readers, len(names)) {
		wg.Go(func() {
			for name := range next {
				got, err := do(ctx, name)
				if err != nil {
					cancel(err) // the first one counts
					continue
				}
				mu.Lock()
				out = append(out, got...)
				mu.Unlock()
			}
		})
	}
	for _, name := range names {
		if ctx.Err() != nil {
			break
		}
		next <- name
	}
	close(next)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return out, nil
}

// fetchSubject reads all versions of a subject, those that are softly deleted too.
func fetchSubject(ctx context.Context, s *serde.Serde, subject string) (archive, error) {
	all, err := versions(ctx, s, subject, true)
	if err != nil {
		return nil, err
	}
	alive, err := versions(ctx, s, subject, false)
	if err != nil {
		return nil, err
	}
	var out archive
	for _, v := range all {
		e := archiveEntry{Kind: entrySchema, Deleted: !slices.Contains(alive, v)}
		what := "look up " + showVersion(subject, v)
		if err := s.Do(ctx, what, http.MethodGet, subjectPath(subject, "versions", strconv.Itoa(v)), nil, &e.registered, "deleted", "true"); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// versions are the versions of a subject, none where there is no such subject.
func versions(ctx context.Context, s *serde.Serde, subject string, deleted bool) ([]int, error) {
	var out []int
	err := s.Do(ctx, "list the versions of "+subject, http.MethodGet, subjectPath(subject, "versions"), nil, &out, "deleted", flagText(deleted))
	if errors.Is(err, serde.ErrNotFound) {
		return nil, nil
	}
	return out, err
}

// The codes that say that a scope has no config, or no mode, of its own.
const (
	codeNoConfig = 40408
	codeNoMode   = 40409
)

// own asks for what a scope may have of its own; it answers false where it has none.
func own(ctx context.Context, s *serde.Serde, what, scope string, into any) (bool, error) {
	err := s.Do(ctx, "look up the "+what+" of "+scopeName(scope), http.MethodGet, scopePath(what, scope), nil, into)
	if code := registryCode(err); code == codeNoConfig || code == codeNoMode || errors.Is(err, serde.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// fetchSettings reads the config and the mode of a scope.
func fetchSettings(ctx context.Context, s *serde.Serde, scope string) (archive, error) {
	var out archive
	config := archiveEntry{Kind: entryConfig, registered: registered{Subject: scope}}
	ok, err := own(ctx, s, "config", scope, &config.Config)
	if err != nil {
		return nil, err
	}
	if ok {
		out = append(out, config)
	}
	var m modeValue
	if ok, err = own(ctx, s, "mode", scope, &m); err != nil {
		return nil, err
	}
	if ok && m.Mode != "" {
		out = append(out, archiveEntry{Kind: entryMode, registered: registered{Subject: scope}, Mode: m.Mode})
	}
	return out, nil
}

// write writes an archive as lines of JSON.
func (a archive) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for _, e := range a {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return b.Flush()
}

// writeDir writes an archive as a file for each entry, in a directory for each subject.
func (a archive) writeDir(dir string) error {
	for _, e := range a {
		name := e.Kind
		if e.Kind == entrySchema {
			name = strconv.Itoa(e.Version)
		}
		folder := filepath.Join(dir, folderName(e.Subject))
		if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // for everybody, as schemas are
			return err
		}
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(e); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name+".json"), text.Bytes(), 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return nil
}

// folderName is the name of a subject's directory: nothing in a subject leads out of the archive.
func folderName(subject string) string {
	name := url.QueryEscape(subject)
	if strings.HasPrefix(name, ".") {
		name = "%2E" + name[1:]
	}
	return name
}

// readArchive reads lines of JSON.
func readArchive(in io.Reader) (archive, error) {
	var out archive
	d := json.NewDecoder(in)
	for {
		var e archiveEntry
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("entry %d of the archive: %w", len(out)+1, err)
		}
		switch {
		case e.Kind == entrySchema && e.Subject != "" && e.Version > 0 && e.ID > 0 && e.Schema != "":
		case e.Kind == entryConfig && len(e.Config) > 0, e.Kind == entryMode && e.Mode != "":
		default:
			return nil, fmt.Errorf("entry %d of the archive is no schema with subject, version and id, no config and no mode", len(out)+1)
		}
		out = append(out, e)
	}
	out.sort()
	return out, nil
}

// readArchiveDir reads what writeDir wrote.
func readArchiveDir(dir string) (archive, error) {
	var out archive
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		raw, err := os.ReadFile(path) //nolint:gosec // below the directory that the user names
		if err != nil {
			return err
		}
		got, err := readArchive(bytes.NewReader(raw))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, got...)
		return nil
	})
	out.sort()
	return out, err
}
