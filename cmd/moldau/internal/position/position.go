package position

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is the sort of a position.
type Kind int8

// The kinds.
const (
	None       Kind = iota // nothing was said
	Start                  // the first record
	End                    // behind the last record
	Exact                  // the offset N
	AfterStart             // N behind the start
	BeforeEnd              // N before the end
	Time                   // the first record at or after At
)

// Position is one place in every partition of a topic.
type Position struct {
	Kind Kind
	N    int64     // for Exact, AfterStart, BeforeEnd
	At   time.Time // for Time
}

// Range is a stretch of every partition: from From up to, not including, To.
// From is never None; To is None for a stretch without end.
type Range struct{ From, To Position }

// Parse reads a range or a single position, which is a range without end. now
// is what durations count from.
func Parse(text string, now time.Time) (Range, error) {
	r, err := parse(strings.TrimSpace(text), now)
	if err != nil {
		return Range{}, fmt.Errorf("%q: %w", text, err)
	}
	return r, nil
}

func parse(text string, now time.Time) (Range, error) {
	if rest, times := strings.CutPrefix(text, "@"); times {
		return parseTimes(rest, now)
	}
	from, to, _ := strings.Cut(text, ":")
	var r Range
	var err error
	if r.From, err = parseOffset(from); err != nil {
		return Range{}, err
	}
	if r.To, err = parseOffset(to); err != nil {
		return Range{}, err
	}
	if r.From.Kind == None {
		if r.To.Kind == None {
			return Range{}, errors.New("want an offset, start, end, or @ and a time")
		}
		r.From.Kind = Start
	}
	if r.From.Kind == Exact && r.To.Kind == Exact && r.To.N < r.From.N {
		return Range{}, errors.New("it ends before it begins")
	}
	return r, nil
}

func parseOffset(text string) (Position, error) {
	switch text {
	case "":
		return Position{}, nil
	case "start":
		return Position{Kind: Start}, nil
	case "end":
		return Position{Kind: End}, nil
	}
	kind, digits := Exact, text
	switch text[0] {
	case '+':
		kind, digits = AfterStart, text[1:]
	case '-':
		kind, digits = BeforeEnd, text[1:]
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil {
		return Position{}, fmt.Errorf("%q is no offset", text)
	}
	return Position{Kind: kind, N: int64(n)}, nil
}

// parseTimes reads what stands behind the @. A time may hold colons itself, so
// every colon is tried as the one between two times, after the whole text.
func parseTimes(text string, now time.Time) (Range, error) {
	if at, err := parseTime(text, now); err == nil {
		return Range{From: Position{Kind: Time, At: at}}, nil
	}
	for i := range len(text) {
		if text[i] != ':' {
			continue
		}
		if r, err := between(text[:i], text[i+1:], now); err == nil {
			if r.From.Kind == Time && r.To.Kind == Time && r.To.At.Before(r.From.At) {
				return Range{}, errors.New("it ends before it begins")
			}
			return r, nil
		}
	}
	return Range{}, errors.New("want a time: 2026-01-02T03:04:05Z, 2026-01-02, -1h, or seconds or milliseconds since 1970")
}

func between(from, to string, now time.Time) (Range, error) {
	if from == "" && to == "" {
		return Range{}, errors.New("no time")
	}
	r := Range{From: Position{Kind: Start}}
	if from != "" {
		at, err := parseTime(from, now)
		if err != nil {
			return Range{}, err
		}
		r.From = Position{Kind: Time, At: at}
	}
	switch to {
	case "":
	case "end":
		r.To = Position{Kind: End}
	default:
		at, err := parseTime(to, now)
		if err != nil {
			return Range{}, err
		}
		r.To = Position{Kind: Time, At: at}
	}
	return r, nil
}

func parseTime(text string, now time.Time) (time.Time, error) {
	if n, err := strconv.ParseUint(text, 10, 63); err == nil {
		switch len(text) {
		case 13:
			return time.UnixMilli(int64(n)), nil
		case 9, 10:
			return time.Unix(int64(n), 0), nil
		}
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	d, err := ParseDuration(text)
	if err != nil {
		return time.Time{}, err
	}
	return now.Add(d), nil
}

// ParseDuration reads Go's notation of durations, and whole days: 7d, -1d12h.
func ParseDuration(text string) (time.Duration, error) {
	sign, rest := time.Duration(1), text
	if r, minus := strings.CutPrefix(rest, "-"); minus {
		sign, rest = -1, r
	}
	var days time.Duration
	if n, r, ok := strings.Cut(rest, "d"); ok {
		whole, err := strconv.ParseUint(n, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is no duration such as 90s, -1h or 7d", text)
		}
		days, rest = time.Duration(whole)*24*time.Hour, r
		if rest == "" {
			return sign * days, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration such as 90s, -1h or 7d", text)
	}
	return sign * (days + d), nil
}
