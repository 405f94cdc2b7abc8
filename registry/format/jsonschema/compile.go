package jsonschema

import (
	"errors"
	"fmt"
	"strings"

	library "github.com/santhosh-tekuri/jsonschema/v6"

	"moldau/registry/format"
)

const (
	// levels is how many levels of JSON a level of a schema takes: that of the keyword and that of the schema in it.
	levels = 2
	// maxReasons bounds how many reasons an error names.
	maxReasons = 3
)

// compiled is a schema that the library has compiled.
type compiled struct {
	root     *library.Schema
	compiler *library.Compiler
	patterns *patterns
}

// part compiles what is at a place of the schema that its draft gives no meaning to.
func (c *compiled) part(location string) (schema *library.Schema, err error) {
	defer recoverCompile(&err)
	return c.compiler.Compile(location)
}

// compile gives the documents to the library, which resolves references and holds every document against its metaschema.
func compile(d *documents) (*compiled, error) {
	schema, err := compileOnce(d)
	var missing *library.JSONPointerNotFoundError
	if errors.As(err, &missing) {
		d.bridge = true
		if bridged, bridgedErr := compileOnce(d); bridgedErr == nil {
			return bridged, nil
		}
	}
	return schema, err
}

func compileOnce(d *documents) (schema *compiled, err error) {
	defer recoverCompile(&err)
	c := library.NewCompiler()
	c.DefaultDraft(d.draft())
	c.UseLoader(d)
	patterns := newPatterns()
	c.UseRegexpEngine(patterns.compile)
	root, err := c.Compile(baseURL)
	if err != nil {
		return nil, explain(err)
	}
	return &compiled{root, c, patterns}, nil
}

// recoverCompile is deferred around the library's compiler, which is made for schemas that their owner wrote. Where one of
// a stranger trips it, that schema is bad.
func recoverCompile(err *error) {
	if r := recover(); r != nil {
		*err = format.Invalid("the schema cannot be compiled: %v", r)
	}
}

// explain says in a line what the library has to say in several.
func explain(err error) error {
	var (
		load    *library.LoadURLError
		invalid *library.SchemaValidationError
		pattern *library.InvalidRegexError
		missing *library.JSONPointerNotFoundError
		anchor  *library.AnchorNotFoundError
	)
	switch {
	case errors.As(err, &load):
		return format.Invalid("the schema refers to %q: %w", shorten(load.URL), load.Err)
	case errors.As(err, &invalid):
		return format.Invalid("%s", strings.Join(violations(invalid), "; "))
	case errors.As(err, &pattern):
		return format.Invalid("at %s: %q is no valid pattern: %w", shorten(pattern.URL), pattern.Regex, pattern.Err)
	case errors.As(err, &missing):
		return fmt.Errorf("%w: the schema refers to %q, which is not there%w", format.ErrInvalid, shorten(missing.URL), silent{err})
	case errors.As(err, &anchor):
		return format.Invalid("the schema refers to %q, which is not there", shorten(anchor.Reference))
	default:
		return format.Invalid("%w", err)
	}
}

// silent is an error that can be asked for and adds nothing to a text.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

func shorten(address string) string {
	return strings.TrimPrefix(strings.TrimPrefix(address, baseURL), resolve(baseURL, "."))
}

// violations is what is wrong with a schema by its metaschema: the deepest reasons, with where they are.
func violations(e *library.SchemaValidationError) []string {
	var root *library.ValidationError
	if !errors.As(e.Err, &root) {
		return []string{e.Err.Error()}
	}
	var reasons []string
	for _, unit := range root.BasicOutput().Errors {
		if unit.Error == nil || len(reasons) == maxReasons {
			continue
		}
		where := shorten(e.URL)
		if where == "" {
			where = "#"
		}
		reasons = append(reasons, fmt.Sprintf("at %s%s: %s", where, unit.InstanceLocation, unit.Error))
	}
	if len(reasons) == 0 {
		return []string{root.Error()}
	}
	return reasons
}
