package conform

import (
	"context"
	"fmt"
	"slices"
	"strings"

	pvcel "buf.build/go/protovalidate/cel"
	"cel.dev/cel-go/cel"
	"google.golang.org/protobuf/types/known/timestamppb"

	"moldau/registry/catalog"
)

// The variables of a condition: the value of the record, and the time.
const (
	variableMessage = "message"
	variableNow     = "now"
)

// maxExpressionDepth bounds how deeply the text of an expression nests.
const maxExpressionDepth = 100

// conditions are the CEL rules of a schema that a value has to fulfil when it is written.
type conditions struct {
	rules []condition
	cost  uint64
}

// condition is one rule. Where the guard does not hold the rule is not looked at.
type condition struct {
	name, text  string
	guard, test cel.Program
}

func (c *conditions) none() bool { return c == nil || len(c.rules) == 0 }

// compileConditions compiles those of a rule set that a broker has to hold: conditions in CEL for writing, which are not
// disabled, are not left to clients, and whose failure does not mean nothing.
func compileConditions(ctx context.Context, set *catalog.RuleSet, options []cel.EnvOption, l Limits) (*conditions, error) {
	c := &conditions{cost: l.Cost}
	if set == nil || !slices.Contains([]string{"", "ALL", "SERVER"}, set.EnableAt) {
		return c, nil
	}
	var env *cel.Env
	for _, r := range set.DomainRules {
		if !applies(r) {
			continue
		}
		if len(c.rules) == l.Rules {
			return nil, fmt.Errorf("%w: it has more than %d conditions", ErrUncheckable, l.Rules)
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("compile conditions: %w", err)
		}
		if env == nil {
			var err error
			if env, err = newEnv(options, l); err != nil {
				return nil, err
			}
		}
		made, err := compileCondition(env, r, l)
		if err != nil {
			return nil, err
		}
		c.rules = append(c.rules, made)
	}
	return c, nil
}

func applies(r catalog.Rule) bool {
	onWrite := r.Mode == "WRITE" || r.Mode == "WRITEREAD"
	onFailure, _, _ := strings.Cut(r.OnFailure, ",")
	return !r.Disabled && onWrite && r.Kind == "CONDITION" && r.Type == "CEL" && strings.TrimSpace(onFailure) != "NONE"
}

// newEnv makes what expressions are compiled in. The functions on text, as isEmail, are those of protovalidate.
func newEnv(options []cel.EnvOption, l Limits) (*cel.Env, error) {
	base := []cel.EnvOption{
		cel.Lib(pvcel.NewLibrary()),
		cel.Variable(variableMessage, cel.DynType),
		cel.ParserExpressionSizeLimit(l.ExpressionBytes),
		cel.ParserRecursionLimit(maxExpressionDepth),
	}
	env, err := cel.NewEnv(append(base, options...)...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUncheckable, err)
	}
	return env, nil
}

// compileCondition compiles a rule. Its text may begin with a guard and a semicolon.
func compileCondition(env *cel.Env, r catalog.Rule, l Limits) (condition, error) {
	c := condition{name: r.Name, text: r.Expr}
	guard, text, guarded := strings.Cut(r.Expr, ";")
	if !guarded {
		guard, text = "", r.Expr
	}
	var err error
	if strings.TrimSpace(guard) != "" {
		if c.guard, err = compileExpression(env, guard, l); err != nil {
			return c, fmt.Errorf("%w: the guard of rule %s: %w", ErrUncheckable, r.Name, err)
		}
	}
	if c.test, err = compileExpression(env, text, l); err != nil {
		return c, fmt.Errorf("%w: rule %s: %w", ErrUncheckable, r.Name, err)
	}
	return c, nil
}

func compileExpression(env *cel.Env, text string, l Limits) (cel.Program, error) {
	tree, issues := env.Compile(text)
	if err := issues.Err(); err != nil {
		return nil, err
	}
	if t := tree.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("it is of type %s, a boolean is needed", t)
	}
	return env.Program(tree, cel.CostLimit(l.Cost), cel.EvalOptions(cel.OptTrackCost))
}

// hold answers the violation of the first condition that a decoded value does not fulfil.
func (c *conditions) hold(value any, err error) error {
	if err != nil {
		return &Violation{Undecided, err.Error()}
	}
	spent := uint64(0)
	variables := map[string]any{variableMessage: value, variableNow: timestamppb.Now()}
	for i := range c.rules {
		r := &c.rules[i]
		if r.guard != nil {
			ok, err := c.evaluate(r.guard, variables, &spent)
			if err != nil {
				return r.undecided(err)
			}
			if !ok {
				continue
			}
		}
		ok, err := c.evaluate(r.test, variables, &spent)
		if err != nil {
			return r.undecided(err)
		}
		if !ok {
			return &Violation{Condition, shorten(fmt.Sprintf("the rule %s does not hold: %s", r.name, r.text))}
		}
	}
	return nil
}

func (r *condition) undecided(err error) *Violation {
	return &Violation{Undecided, shorten(fmt.Sprintf("the rule %s cannot be evaluated: %v", r.name, err))}
}

// evaluate runs a program and counts what it has cost.
func (c *conditions) evaluate(p cel.Program, variables map[string]any, spent *uint64) (bool, error) {
	if *spent > c.cost {
		return false, fmt.Errorf("the conditions together cost more than %d", c.cost)
	}
	answer, details, err := p.Eval(variables)
	if details != nil && details.ActualCost() != nil {
		*spent += *details.ActualCost()
	}
	if err != nil {
		return false, fmt.Errorf("evaluate: %w", err)
	}
	holds, ok := answer.Value().(bool)
	if !ok {
		return false, fmt.Errorf("it gives a value of type %s, a boolean is needed", answer.Type())
	}
	return holds, nil
}
