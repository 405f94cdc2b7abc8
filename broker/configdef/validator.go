package configdef

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Validator narrows the values of a config.
type Validator interface {
	// String describes the permitted values for the documentation.
	String() string
	// check returns what is wrong with v, or nil.
	check(name string, v Value) *complaint
}

// complaint names the value that was wrong, as the error text shows it, and why.
type complaint struct{ value, text string }

// atLeast permits numbers from a minimum on.
type atLeast int64

func (a atLeast) String() string { return fmt.Sprintf("[%d,...]", int64(a)) }

func (a atLeast) check(_ string, v Value) *complaint { return checkLow(v, int64(a)) }

// between permits numbers from low to high, both included.
type between struct{ low, high int64 }

func (b between) String() string { return fmt.Sprintf("[%d,...,%d]", b.low, b.high) }

func (b between) check(_ string, v Value) *complaint {
	if c := checkLow(v, b.low); c != nil {
		return c
	}
	if v.typ == Double && v.real > float64(b.high) || v.num > b.high {
		return &complaint{v.String(), "Value must be no more than " + strconv.FormatInt(b.high, 10)}
	}
	return nil
}

func checkLow(v Value, low int64) *complaint {
	if v.typ == Double && v.real < float64(low) || v.typ != Double && v.num < low {
		return &complaint{v.String(), "Value must be at least " + strconv.FormatInt(low, 10)}
	}
	return nil
}

// betweenOr permits numbers from low to high, and one more.
type betweenOr struct{ low, high, or int64 }

func (b betweenOr) String() string { return fmt.Sprintf("[%d,...,%d] or %d", b.low, b.high, b.or) }

func (b betweenOr) check(_ string, v Value) *complaint {
	if v.num == b.or || b.low <= v.num && v.num <= b.high {
		return nil
	}
	return &complaint{v.String(), fmt.Sprintf("Value must be between %d and %d or equal to %d", b.low, b.high, b.or)}
}

// oneOf permits some texts.
type oneOf []string

func (o oneOf) String() string { return "[" + strings.Join(o, ", ") + "]" }

func (o oneOf) check(_ string, v Value) *complaint {
	if slices.Contains(o, v.text) {
		return nil
	}
	return &complaint{v.text, "String must be one of: " + strings.Join(o, ", ")}
}

// oneOfFold permits some texts, in upper or lower case.
type oneOfFold []string

func (o oneOfFold) String() string { return "(case insensitive) [" + strings.Join(o, ", ") + "]" }

func (o oneOfFold) check(_ string, v Value) *complaint {
	if slices.ContainsFunc(o, func(s string) bool { return strings.EqualFold(s, v.text) }) {
		return nil
	}
	return &complaint{v.text, "String must be one of (case insensitive): " + strings.Join(o, ", ")}
}

// listOf permits lists, empty ones too, of some texts.
type listOf []string

func (l listOf) String() string { return "[" + strings.Join(l, ", ") + "]" }

func (l listOf) check(_ string, v Value) *complaint {
	for _, item := range v.list {
		if !slices.Contains(l, item) {
			return &complaint{item, "String must be one of: " + strings.Join(l, ", ")}
		}
	}
	return nil
}

// throttledReplicas permits an asterisk, or a list of partition and broker pairs.
type throttledReplicas struct{}

const throttledForm = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."

func (throttledReplicas) String() string { return throttledForm }

func (throttledReplicas) check(name string, v Value) *complaint {
	if len(v.list) == 1 && v.list[0] == "*" {
		return nil
	}
	for _, item := range v.list {
		partition, broker, ok := strings.Cut(item, ":")
		if !ok || !digits(partition) || !digits(broker) {
			return &complaint{
				"[" + strings.Join(v.list, ", ") + "]",
				name + " must be the literal '*' or a list of replicas in the following format: " + throttledForm,
			}
		}
	}
	return nil
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// unlimitedOrOne permits retention times: negative ones, which all mean no limit, and those from one on.
type unlimitedOrOne struct{}

func (unlimitedOrOne) String() string { return "-1 or [1,...]" }

func (unlimitedOrOne) check(_ string, v Value) *complaint {
	if v.num == 0 {
		return &complaint{v.String(), "Value must be -1 (unlimited) or at least 1"}
	}
	return nil
}
