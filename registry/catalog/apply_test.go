package catalog

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// log is a topic in memory.
type log struct {
	t       *testing.T
	records []Record
	catalog *Catalog
}

func newLog(t *testing.T) *log { return &log{t: t, catalog: new(Catalog)} }

func (l *log) raw(key, value string) error {
	l.t.Helper()
	r := Record{Key: []byte(key), Offset: int64(len(l.records)), Timestamp: 1000 + int64(len(l.records))}
	if value != "" {
		r.Value = []byte(value)
	}
	l.records = append(l.records, r)
	var err error
	l.catalog, err = l.catalog.Apply(r)
	return err
}

func (l *log) write(changes ...Change) {
	l.t.Helper()
	for _, c := range changes {
		if err := l.raw(string(c.Key), string(c.Value)); err != nil {
			l.t.Fatal(err)
		}
	}
}

// compact removes what compaction may remove: all but the last record of each key, tombstones too.
func (l *log) compact() {
	last := map[string]int{}
	for i, r := range l.records {
		last[string(r.Key)] = i
	}
	var kept []Record
	for i, r := range l.records {
		if last[string(r.Key)] == i && r.Value != nil {
			kept = append(kept, r)
		}
	}
	l.records = kept
}

// reload replays the log from its beginning.
func (l *log) reload() {
	l.t.Helper()
	l.catalog = new(Catalog)
	for _, r := range l.records {
		var err error
		if l.catalog, err = l.catalog.Apply(r); err != nil {
			l.t.Fatal(err)
		}
	}
}

func aSchema(subject string, version, id int32, text string, refs ...Reference) *Schema {
	return &Schema{Subject: subject, Version: version, ID: id, Type: "AVRO", Text: text, References: refs}
}

func ids(list []*Schema) (out []string) {
	for _, s := range list {
		mark := ""
		if s.Deleted {
			mark = "-"
		}
		out = append(out, fmt.Sprintf("%s%s/%d=%d", mark, s.Subject, s.Version, s.ID))
	}
	return out
}

func (l *log) wantIDs(what string, got []*Schema, want ...string) {
	l.t.Helper()
	if !slices.Equal(ids(got), want) {
		l.t.Errorf("%s: %v, want %v", what, ids(got), want)
	}
}

func TestReplay(t *testing.T) {
	l := newLog(t)
	l.write(PutSchema(aSchema("a", 1, 1, `"int"`)), PutSchema(aSchema("b", 1, 1, `"int"`)), PutSchema(aSchema("a", 2, 2, `"long"`)))
	l.write(PutSchema(aSchema("c", 1, 3, `"x"`, Reference{"n", "a", 1})))
	c := l.catalog
	l.wantIDs("versions", c.Versions("a"), "a/1=1", "a/2=2")
	l.wantIDs("uses", c.UsesOf(".", 1), "a/1=1", "b/1=1")
	l.wantIDs("referrers", c.Referrers("a", 1), "c/1=3")
	l.wantIDs("same", c.Same(".", Sum(`"int"`, nil, nil, nil)), "a/1=1", "b/1=1")
	if c.MaxID(".") != 3 || c.Offset() != 4 || c.Latest("a").Timestamp != 1002 {
		t.Errorf("max id %d, offset %d, time %d", c.MaxID("."), c.Offset(), c.Latest("a").Timestamp)
	}

	l.write(DeleteSubject("a", 2))
	l.wantIDs("deleted", l.catalog.Versions("a"), "-a/1=1", "-a/2=2")
	l.wantIDs("uses", l.catalog.UsesOf(".", 1), "-a/1=1", "b/1=1")
	if l.catalog.Latest("a") != nil || l.catalog.Has("a", false) || !l.catalog.Has("a", true) {
		t.Error("a deleted subject is there")
	}
	l.write(PutSchema(aSchema("a", 3, 2, `"long"`)))
	l.wantIDs("again", l.catalog.Versions("a"), "-a/1=1", "-a/2=2", "a/3=2")
	l.reload()
	l.wantIDs("reloaded", l.catalog.Versions("a"), "-a/1=1", "-a/2=2", "a/3=2")
	// What was handed out before has not changed.
	l.wantIDs("old", c.Versions("a"), "a/1=1", "a/2=2")
}

