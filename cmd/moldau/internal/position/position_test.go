package position

import (
	"testing"
	"time"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(t time.Time) Position { return Position{Kind: Time, At: t} }

func TestParse(t *testing.T) {
	second := time.Unix(1_700_000_000, 0)
	for text, want := range map[string]Range{
		"start":                        {From: Position{Kind: Start}},
		"end":                          {From: Position{Kind: End}},
		":end":                         {From: Position{Kind: Start}, To: Position{Kind: End}},
		"7":                            {From: Position{Kind: Exact, N: 7}},
		"7:":                           {From: Position{Kind: Exact, N: 7}},
		":7":                           {From: Position{Kind: Start}, To: Position{Kind: Exact, N: 7}},
		"+7":                           {From: Position{Kind: AfterStart, N: 7}},
		"-7":                           {From: Position{Kind: BeforeEnd, N: 7}},
		"-7:-2":                        {From: Position{Kind: BeforeEnd, N: 7}, To: Position{Kind: BeforeEnd, N: 2}},
		"3:9":                          {From: Position{Kind: Exact, N: 3}, To: Position{Kind: Exact, N: 9}},
		"start:end":                    {From: Position{Kind: Start}, To: Position{Kind: End}},
		"@1700000000":                  {From: at(second)},
		"@1700000000000":               {From: at(second)},
		"@2026-01-01":                  {From: at(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))},
		"@2026-01-01T10:00:00Z":        {From: at(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC))},
		"@2026-01-01T10:00:00.5+02:00": {From: at(time.Date(2026, 1, 1, 8, 0, 0, 5e8, time.UTC))},
		"@-1h":                         {From: at(now.Add(-time.Hour))},
		"@-1h:":                        {From: at(now.Add(-time.Hour))},
		"@-48h:-24h":                   {From: at(now.Add(-48 * time.Hour)), To: at(now.Add(-24 * time.Hour))},
		"@-2d:-1d12h":                  {From: at(now.Add(-48 * time.Hour)), To: at(now.Add(-36 * time.Hour))},
		"@:-24h":                       {From: Position{Kind: Start}, To: at(now.Add(-24 * time.Hour))},
		"@-1h:end":                     {From: at(now.Add(-time.Hour)), To: Position{Kind: End}},
		"@2026-01-01T10:00:00Z:-1h":    {From: at(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)), To: at(now.Add(-time.Hour))},
		"@2026-01-01:2026-01-01T10:00:00Z": {
			From: at(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), To: at(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)),
		},
	} {
		got, err := Parse(text, now)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !same(got.From, want.From) || !same(got.To, want.To) {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

func same(a, b Position) bool { return a.Kind == b.Kind && a.N == b.N && a.At.Equal(b.At) }

func TestParseErrors(t *testing.T) {
	for _, text := range []string{"", ":", "x", "+", "-", "--1", "1.5", "9223372036854775808", "9:3", "@", "@:", "@x", "@12", "@-1h:-2h", "@end", "1:x", "@-1x"} {
		if got, err := Parse(text, now); err == nil {
			t.Errorf("%q: no error, got %+v", text, got)
		}
	}
}

// FuzzParse checks that whatever is accepted is well-formed.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"start", "@-1h:end", "7:9", "@2026-01-02T03:04:05Z:-1d", "-5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text, now)
		if err != nil {
			return
		}
		if r.From.Kind == None || r.From.N < 0 || r.To.N < 0 || r.From.Kind == Time && r.From.At.IsZero() && text[0] != '@' {
			t.Fatalf("%q gave %+v", text, r)
		}
	})
}
