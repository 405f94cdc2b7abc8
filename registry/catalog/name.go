package catalog

import (
	"errors"
	"fmt"
	"strings"
)

// The contexts with a meaning of their own.
const (
	// DefaultContext holds the subjects that name no context.
	DefaultContext = "."
	// GlobalContext holds the config and mode of all contexts that have none.
	GlobalContext = ".__GLOBAL"
	// AnyContext stands for all contexts where something is searched.
	AnyContext = "*"
)

const (
	contextMark   = ":"
	contextPrefix = ":."
	anyPrefix     = ":*:"
	maxName       = 4096
)

// ErrContextName says that a text can't name a context.
var ErrContextName = errors.New("invalid context name")

// Name is a subject's qualified name in its two parts. With an empty Subject it names a context.
type Name struct{ Context, Subject string }

// ParseName splits a qualified name: ":.context:subject", or just "subject" in the default context. ":*:" in front
// means any context. Every text is a name.
func ParseName(qualified string) Name {
	if rest, ok := strings.CutPrefix(qualified, contextPrefix); ok {
		context, subject, _ := strings.Cut(rest, contextMark)
		return Name{"." + context, subject}
	}
	if rest, ok := strings.CutPrefix(qualified, anyPrefix); ok {
		return Name{AnyContext, rest}
	}
	return Name{DefaultContext, qualified}
}

// String is the qualified name in its shortest form.
func (n Name) String() string { return n.Prefix() + n.Subject }

// Prefix is what stands before the subject in the qualified name: nothing in the default context.
func (n Name) Prefix() string {
	if n.Context == DefaultContext {
		return ""
	}
	return contextMark + n.Context + contextMark
}

// IsContext says whether the name is that of a context.
func (n Name) IsContext() bool { return n.Subject == "" }

// IsDefaultContext says whether the name is that of the default context, whose config and mode are the global ones.
func (n Name) IsDefaultContext() bool { return n.Subject == "" && n.Context == DefaultContext }

// IsGlobal says whether the name is that of the global context.
func (n Name) IsGlobal() bool { return n.Subject == "" && n.Context == GlobalContext }

// In resolves a name that something inside the context of parent uses: without a context of its own it means that one.
func (n Name) In(parent Name) Name {
	if n.Context == DefaultContext {
		n.Context = parent.Context
	}
	return n
}

// Normal is the shortest form of a qualified name.
func Normal(qualified string) string { return ParseName(qualified).String() }

// ContextPrefix turns the name of a context in any of its forms (".ctx", "ctx", ":.ctx:") into what qualifies subjects
// of it.
func ContextPrefix(context string) (string, error) {
	context = strings.TrimSuffix(strings.TrimPrefix(context, contextMark), contextMark)
	if strings.Contains(context, contextMark) {
		return "", fmt.Errorf("%w: Context name '%s' cannot contain a colon", ErrContextName, context)
	}
	if !strings.HasPrefix(context, ".") {
		context = "." + context
	}
	return Name{Context: context}.Prefix(), nil
}

// HasContext says whether a text names its context itself, which may be any.
func HasContext(qualified string) bool {
	return strings.HasPrefix(qualified, contextPrefix) || strings.HasPrefix(qualified, anyPrefix)
}

// ValidSubject says whether schemas may be registered under a name.
func ValidSubject(qualified string) bool {
	return validName(qualified) && ParseName(qualified).Context != GlobalContext
}

// ValidScope says whether a name may have a config or a mode.
func ValidScope(qualified string) bool { return validName(qualified) }

func validName(qualified string) bool {
	if len(qualified) > maxName || strings.ContainsFunc(qualified, isControl) {
		return false
	}
	subject := ParseName(qualified).Subject
	return subject != "__GLOBAL" && subject != "__EMPTY"
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r <= 0x9f }