// A text may not take the id of another one, whoever wrote it.
func TestReplayRefusesAnotherTextForAnID(t *testing.T) {
	l := newLog(t)
	l.write(PutSchema(aSchema("a", 1, 1, `"int"`)))
	ch := PutSchema(aSchema("b", 1, 1, `"long"`))
	if err := l.raw(string(ch.Key), string(ch.Value)); !errors.Is(err, ErrRecord) {
		t.Fatal(err)
	}
	if l.catalog.Offset() != 2 || l.catalog.Version("b", 1) != nil {
		t.Error("it was taken")
	}
	other := PutSchema(aSchema(":.ctx:b", 1, 1, `"long"`))
	l.write(other) // ids are per context
}

func TestReplaySkipsWhatItDoesNotKnow(t *testing.T) {
	l := newLog(t)
	for _, r := range [][2]string{
		{`{"keytype":"ASSOC","tenant":"default"}`, `{}`},
		{`nonsense`, `{}`},
		{`{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}`, `nonsense`},
		{`{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}`, `{"id":-3}`},
	} {
		if err := l.raw(r[0], r[1]); !errors.Is(err, ErrRecord) {
			t.Errorf("%s: %v", r[0], err)
		}
	}
	if l.catalog.Offset() != 4 || l.catalog.Size() != 0 {
		t.Error("something was taken")
	}
	l.write(Change{Key: []byte(`{"keytype":"NOOP","magic":0}`)}) // others write these without a value
}

// confluentinc/schema-registry#2961 and #4420: keys of older encoders have another order of fields or another magic, so a
// tombstone in the new form does not remove them from the compacted topic, and the schema is back after a restart.
func TestDeletionSurvivesCompactionWhateverTheKeyLooksLike(t *testing.T) {
	for _, key := range []string{
		`{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}`,
		`{"magic":1,"keytype":"SCHEMA","version":1,"subject":"s"}`,
		`{"keytype":"SCHEMA","subject":"s","version":1,"magic":0}`,
		`{"subject":":.:s","version":1,"magic":1,"keytype":"SCHEMA"}`,
	} {
		l := newLog(t)
		if err := l.raw(key, `{"subject":"s","version":1,"id":1,"schema":"\"int\"","deleted":false}`); err != nil {
			t.Fatal(err)
		}
		gone := *l.catalog.Version("s", 1)
		gone.Deleted = true
		l.write(PutSchema(&gone))
		l.write(l.catalog.DropVersions(l.catalog.Versions("s"))...)
		if l.catalog.Size() != 0 {
			t.Fatal("not deleted")
		}
		l.compact()
		l.reload()
		if l.catalog.Size() != 0 {
			t.Errorf("with key %s the subject is back: %v", key, ids(l.catalog.Versions("s")))
		}
	}
}

// Ids are never given twice, though the topic forgets the version that had the highest one.
func TestHighestIDSurvivesCompaction(t *testing.T) {
	l := newLog(t)
	l.write(PutSchema(aSchema("a", 1, 1, `"int"`)), PutSchema(aSchema(":.ctx:a", 1, 7, `"int"`)), PutSchema(aSchema("b", 1, 2, `"long"`)))
	l.write(l.catalog.DropVersions(l.catalog.Versions("b"))...)
	l.write(l.catalog.DropVersions(l.catalog.Versions(":.ctx:a"))...)
	l.compact()
	l.reload()
	if got, ctx := l.catalog.MaxID("."), l.catalog.MaxID(".ctx"); got != 2 || ctx != 7 {
		t.Errorf("the highest ids are %d and %d, want 2 and 7", got, ctx)
	}
}

