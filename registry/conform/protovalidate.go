package conform

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"buf.build/go/protovalidate"
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"moldau/registry/catalog"
)

// protoRules are the conditions on the messages of a Protobuf file: those of the rule set, and those that the file has as
// options of buf.validate.
type protoRules struct {
	conditions *conditions
	validator  protovalidate.Validator
	// loops is how deeply the file's expressions loop inside loops, splits says that one of them takes texts apart.
	loops  int
	splits bool
	cost   uint64
}

func compileProtoRules(ctx context.Context, messages []protoreflect.MessageDescriptor, set *catalog.RuleSet, l Limits) (*protoRules, error) {
	r := &protoRules{cost: l.Cost}
	var options []cel.EnvOption
	for _, m := range messages {
		options = append(options, cel.Types(dynamicpb.NewMessage(m)))
	}
	var err error
	if r.conditions, err = compileConditions(ctx, set, options, l); err != nil {
		return nil, err
	}
	s := expressionSurvey{seen: map[protoreflect.FullName]bool{}}
	for _, m := range messages {
		s.message(m)
	}
	if !s.constrained {
		return r, nil
	}
	if r.loops, err = s.loops(l); err != nil {
		return nil, err
	}
	r.splits = slices.ContainsFunc(s.texts, func(text string) bool { return strings.Contains(text, "split") })
	if r.validator, err = protovalidate.New(protovalidate.WithMessageDescriptors(messages...), protovalidate.WithFailFast()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUncheckable, err)
	}
	for _, m := range messages {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("compile constraints: %w", err)
		}
		var broken *protovalidate.CompilationError
		if err := r.validator.Validate(dynamicpb.NewMessage(m)); errors.As(err, &broken) {
			return nil, fmt.Errorf("%w: %w", ErrUncheckable, err)
		}
	}
	return r, nil
}

// hold answers the violation of a message that is known to be well-formed.
func (r *protoRules) hold(desc protoreflect.MessageDescriptor, payload []byte) (err error) {
	if r.validator == nil && r.conditions.none() {
		return nil
	}
	m := dynamicpb.NewMessage(desc)
	defer func() {
		if p := recover(); p != nil {
			err = &Violation{Undecided, "the conditions of the message cannot be evaluated"}
		}
	}()
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(payload, m); err != nil {
		return &Violation{Undecided, shorten(fmt.Sprintf("the message cannot be decoded for its conditions: %v", err))}
	}
	if r.validator != nil {
		if v := r.validate(m, len(payload)); v != nil {
			return v
		}
	}
	if r.conditions.none() {
		return nil
	}
	return r.conditions.hold(m, nil)
}

func (r *protoRules) validate(m *dynamicpb.Message, bytes int) *Violation {
	if r.loops > 1 && math.Pow(float64(r.turns(m, bytes)), float64(r.loops)) > float64(r.cost) {
		return &Violation{Undecided, "the message has too many elements for the loops of its constraints"}
	}
	err := r.validator.Validate(m)
	var broken *protovalidate.ValidationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &broken):
		return &Violation{Condition, shorten(violationText(broken))}
	}
	return &Violation{Undecided, shorten(err.Error())}
}

func violationText(e *protovalidate.ValidationError) string {
	if len(e.Violations) == 0 {
		return e.Error()
	}
	v := e.Violations[0].Proto
	text := v.GetMessage()
	if text == "" {
		text = v.GetRuleId()
	}
	if path := protovalidate.FieldPathString(v.GetField()); path != "" {
		return fmt.Sprintf("at %s: %s", path, text)
	}
	return text
}

// turns is how often a loop over something in the message turns at most.
func (r *protoRules) turns(m *dynamicpb.Message, bytes int) int {
	if r.splits {
		return bytes
	}
	return elements(m)
}

// elements counts the items of lists and maps in a message.
func elements(m protoreflect.Message) int {
	count := 0
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
			count += v.Map().Len()
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				count += elementsOf(f.MapValue(), v)
				return true
			})
		case f.IsList():
			count += v.List().Len()
			for i := range v.List().Len() {
				count += elementsOf(f, v.List().Get(i))
			}
		default:
			count += elementsOf(f, v)
		}
		return true
	})
	return count
}

func elementsOf(f protoreflect.FieldDescriptor, v protoreflect.Value) int {
	if f.Message() != nil {
		return elements(v.Message())
	}
	return 0
}

// expressionSurvey looks for the constraints of messages and for the expressions in them.
type expressionSurvey struct {
	seen        map[protoreflect.FullName]bool
	constrained bool
	texts       []string
}

func (s *expressionSurvey) message(m protoreflect.MessageDescriptor) {
	if s.seen[m.FullName()] {
		return
	}
	s.seen[m.FullName()] = true
	s.options(m.Options())
	for i := range m.Oneofs().Len() {
		s.options(m.Oneofs().Get(i).Options())
	}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		s.options(f.Options())
		if f.Message() != nil {
			s.message(f.Message())
		}
	}
	s.file(m.ParentFile())
}

// file looks at the extensions of a file and of what it imports: constraints that a file defines itself are expressions in
// the options of extensions.
func (s *expressionSurvey) file(f protoreflect.FileDescriptor) {
	if name := protoreflect.FullName("file " + f.Path()); !s.seen[name] && !strings.HasPrefix(f.Path(), validateFolder) {
		s.seen[name] = true
		for i := range f.Extensions().Len() {
			s.options(f.Extensions().Get(i).Options())
		}
		for i := range f.Imports().Len() {
			s.file(f.Imports().Get(i).FileDescriptor)
		}
	}
}

const (
	validateFolder = "buf/validate/"
	validateScope  = "buf.validate."
)

// options looks into the options that are of buf.validate, whichever Go type they have.
func (s *expressionSurvey) options(o proto.Message) {
	o.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.IsExtension() && f.Message() != nil && strings.HasPrefix(string(f.FullName()), validateScope) {
			s.constrained = true
			s.inside(v.Message())
		}
		return true
	})
}

// inside collects the expressions: the texts of fields named expression or cel_expression.
func (s *expressionSurvey) inside(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		text := f.Kind() == protoreflect.StringKind && (f.Name() == "expression" || f.Name() == "cel_expression")
		switch {
		case f.IsList() && (text || f.Message() != nil):
			for i := range v.List().Len() {
				s.take(text, v.List().Get(i))
			}
		case !f.IsMap() && (text || f.Message() != nil):
			s.take(text, v)
		}
		return true
	})
}

func (s *expressionSurvey) take(text bool, v protoreflect.Value) {
	if text {
		s.texts = append(s.texts, v.String())
		return
	}
	s.inside(v.Message())
}

// loops answers how deeply the expressions loop inside loops.
func (s *expressionSurvey) loops(l Limits) (int, error) {
	if len(s.texts) > l.Rules {
		return 0, fmt.Errorf("%w: it has more than %d expressions", ErrUncheckable, l.Rules)
	}
	env, err := newEnv(nil, l)
	if err != nil {
		return 0, err
	}
	deepest := 0
	for _, text := range s.texts {
		tree, issues := env.Parse(text)
		if err := issues.Err(); err != nil {
			return 0, fmt.Errorf("%w: the constraint %q: %w", ErrUncheckable, shorten(text), err)
		}
		deepest = max(deepest, loopsOf(ast.NavigateAST(tree.NativeRep())))
	}
	return deepest, nil
}

func loopsOf(e ast.NavigableExpr) int {
	deepest := 0
	for _, child := range e.Children() {
		deepest = max(deepest, loopsOf(child))
	}
	if e.Kind() == ast.ComprehensionKind {
		return deepest + 1
	}
	return deepest
}
