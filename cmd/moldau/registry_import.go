package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moldau/cmd/moldau/internal/exit"
	"moldau/registry/serde"
)

func newRegistryImport(a *app, f *registryFlags) *cobra.Command {
	var c change
	var schemasOnly bool
	from := &registryFlags{version: f.version}
	cmd := &cobra.Command{
		Use:   "import [FILE|DIR]",
		Short: "Take over schemas with their ids, from an export or another registry",
		Long: `Take over schemas with their ids and versions, references first, then what is softly
deleted, then configs and modes: from an export (a file, - for standard input, or a
directory), or with --from from another registry.

While a subject is taken over its mode is IMPORT, which the registry must permit.
What is there already with the same id stays, so that the same command goes on
after an interruption; another schema in its place is an error before anything is
done.`,
		Example: `  moldau registry import registry.ndjson --dry-run
  moldau registry import --from http://old:8081 --from-user reader:secret -y
  moldau registry export | moldau registry import - -y --registry http://new:8081`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (len(from.urls) == 0) {
				return exit.Usagef("want one of FILE, DIR and --from")
			}
			from.timeout = f.timeout
			all, err := a.importSource(cmd, args, from, !schemasOnly)
			if err != nil {
				return err
			}
			if schemasOnly {
				all = slices.DeleteFunc(all, func(e archiveEntry) bool { return e.Kind != entrySchema })
			}
			return f.with(cmd, func(ctx context.Context, s *serde.Serde) error { return a.importAll(ctx, s, all, c) })
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&from.urls, "from", nil, "the registry to take over from, replicas separated by commas")
	flags.StringVar(&from.user, "from-user", "", "user:password for that registry")
	flags.StringVar(&from.token, "from-token", "", "a bearer token for that registry")
	flags.StringVar(&from.ca, "from-ca", "", "a PEM file with the authorities to trust for that registry")
	flags.BoolVar(&schemasOnly, "schemas-only", false, "without configs and modes")
	c.bind(cmd)
	return cmd
}

func (a *app) importSource(cmd *cobra.Command, args []string, from *registryFlags, settings bool) (all archive, err error) {
	if len(from.urls) > 0 {
		err = from.with(cmd, func(ctx context.Context, s *serde.Serde) error {
			all, err = fetchArchive(ctx, s, "", settings)
			return err
		})
		return all, err
	}
	if args[0] == "-" {
		return readArchive(a.in)
	}
	info, err := os.Stat(args[0])
	if err != nil {
		return nil, &exit.Error{Code: exit.Usage, Err: err}
	}
	if info.IsDir() {
		return readArchiveDir(args[0])
	}
	file, err := os.Open(args[0])
	if err != nil {
		return nil, &exit.Error{Code: exit.Usage, Err: err}
	}
	all, err = readArchive(file)
	return all, errors.Join(err, file.Close())
}

// takeover is one run of import.
type takeover struct {
	s       *serde.Serde
	all     archive
	missing []*archiveEntry   // schemas that are not there, each after those it refers to
	deleted []*archiveEntry   // those to be deleted softly, each before those it refers to
	there   int               // schemas that are there
	modes   map[string]string // the own modes of the subjects that are taken over, as they were
}

func (a *app) importAll(ctx context.Context, s *serde.Serde, all archive, c change) error {
	t := &takeover{s: s, all: all, modes: map[string]string{}}
	if err := t.compare(ctx); err != nil {
		return err
	}
	ok, err := a.agreed(c, t.plan()...)
	if !ok {
		return err
	}
	if err := t.schemas(ctx); err != nil {
		return fmt.Errorf("%w (what was done stays; the same command goes on)", err)
	}
	settings, err := t.settings(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "%d schemas taken over, %d were there, %d deleted softly, %d settings\n", len(t.missing), t.there, len(t.deleted), settings)
	return nil
}

// compare finds out what is missing. A version that is there with another id is an error.
func (t *takeover) compare(ctx context.Context) error {
	order, err := t.order()
	if err != nil {
		return err
	}
	names := []string{}
	for _, e := range order {
		names = append(names, e.Subject)
	}
	slices.Sort(names)
	have, err := inParallel(ctx, slices.Compact(names), func(ctx context.Context, subject string) (archive, error) {
		return fetchSubject(ctx, t.s, subject)
	})
	if err != nil {
		return err
	}
	byName := map[string]*archiveEntry{}
	for i := range have {
		byName[showVersion(have[i].Subject, have[i].Version)] = &have[i]
	}
	var conflicts []string
	for _, e := range order {
		name := showVersion(e.Subject, e.Version)
		switch there := byName[name]; {
		case there == nil:
			t.missing = append(t.missing, e)
		case there.ID != e.ID:
			conflicts = append(conflicts, fmt.Sprintf("%s is there with the id %d, and comes with %d", name, there.ID, e.ID))
			continue
		case there.Deleted:
			t.there++
			continue
		default:
			t.there++
		}
		if e.Deleted {
			t.deleted = append(t.deleted, e)
		}
	}
	slices.Reverse(t.deleted)
	if len(conflicts) > 0 {
		return &exit.Error{Code: exit.Failed, Err: errors.New(strings.Join(conflicts, "\n") + "\nnothing was done")}
	}
	return nil
}