func TestReplayIgnoresSupersededWriters(t *testing.T) {
	c := new(Catalog)
	apply := func(subject string, generation, offset int64) error {
		ch := PutSchema(aSchema(subject, 1, int32(offset)+1, subject))
		var err error
		c, err = c.Apply(Record{Key: ch.Key, Value: ch.Value, Offset: offset, Generation: generation})
		return err
	}
	for i, g := range []int64{1, 0, 2} {
		if err := apply(fmt.Sprint("s", i), g, int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := apply("late", 1, 3); !errors.Is(err, ErrRecord) {
		t.Fatal(err)
	}
	if c.Size() != 3 || c.Generation() != 2 || c.Offset() != 4 {
		t.Errorf("%d subjects, generation %d, offset %d", c.Size(), c.Generation(), c.Offset())
	}
}

func TestClearSubjects(t *testing.T) {
	l := newLog(t)
	for _, s := range []string{"a", ":.ctx:a", ":.ctx:b"} {
		l.write(PutSchema(aSchema(s, 1, 1, `"int"`)))
	}
	l.write(DeleteSubject("a", 1), DeleteSubject(":.ctx:a", 1), ClearSubjects(":.ctx:"))
	for name, want := range map[string]bool{"a": true, ":.ctx:a": false, ":.ctx:b": true} {
		if l.catalog.Has(name, true) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestSettingsInScope(t *testing.T) {
	fallback := &Config{CompatibilityLevel: Backward}
	yes := true
	l := newLog(t)
	check := func(scope, want string) {
		t.Helper()
		if got := l.catalog.Config(scope, fallback).CompatibilityLevel; got != want {
			t.Errorf("level of %q: %s, want %s", scope, got, want)
		}
	}
	check("s", Backward)
	l.write(PutConfig(":.__GLOBAL:", &Config{CompatibilityLevel: None}))
	check("s", None)
	check(":.ctx:s", None)
	l.write(PutConfig("", &Config{CompatibilityLevel: Full, Normalize: &yes, CompatibilityGroup: "g"}))
	check("s", Full)
	check("", Full)
	check(":.ctx:s", None) // the default context's config is not that of others
	l.write(PutConfig(":.ctx:", &Config{CompatibilityLevel: Forward}))
	check(":.ctx:s", Forward)
	l.write(PutConfig("s", &Config{Alias: "other"}))
	check("s", Backward) // a config without a level has the default, not the global one
	got := l.catalog.Config("s", fallback)
	if !True(got.Normalize) || got.CompatibilityGroup != "g" || got.Alias != "other" {
		t.Errorf("merged: %+v", got)
	}
	l.write(l.catalog.Drop(ConfigKey(""))...)
	check("x", None)

	mode := func(scope, want string) {
		t.Helper()
		if got := l.catalog.Mode(scope); got != want {
			t.Errorf("mode of %q: %s, want %s", scope, got, want)
		}
	}
	mode("s", ReadWrite)
	l.write(PutMode("", ReadOnly), PutMode(":.ctx:", Import))
	mode("s", ReadOnly)
	mode(":.ctx:s", Import)
	mode(":.else:s", ReadWrite)
	l.write(PutMode(":.ctx:s", ReadWrite))
	mode(":.ctx:s", ReadWrite)
	if got := l.catalog.ScopesWithMode(".ctx"); !slices.Equal(got, []string{":.ctx:s"}) {
		t.Error(got)
	}
}

func TestFind(t *testing.T) {
	l := newLog(t)
	for _, s := range []string{"a", "ab", "b", ":.ctx:a", ":.ctx:b", ":.ctx2:a", ":odd"} {
		l.write(PutSchema(aSchema(s, 1, 1, `"int"`)))
	}
	for prefix, want := range map[string][]string{
		"":         {":odd", "a", "ab", "b"},
		"a":        {"a", "ab"},
		":.ctx:":   {":.ctx:a", ":.ctx:b"},
		":.ctx":    {":.ctx:a", ":.ctx:b"},
		":.ctx:a":  {":.ctx:a"},
		":*:":      {":.ctx2:a", ":.ctx:a", ":.ctx:b", ":odd", "a", "ab", "b"},
		":*:a":     {":.ctx2:a", ":.ctx:a", "a", "ab"},
		"zzz":      nil,
		":.none:x": nil,
	} {
		var got []string
		for name := range l.catalog.Find(prefix) {
			got = append(got, name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", prefix, got, want)
		}
	}
}

func TestByID(t *testing.T) {
	l := newLog(t)
	l.write(PutContext(".ctx"))
	l.write(PutSchema(aSchema("a", 1, 1, `"int"`)), PutSchema(aSchema(":.ctx:a", 1, 1, `"long"`)), PutSchema(aSchema(":.ctx:b", 1, 2, `"x"`)))
	for _, c := range []struct {
		id   int32
		in   string
		want string
	}{
		{1, "", "a"},
		{1, "a", "a"},
		{1, "zzz", "a"},
		{1, ":.ctx:", ":.ctx:a"},
		{1, ":.ctx:a", ":.ctx:a"},
		{1, ":.ctx:b", ""},
		{2, "", ""},
		{2, "b", ":.ctx:b"},
		{2, ":.ctx:", ":.ctx:b"},
		{3, "", ""},
	} {
		got := ""
		if s := l.catalog.ByID(c.id, c.in); s != nil {
			got = s.Subject
		}
		if got != c.want {
			t.Errorf("id %d in %q: %q, want %q", c.id, c.in, got, c.want)
		}
	}
}

// 10,000 subjects are to be loaded in less than a second; a test can't demand it of a loaded machine, but it tells.
func TestReplayOfTenThousandSubjects(t *testing.T) {
	l := newLog(t)
	for i := range int32(10_000) {
		ch := PutSchema(aSchema(fmt.Sprintf("topic-%d-value", i), 1, i+1, fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"a","type":"string"},{"name":"b","type":"long"}]}`, i)))
		l.records = append(l.records, Record{Key: ch.Key, Value: ch.Value, Offset: int64(i)})
	}
	start := time.Now()
	l.reload()
	t.Logf("replayed in %v", time.Since(start))
	if l.catalog.Size() != 10_000 || l.catalog.MaxID(".") != 10_000 {
		t.Fatal("not all is there")
	}
}

func FuzzApply(f *testing.F) {
	f.Add([]byte(`{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}`), []byte(`{"subject":"s","version":1,"id":1,"schema":"x","references":[{"name":"n","subject":"s","version":1}]}`))
	f.Add([]byte(`{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}`), []byte(`{"subject":"s","version":9}`))
	f.Add([]byte(`{"keytype":"CLEAR_SUBJECT","magic":0}`), []byte(`{}`))
	f.Add([]byte(`{"keytype":"NOOP","magic":0}`), []byte(`{"maxIds":{".":3}}`))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		c := new(Catalog)
		before, err := c.With([]Change{PutSchema(aSchema("s", 1, 1, "x")), PutSchema(aSchema("s", 2, 2, "y", Reference{"n", "s", 1}))}, 0)
		if err != nil {
			t.Fatal(err)
		}
		after, err := before.Apply(Record{Key: key, Value: value, Offset: 2})
		if err != nil && !errors.Is(err, ErrRecord) || after == nil || after.Offset() != 3 {
			t.Fatal(err)
		}
		if after.MaxID(".") < 2 {
			t.Fatal("the highest id fell")
		}
		for name, versions := range after.Find(":*:") {
			for i, s := range versions {
				if s.Subject != name || i > 0 && versions[i-1].Version >= s.Version {
					t.Fatalf("%s holds %v", name, ids(versions))
				}
			}
		}
	})
}
