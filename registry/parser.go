package registry

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"moldau/registry/format"
)

// parser turns sources into schemas and compares them: a bounded number at a time, and each only once while it is in the
// cache.
type parser struct {
	formats map[string]format.Format
	slots   chan struct{}
	metrics *metrics

	mu    sync.Mutex
	cache map[sourceSum]*list.Element // of cached
	used  *list.List                  // the most recently used one first
	bytes int
	limit int
}

type sourceSum [sha256.Size]byte

type cached struct {
	sum    sourceSum
	schema format.Schema
	bytes  int
}

func newParser(cfg Config, formats []format.Format, m *metrics) *parser {
	slots := cfg.MaxCompiles
	if slots == 0 {
		slots = runtime.GOMAXPROCS(0)
	}
	p := &parser{
		formats: map[string]format.Format{}, slots: make(chan struct{}, slots), metrics: m,
		cache: map[sourceSum]*list.Element{}, used: list.New(), limit: cfg.CacheBytes,
	}
	for _, f := range formats {
		p.formats[f.Name()] = f
	}
	return p
}

// format finds a language by its name.
func (p *parser) format(kind string) (format.Format, error) {
	f, ok := p.formats[kind]
	if !ok {
		return nil, refuse(ErrInvalidSchema, "Invalid schema type %s", kind)
	}
	return f, nil
}

// parse returns the schema of a source. Errors are refusals, or those of the context.
func (p *parser) parse(ctx context.Context, kind string, s format.Source) (format.Schema, error) {
	f, err := p.format(kind)
	if err != nil {
		return nil, err
	}
	sum, size := sumOf(kind, s)
	if schema := p.get(sum); schema != nil {
		return schema, nil
	}
	if err := p.enter(ctx); err != nil {
		return nil, err
	}
	defer p.leave()
	schema, err := f.Parse(ctx, s)
	p.metrics.parsed(kind, err)
	if err != nil {
		return nil, refused(ctx, kind, err)
	}
	p.put(sum, schema, size)
	return schema, nil
}

// check compares two schemas of the same language.
func (p *parser) check(ctx context.Context, reader, writer format.Schema, o format.CheckOptions) ([]format.Incompatibility, error) {
	f, err := p.format(reader.Format())
	if err != nil {
		return nil, err
	}
	if err := p.enter(ctx); err != nil {
		return nil, err
	}
	defer p.leave()
	found, err := f.Check(ctx, reader, writer, o)
	if err != nil {
		return nil, refused(ctx, reader.Format(), err)
	}
	return found, nil
}

func (p *parser) enter(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for a turn to parse a schema: %w", ctx.Err())
	}
}

func (p *parser) leave() { <-p.slots }

// refused turns the error of a language into a refusal. A schema that takes longer than it may is invalid, unless the
// caller itself ran out of time.
func refused(ctx context.Context, kind string, err error) error {
	switch {
	case errors.Is(err, format.ErrTooLarge):
		return refuse(ErrTooLarge, "Invalid schema of type %s, details: %s", kind, reason(err))
	case errors.Is(err, format.ErrInvalid), errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return refuse(ErrInvalidSchema, "Invalid schema of type %s, details: %s", kind, reason(err))
	}
	return err
}

// reason is the text of a language's error without the words that all of them begin with.
func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "it takes too long to understand"
	}
	text := err.Error()
	for _, head := range []error{format.ErrInvalid, format.ErrTooLarge} {
		text = strings.TrimPrefix(text, head.Error()+": ")
	}
	return text
}

func (p *parser) get(sum sourceSum) format.Schema {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.cache[sum]
	if !ok {
		return nil
	}
	p.used.MoveToFront(e)
	return e.Value.(*cached).schema
}

func (p *parser) put(sum sourceSum, schema format.Schema, size int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.cache[sum]; ok {
		return
	}
	p.cache[sum] = p.used.PushFront(&cached{sum, schema, size})
	p.bytes += size
	for p.bytes > p.limit && p.used.Len() > 1 {
		oldest := p.used.Remove(p.used.Back()).(*cached)
		delete(p.cache, oldest.sum)
		p.bytes -= oldest.bytes
	}
}

// sumOf identifies a source and tells its size.
func sumOf(kind string, s format.Source) (sourceSum, int) {
	h := sha256.New()
	size := 0
	add := func(text string) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(text)))
		h.Write(n[:])
		h.Write([]byte(text))
		size += len(text)
	}
	add(kind)
	if s.New {
		add("new")
	} else {
		add("")
	}
	add(s.Text)
	for _, ref := range s.References {
		add(ref.Name)
		add(ref.Text)
	}
	return sourceSum(h.Sum(nil)), size
}