// order puts the schemas so that each comes after those it refers to and after the earlier versions of its subject.
func (t *takeover) order() ([]*archiveEntry, error) {
	byName, before := map[string]*archiveEntry{}, map[string]string{}
	var last *archiveEntry
	for i := range t.all {
		e := &t.all[i]
		if e.Kind != entrySchema {
			continue
		}
		name := showVersion(e.Subject, e.Version)
		if byName[name] != nil {
			return nil, fmt.Errorf("%s comes twice", name)
		}
		byName[name] = e
		if last != nil && last.Subject == e.Subject {
			before[name] = showVersion(last.Subject, last.Version)
		}
		last = e
	}
	const open, done = 1, 2
	state := map[string]int{}
	var out []*archiveEntry
	var visit func(name string) error
	visit = func(name string) error {
		e := byName[name]
		if e == nil || state[name] == done { // not ours to bring: the registry has it or says so
			return nil
		}
		if state[name] == open {
			return fmt.Errorf("%s refers to itself through others", name)
		}
		state[name] = open
		for _, r := range e.References {
			subject := r.Subject
			if !strings.HasPrefix(subject, ":.") {
				subject = contextPrefix(e.Subject) + subject
			}
			if err := visit(showVersion(subject, r.Version)); err != nil {
				return err
			}
		}
		if earlier := before[name]; earlier != "" {
			if err := visit(earlier); err != nil {
				return err
			}
		}
		state[name] = done
		out = append(out, e)
		return nil
	}
	for i := range t.all {
		if e := &t.all[i]; e.Kind == entrySchema {
			if err := visit(showVersion(e.Subject, e.Version)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// contextPrefix is the :.name: in front of a subject, if there is one.
func contextPrefix(subject string) string {
	if strings.HasPrefix(subject, ":.") {
		if i := strings.IndexByte(subject[2:], ':'); i >= 0 {
			return subject[:i+3]
		}
	}
	return ""
}

// plan says what would be done.
func (t *takeover) plan() []string {
	var out []string
	for _, e := range t.missing {
		out = append(out, fmt.Sprintf("take over %s with the id %d", showVersion(e.Subject, e.Version), e.ID))
	}
	for _, e := range t.deleted {
		out = append(out, "delete softly: "+showVersion(e.Subject, e.Version))
	}
	for _, e := range t.all {
		switch e.Kind {
		case entryConfig:
			out = append(out, fmt.Sprintf("set the config of %s: %s", scopeName(e.Subject), e.Config))
		case entryMode:
			out = append(out, fmt.Sprintf("set the mode of %s: %s", scopeName(e.Subject), e.Mode))
		}
	}
	return append(out, fmt.Sprintf("%d schemas to take over, %d are there", len(t.missing), t.there))
}

// restorePatience bounds how long modes may take to be put back when the run was interrupted.
const restorePatience = 10 * time.Second

// schemas registers what is missing and deletes what is to be deleted. The modes of the subjects are put back in any case.
func (t *takeover) schemas(ctx context.Context) (err error) {
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restorePatience)
		defer cancel()
		for _, subject := range sortedKeys(t.modes) {
			err = errors.Join(err, setMode(ctx, t.s, subject, t.modes[subject], true))
		}
	}()
	for _, e := range t.missing {
		if err := t.open(ctx, e.Subject); err != nil {
			return err
		}
		body := schemaRequest(&e.registered)
		what := fmt.Sprintf("take over %s with the id %d", showVersion(e.Subject, e.Version), e.ID)
		if err := t.s.Do(ctx, what, http.MethodPost, subjectPath(e.Subject, "versions"), body, nil); err != nil {
			return err
		}
	}
	for _, e := range t.deleted {
		what := "delete " + showVersion(e.Subject, e.Version)
		if err := t.s.Do(ctx, what, http.MethodDelete, subjectPath(e.Subject, "versions", strconv.Itoa(e.Version)), nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// open puts a subject into the mode IMPORT and remembers the one it had.
func (t *takeover) open(ctx context.Context, subject string) error {
	if _, ok := t.modes[subject]; ok {
		return nil
	}
	var m modeValue
	if _, err := own(ctx, t.s, "mode", subject, &m); err != nil {
		return err
	}
	if m.Mode == "IMPORT" { // of a run that was interrupted
		m.Mode = ""
	}
	if err := setMode(ctx, t.s, subject, "IMPORT", true); err != nil {
		return err
	}
	t.modes[subject] = m.Mode
	return nil
}

// settings sets configs and modes and returns how many.
func (t *takeover) settings(ctx context.Context) (int, error) {
	n := 0
	for i := range t.all {
		var err error
		switch e := &t.all[i]; e.Kind {
		case entryConfig:
			err = t.config(ctx, e)
		case entryMode:
			err = setMode(ctx, t.s, e.Subject, e.Mode, true)
		default:
			continue
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// config sets a config. Registries answer the level under another name than they take it.
func (t *takeover) config(ctx context.Context, e *archiveEntry) error {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(e.Config, &fields); err != nil {
		return fmt.Errorf("the config of %s: %w", scopeName(e.Subject), err)
	}
	if level, ok := fields["compatibilityLevel"]; ok {
		fields["compatibility"] = level
		delete(fields, "compatibilityLevel")
	}
	return t.s.Do(ctx, "set the config of "+scopeName(e.Subject), http.MethodPut, scopePath("config", e.Subject), fields, nil)
}

func sortedKeys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
