package jsonschema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"time"

	"github.com/dlclark/regexp2"
	library "github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxPattern bounds the bytes of a pattern.
	maxPattern = 8 << 10
	// maxInstructions bounds the programs of the linear engine for one schema.
	maxInstructions = 100_000
	// matchTime bounds one match in the backtracking engine, which is otherwise exponential in the worst case.
	matchTime = 100 * time.Millisecond
)

// errMatchTime says that a pattern took too long on a text, so that it is not known whether it matches.
var errMatchTime = errors.New("a pattern takes too long to match")

// matchTimeout carries errMatchTime out of the library, whose engines can only answer yes or no. It is a panic that
// whoever calls into the library catches with recoverMatch.
type matchTimeout struct{ pattern string }

func (t matchTimeout) err() error { return fmt.Errorf("%w: %.80q", errMatchTime, t.pattern) }

// recoverMatch is deferred around calls that match patterns.
func recoverMatch(err *error) {
	switch r := recover().(type) {
	case nil:
	case matchTimeout:
		*err = r.err()
	default:
		panic(r)
	}
}

// patterns compiles the patterns of one schema, each text once.
type patterns struct {
	compiled map[string]library.Regexp
	// instructions is how large the linear engine's programs may still become. That engine writes repetitions out, so that
	// a short pattern can have a very long program; the backtracking one does not.
	instructions int
	// sealed says that the schema is complete. From then on the patterns asked for are those in values, which a format may
	// say are patterns: many at a time, and nothing to remember.
	sealed bool
}

func newPatterns() *patterns {
	return &patterns{compiled: make(map[string]library.Regexp), instructions: maxInstructions}
}

// compile knows the syntax of RE2, which runs in linear time, and besides it lookaround, back references and the other
// things that Java and browsers know, in a backtracking engine with a time budget.
func (p *patterns) compile(text string) (library.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes, %d are allowed", len(text), maxPattern)
	}
	if p.sealed {
		return newPatterns().engine(text)
	}
	if done, ok := p.compiled[text]; ok {
		return done, nil
	}
	compiled, err := p.engine(text)
	if err == nil {
		p.compiled[text] = compiled
	}
	return compiled, err
}

func (p *patterns) engine(text string) (library.Regexp, error) {
	if parsed, err := syntax.Parse(text, syntax.Perl); err == nil {
		if size := programSize(parsed); size <= p.instructions {
			p.instructions -= size
			return regexp.Compile(text)
		}
	}
	re, err := regexp2.Compile(text, regexp2.None)
	if err != nil {
		script, scriptErr := regexp2.Compile(text, regexp2.ECMAScript)
		if scriptErr != nil {
			return nil, err
		}
		re = script
	}
	re.MatchTimeout = matchTime
	return backtracking{re}, nil
}

// programSize estimates the instructions of a pattern's program, which writes repetitions out.
func programSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		size += programSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, maxInstructions+1)
}

// backtracking is a pattern that Go's engine does not know.
type backtracking struct{ re *regexp2.Regexp }

func (b backtracking) String() string { return b.re.String() }

// MatchString panics with matchTimeout where the engine's time runs out.
func (b backtracking) MatchString(s string) bool {
	matched, err := b.re.MatchString(s)
	if err != nil {
		panic(matchTimeout{b.re.String()})
	}
	return matched
}
