package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"moldau/registry/catalog"
	"moldau/registry/format"
)

// fakeFormat is a language in which every text is a schema that means itself.
type fakeFormat struct {
	parses  atomic.Int64
	running atomic.Int64
	most    atomic.Int64
	block   chan struct{} // if not nil, Parse tells that it has begun, and waits for it
	begun   chan struct{}
	err     error
}

type fakeSchema struct{ text string }

func (*fakeFormat) Name() string { return "FAKE" }

func (f *fakeFormat) Parse(ctx context.Context, s format.Source) (format.Schema, error) {
	f.parses.Add(1)
	n := f.running.Add(1)
	defer f.running.Add(-1)
	for most := f.most.Load(); n > most && !f.most.CompareAndSwap(most, n); most = f.most.Load() {
	}
	if f.block != nil {
		f.begun <- struct{}{}
		select {
		case <-f.block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	return fakeSchema{s.Text}, nil
}

func (*fakeFormat) Check(context.Context, format.Schema, format.Schema, format.CheckOptions) ([]format.Incompatibility, error) {
	return nil, nil
}

func (fakeSchema) Format() string                                        { return "FAKE" }
func (fakeSchema) Name() string                                          { return "" }
func (s fakeSchema) Canonical() string                                   { return s.text }
func (s fakeSchema) Normalized() (string, error)                         { return s.text, nil }
func (s fakeSchema) Formatted(string) (string, error)                    { return s.text, nil }
func (fakeSchema) Validate(bool) error                                   { return nil }
func (fakeSchema) HasTopLevelField(string) bool                          { return false }
func (s fakeSchema) Equivalent(o format.Schema) bool                     { return s == o }
func (fakeSchema) Tags() []format.TaggedEntity                           { return nil }
func (s fakeSchema) Retagged(_, _ []format.TaggedEntity) (string, error) { return s.text, nil }

func fakeParser(f *fakeFormat, change func(*Config)) *parser {
	cfg := DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	return newParser(cfg, []format.Format{f}, newMetrics(nil))
}

func TestParserKeepsWhatItParsed(t *testing.T) {
	f := new(fakeFormat)
	p := fakeParser(f, func(c *Config) { c.CacheBytes = 100 })
	parse := func(text string, refs ...format.Resolved) {
		t.Helper()
		if _, err := p.parse(t.Context(), "FAKE", format.Source{Text: text, References: refs}); err != nil {
			t.Fatal(err)
		}
	}
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	parse(a)
	parse(a)
	parse(b)
	parse(a)
	if n := f.parses.Load(); n != 2 {
		t.Fatalf("%d parses of two texts", n)
	}
	parse(a, format.Resolved{Name: "n", Text: "x"}) // the same text with something else behind it is another schema
	if n := f.parses.Load(); n != 3 {
		t.Fatalf("%d parses", n)
	}
	parse(a) // used last, so still there
	parse(b) // not any more
	if n := f.parses.Load(); n != 4 {
		t.Fatalf("%d parses", n)
	}
	if p.bytes > 100 || p.used.Len() != len(p.cache) {
		t.Errorf("%d bytes in %d of %d entries", p.bytes, p.used.Len(), len(p.cache))
	}
}

func TestParserParsesFewAtATime(t *testing.T) {
	f := &fakeFormat{block: make(chan struct{}), begun: make(chan struct{}, 10)}
	p := fakeParser(f, func(c *Config) { c.MaxCompiles = 2 })
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			if _, err := p.parse(t.Context(), "FAKE", format.Source{Text: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	<-f.begun
	<-f.begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.parse(ctx, "FAKE", format.Source{Text: "late"}); !errors.Is(err, context.Canceled) {
		t.Errorf("who waits is not released: %v", err)
	}
	close(f.block)
	wg.Wait()
	if n := f.most.Load(); n != 2 {
		t.Errorf("%d at a time", n)
	}
}

func TestParserRefusals(t *testing.T) {
	for _, c := range []struct {
		err  error
		kind error
		text string
	}{
		{format.Invalid("no %s", "good"), ErrInvalidSchema, "Invalid schema of type FAKE, details: no good"},
		{fmt.Errorf("%w: 9 fields", format.ErrTooLarge), ErrTooLarge, "Invalid schema of type FAKE, details: 9 fields"},
		{context.DeadlineExceeded, ErrInvalidSchema, "Invalid schema of type FAKE, details: it takes too long to understand"},
	} {
		p := fakeParser(&fakeFormat{err: c.err}, nil)
		_, err := p.parse(t.Context(), "FAKE", format.Source{Text: "x"})
		var r *Refusal
		if !errors.As(err, &r) || !errors.Is(r.Kind, c.kind) || r.Detail != c.text {
			t.Errorf("%v: %v", c.err, err)
		}
	}
	if _, err := fakeParser(new(fakeFormat), nil).parse(t.Context(), "XML", format.Source{}); !errors.Is(err, ErrInvalidSchema) {
		t.Error(err)
	}
}

// References are followed within bounds, also where an import has made a circle.
func TestResolve(t *testing.T) {
	r := &Registry{cfg: DefaultConfig()}
	c := new(catalog.Catalog)
	put := func(subject string, id int32, refs ...catalog.Reference) {
		t.Helper()
		var err error
		if c, err = c.With([]catalog.Change{catalog.PutSchema(&catalog.Schema{Subject: subject, Version: 1, ID: id, Type: "FAKE", Text: subject, References: refs})}, 0); err != nil {
			t.Fatal(err)
		}
	}
	ref := func(name string) catalog.Reference { return catalog.Reference{Name: name, Subject: name, Version: 1} }
	put("leaf", 1)
	put("left", 2, ref("leaf"))
	put("right", 3, ref("leaf"), ref("circle"))
	put("circle", 4, ref("right"))
	texts, refs, err := r.resolve(c, &catalog.Schema{Subject: "top", Type: "FAKE", References: []catalog.Reference{
		{Name: "left", Subject: "left", Version: latestVersion}, ref("right"),
	}}, true)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, x := range texts {
		order = append(order, x.Name)
	}
	if got := strings.Join(order, " "); got != "leaf left circle right" || refs[0].Version != 1 {
		t.Errorf("%s, %v", got, refs)
	}
	for _, bad := range []catalog.Reference{{Name: "x", Subject: "none", Version: 1}, {Subject: "leaf", Version: 1}, {Name: "x", Version: 1}, {Name: "x", Subject: "leaf"}} {
		if _, _, err := r.resolve(c, &catalog.Schema{Subject: "top", References: []catalog.Reference{bad}}, true); !errors.Is(err, ErrInvalidSchema) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	many := make([]catalog.Reference, 101)
	if _, _, err := r.resolve(c, &catalog.Schema{Subject: "top", References: many}, true); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	chain := func(n int) {
		put(fmt.Sprint("c", 0), 100)
		for i := 1; i <= n; i++ {
			put(fmt.Sprint("c", i), int32(100+i), ref(fmt.Sprint("c", i-1)))
		}
	}
	chain(1001)
	if _, _, err := r.resolve(c, &catalog.Schema{Subject: "top", References: []catalog.Reference{ref("c1001")}}, true); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, _, err := r.resolve(c, &catalog.Schema{Subject: "top", References: []catalog.Reference{ref("c999")}}, true); err != nil {
		t.Error(err)
	}
}
