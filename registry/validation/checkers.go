package validation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"moldau/registry/catalog"
	"moldau/registry/conform"
	"moldau/registry/format"
	"moldau/registry/format/protobuf"
)

// maxCheckers bounds how many compiled schemas are kept, maxCompiling how many are compiled at a time.
const (
	maxCheckers  = 4096
	maxCompiling = 2
)

// compileTime bounds the parsing of one schema; package conform bounds what follows.
const compileTime = 5 * time.Second

// checkers keeps compiled schemas.
type checkers struct {
	formats map[string]format.Format
	limits  conform.Limits
	slots   chan struct{}
	ctx     context.Context //nolint:containedctx // of the goroutines, until close
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	mu   sync.RWMutex
	kept map[checkerKey]*entry
}

// checkerKey identifies a compiled schema: the content, which holds the references with their versions, and the level.
type checkerKey struct {
	guid  catalog.GUID
	level Level
}

// failureAge is how long a failure to compile a schema counts. It may have been for want of time on a busy machine, or of a
// reference that the catalog did not hold yet.
const failureAge = 30 * time.Second

// entry is a schema that is compiled when done is closed.
type entry struct {
	done     chan struct{}
	compiled *compiled
	err      error
	failed   time.Time // when err was found
}

// stale tells whether the entry is a failure that no longer counts.
func (e *entry) stale() bool {
	select {
	case <-e.done:
		return e.err != nil && time.Since(e.failed) > failureAge
	default:
		return false
	}
}

// compiled is what a payload is held against.
type compiled struct {
	meaning format.Schema
	checker conform.Checker // nil at level ID
}

func newCheckers(o Options) *checkers {
	c := &checkers{formats: map[string]format.Format{}, limits: o.Limits, slots: make(chan struct{}, maxCompiling), kept: map[checkerKey]*entry{}}
	for _, f := range o.Formats {
		c.formats[f.Name()] = f
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *checkers) close() {
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	c.wg.Wait()
}

// get returns the entry of a schema, whose compiling it begins if need be.
func (c *checkers) get(from *catalog.Catalog, s *catalog.Schema, level Level) *entry {
	k := checkerKey{s.GUID, level}
	c.mu.RLock()
	e := c.kept[k]
	c.mu.RUnlock()
	if e != nil && !e.stale() {
		return e
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e = c.kept[k]; e != nil && !e.stale() {
		return e
	}
	if err := c.ctx.Err(); err != nil {
		e = &entry{done: make(chan struct{}), err: fmt.Errorf("%w: %w", ErrUnavailable, err)}
		close(e.done)
		return e
	}
	for old := range c.kept {
		if len(c.kept) < maxCheckers {
			break
		}
		delete(c.kept, old) // any will do; it is compiled again when it is needed
	}
	e = &entry{done: make(chan struct{})}
	c.kept[k] = e
	c.wg.Go(func() { c.compile(k, e, from, s, level) })
	return e
}

// compile fills an entry. Who meets one that failed for want of time is to try again; it is made anew when its failure is stale.
func (c *checkers) compile(k checkerKey, e *entry, from *catalog.Catalog, s *catalog.Schema, level Level) {
	defer close(e.done)
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-c.ctx.Done():
		e.err = fmt.Errorf("%w: %w", ErrUnavailable, c.ctx.Err())
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, compileTime)
	defer cancel()
	if e.compiled, e.err = c.make(ctx, from, s, level); e.err != nil {
		e.failed = time.Now()
	}
	if errors.Is(e.err, context.Canceled) || errors.Is(e.err, context.DeadlineExceeded) {
		e.err = fmt.Errorf("%w: %w", ErrUnavailable, e.err)
	}
}

func (c *checkers) make(ctx context.Context, from *catalog.Catalog, s *catalog.Schema, level Level) (*compiled, error) {
	f := c.formats[s.Type]
	if f == nil {
		return nil, fmt.Errorf("its type %s is not known", s.Type)
	}
	source := format.Source{Text: s.Text}
	if err := follow(from, s, map[string]bool{}, &source.References); err != nil {
		return nil, err
	}
	meaning, err := f.Parse(ctx, source)
	if err != nil {
		return nil, err
	}
	out := &compiled{meaning: meaning}
	if level == ID {
		return out, nil
	}
	out.checker, err = conform.Compile(ctx, conform.Input{Schema: meaning, RuleSet: s.RuleSet}, conform.Structure+conform.Level(level-Structure), c.limits)
	return out, err
}

// maxTexts bounds how many other schemas one may refer to, directly or through others.
const maxTexts = 1000

// follow collects the texts that a schema refers to, each after those that it refers to itself.
func follow(c *catalog.Catalog, from *catalog.Schema, seen map[string]bool, into *[]format.Resolved) error {
	for _, ref := range from.References {
		if seen[ref.Name] {
			continue
		}
		if len(seen) >= maxTexts {
			return fmt.Errorf("it refers to more than %d others", maxTexts)
		}
		seen[ref.Name] = true
		subject := catalog.ParseName(ref.Subject).In(from.Name()).String()
		to := c.Version(subject, ref.Version)
		if ref.Version < 0 {
			to = c.Latest(subject)
		}
		if to == nil {
			return fmt.Errorf("it refers to version %d of subject %s, which is not there", ref.Version, subject)
		}
		if err := follow(c, to, seen, into); err != nil {
			return err
		}
		*into = append(*into, format.Resolved{Name: ref.Name, Text: to.Text})
	}
	return nil
}

// name is the full name of the record, in Protobuf that of the message at a path.
func (c *compiled) name(index []int32) (string, error) {
	p, ok := c.meaning.(*protobuf.Schema)
	if !ok {
		return c.meaning.Name(), nil
	}
	path := make([]int, len(index))
	for i, n := range index {
		path[i] = int(n)
	}
	return p.MessageName(path)
}
