package conform

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"moldau/registry/catalog"
	"moldau/registry/format"
	"moldau/registry/format/jsonschema"
)

// jsonChecker checks payloads of one JSON schema.
type jsonChecker struct {
	schema     *jsonschema.Schema
	root       *jsonNode
	conditions *conditions
}

func compileJSON(ctx context.Context, s *jsonschema.Schema, rules *catalog.RuleSet, level Level, l Limits) (Checker, error) {
	compiled := s.Compiled()
	if compiled == nil {
		return nil, fmt.Errorf("%w: %w", ErrUncheckable, s.Validate(false))
	}
	c := &jsonChecker{schema: s, root: planJSON(compiled)}
	if level < Rules {
		return c, ctx.Err()
	}
	var err error
	c.conditions, err = compileConditions(ctx, rules, nil, l)
	return c, err
}

// Check implements Checker.
func (c *jsonChecker) Check(payload []byte, _ []int32) error {
	w := jsonWalk{buf: payload, steps: jsonSteps + jsonStepsPerByte*len(payload)}
	switch w.document(c.root) {
	case accepted:
	case exhausted:
		return &Violation{Undecided, "the schema takes too long to hold against the value"}
	default:
		if v := c.ask(payload); v != nil {
			return v
		}
	}
	if c.conditions.none() {
		return nil
	}
	return c.conditions.hold(decodeJSON(payload))
}

// ask has the library judge. A panic in it, which strangers' schemas and values are given to, is no answer.
func (c *jsonChecker) ask(payload []byte) (v *Violation) {
	defer func() {
		if r := recover(); r != nil {
			v = &Violation{Undecided, "the value could not be held against the schema"}
		}
	}()
	if tooHuge(payload) {
		return &Violation{Undecided, "the numbers of the value take too long to hold against the schema"}
	}
	err := c.schema.Accept(string(payload))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jsonschema.ErrRejected):
		return &Violation{Mismatch, shorten(err.Error())}
	case errors.Is(err, format.ErrTooLarge):
		return &Violation{TooDeep, shorten(err.Error())}
	case !utf8.Valid(payload):
		return &Violation{Encoding, "the text is no valid UTF-8"}
	case errors.Is(err, format.ErrInvalid):
		return &Violation{Malformed, "no JSON: " + shorten(err.Error())}
	}
	return &Violation{Undecided, shorten(err.Error())}
}

// maxMessage bounds the bytes of a message that quotes.
const maxMessage = 300

func shorten(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	cut := maxMessage
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
