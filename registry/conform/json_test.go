package conform

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"moldau/registry/format"
)

// jsonSchemas are what the single pass and the library are held against each other with: every keyword, in each draft that
// has it, some of them for the library alone.
var jsonSchemas = []string{
	orderJSON,
	`{}`, `true`, `false`, `{"type":"integer"}`, `{"type":["number","null"]}`, `{"type":"string"}`,
	`{"minimum":-1.5,"maximum":2.50}`, `{"exclusiveMinimum":0,"exclusiveMaximum":10}`, `{"multipleOf":0.01}`, `{"multipleOf":3}`,
	`{"minimum":12345678901234567890123}`, `{"maximum":1e400}`, `{"minimum":-1e-400,"maximum":9223372036854775807}`, `{"multipleOf":1e-5}`,
	`{"multipleOf":1e3}`, `{"multipleOf":1e400}`, `{"enum":[1e400,12345678901234567890123,0.1]}`, `{"const":12345678901234567890123}`,
	`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true,"maximum":3,"exclusiveMaximum":true}`,
	`{"enum":[1,"a",null,true,2.5]}`, `{"enum":[[1],{"a":1},"x"]}`, `{"const":"a"}`, `{"const":1.0}`, `{"const":{"a":1}}`, `{"const":null}`,
	`{"minLength":1,"maxLength":3}`, `{"pattern":"^a+$"}`, `{"pattern":"(?!b)a"}`, `{"format":"date-time"}`, `{"format":"email"}`,
	`{"format":"uuid"}`, `{"format":"regex"}`, `{"format":"ipv4"}`, `{"format":"nonsense"}`,
	`{"$schema":"https://json-schema.org/draft/2020-12/schema","format":"email","minLength":1}`,
	`{"required":["a","b"]}`, `{"properties":{"a":{"type":"integer"},"b":{"type":"string"}}}`,
	`{"properties":{"a":true},"additionalProperties":false}`, `{"properties":{"a":false},"additionalProperties":{"type":"integer"}}`,
	`{"patternProperties":{"^a":{"type":"integer"},"b$":{"minimum":0}},"additionalProperties":false}`,
	`{"properties":{"ab":{"maximum":5}},"patternProperties":{"^a":{"type":"integer"}}}`,
	`{"minProperties":1,"maxProperties":2}`, `{"propertyNames":{"maxLength":1}}`, `{"dependencies":{"a":["b"],"b":{"minProperties":2}}}`,
	`{"$schema":"https://json-schema.org/draft/2019-09/schema","dependentRequired":{"a":["b"]},"dependentSchemas":{"b":{"maxProperties":1}}}`,
	`{"items":{"type":"integer"}}`, `{"items":[{"type":"integer"},{"type":"string"}],"additionalItems":false}`,
	`{"items":[true],"additionalItems":{"type":"integer"}}`, `{"items":false}`, `{"items":{"type":"integer"},"additionalItems":false}`,
	`{"$schema":"https://json-schema.org/draft/2020-12/schema","prefixItems":[{"type":"integer"}],"items":{"type":"string"}}`,
	`{"$schema":"https://json-schema.org/draft/2019-09/schema","items":[true,false]}`,
	`{"minItems":1,"maxItems":2}`, `{"uniqueItems":true}`, `{"contains":{"type":"integer"}}`,
	`{"$schema":"https://json-schema.org/draft/2020-12/schema","contains":{"type":"integer"},"minContains":2,"maxContains":3}`,
	`{"allOf":[{"required":["a"]},{"properties":{"a":{"type":"integer"}}}]}`, `{"anyOf":[{"type":"integer"},{"minLength":2},{"required":["a"]}]}`,
	`{"oneOf":[{"properties":{"a":{"type":"integer"}}},{"properties":{"a":{"type":"string"}},"required":["a"]}]}`,
	`{"oneOf":[{"type":"integer"},{"minimum":2}]}`, `{"not":{"properties":{"a":{"const":1}},"required":["a"]}}`, `{"not":{}}`,
	`{"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"if":{"type":"string"},"else":{"type":"integer"}}`,
	`{"definitions":{"n":{"type":"object","properties":{"a":{"$ref":"#/definitions/n"},"b":{"type":"integer"}},"additionalProperties":false}},"$ref":"#/definitions/n"}`,
	`{"properties":{"a":{"$ref":"#"}},"additionalProperties":{"type":"integer"}}`,
	`{"definitions":{"i":{"type":"integer"}},"properties":{"a":{"$ref":"#/definitions/i","minimum":100}}}`,
	`{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"i":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/i","minimum":100}}}`,
	`{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"a":{"type":"integer"}},"unevaluatedProperties":false}`,
	`{"$schema":"https://json-schema.org/draft/2020-12/schema","$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}},"additionalProperties":{"type":"integer"}}`,
	`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"a":{"$recursiveRef":"#"}},"additionalProperties":{"type":"integer"}}`,
	`{"$schema":"http://json-schema.org/draft-06/schema#","contains":{"const":1},"propertyNames":{"enum":["a","b"]},"examples":[1]}`,
	`{"allOf":[{"anyOf":[{"oneOf":[{"properties":{"a":{"not":{"type":"null"}}}}]}]}]}`,
	`{"type":"object","minProperties":2,"properties":{"a":{},"b":{}}}`,
}

// jsonTexts are where values begin from.
var jsonTexts = []string{
	`null`, `true`, `false`, `0`, `-0`, `1`, `1.0`, `2.5`, `1e2`, `1E400`, `1e99999`, `1e5000`, `1e5001`, `-1e-0400`, `1e00005000`, `0e9999`, `9223372036854775807`,
	`9223372036854775808`, `1.7976931348623157E308`, `5e-324`, `12345678901234567890123`, `0.1`, `3`, `-1.50`, `10`, `100.00`,
	`""`, `"a"`, `"aaa"`, `"x"`, `"\u0061"`, `"\ud83c\udf0a"`, `"\ud83c"`, `"über"`, `"🌊🌊"`, `"a@b.cz"`, `"2024-02-29T10:00:00Z"`, `"(["`,
	`"b7e4f9d2-6a53-4c1e-8f0b-2d9c7a51e6f3"`, `"127.0.0.1"`, `"tab\t"`, "\"\t\"", "\"\xff\"",
	`{}`, `{"a":1}`, `{"a":1,"b":"x"}`, `{"a":"x"}`, `{"a":1,"a":"x"}`, `{"a":"x","a":1}`, `{"a":1,"\u0061":"x"}`, `{"b":1,"c":2,"d":3}`,
	`{"ab":7,"b":-1}`, `{"a":{"a":{"b":1}}}`, `{"a":{"a":{"b":"x"}}}`, `{"a":{"c":1}}`, `{"a":100}`, `{"a":null}`,
	`[]`, `[1]`, `[1,"a"]`, `[1,1]`, `[1,1.0]`, `["a",1,2,3]`, `[[],{}]`, `[{"a":1},{"a":1}]`, ` [ 1 , 2 ] `,
	``, ` `, `{`, `[1,]`, `{"a":}`, `{"a" 1}`, `01`, `1.`, `.5`, `+1`, `1e`, `nul`, `truex`, `1 2`, `"a`, `"\x"`, `"\u12"`, `{"a":1,}`, `'a'`, `NaN`,
}

func checkers(t testing.TB) []*jsonChecker {
	var all []*jsonChecker
	for _, text := range jsonSchemas {
		all = append(all, compile(t, Structure, format.JSON, text).(*jsonChecker))
	}
	return all
}

// agree holds the single pass against the library: an acceptance is certain, a refusal only where it is asked to be.
func agree(t *testing.T, c *jsonChecker, text []byte) {
	t.Helper()
	library := c.schema.Accept(string(text))
	for _, strict := range []int{0, 1} {
		w := jsonWalk{buf: text, steps: jsonSteps + jsonStepsPerByte*len(text), strict: strict}
		v := w.document(c.root)
		if v == accepted && library != nil || v == refused && strict > 0 && library == nil {
			t.Errorf("%s\n%s: the pass says %d, the library %v", c.schema.Canonical(), text, v, library)
		}
	}
	if err := c.Check(text, nil); (err == nil) != (library == nil) {
		t.Errorf("%s\n%s: %v, the library %v", c.schema.Canonical(), text, err, library)
	}
}

func TestJSONAgreesWithLibrary(t *testing.T) {
	for _, c := range checkers(t) {
		for _, text := range append(jsonTexts, string(orderJSONPayload())) {
			agree(t, c, []byte(text))
		}
	}
}

// TestJSONAgreesOnRandomValues makes values of the parts of the texts above.
func TestJSONAgreesOnRandomValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := checkers(t)
	until := time.Now().Add(2 * time.Second)
	for tried := 0; tried < 2000 || time.Now().Before(until) && tried < 20_000; tried++ {
		text := []byte(randomJSON(r, 3))
		if r.IntN(3) == 0 && len(text) > 0 {
			text[r.IntN(len(text))] = `{}[]",:0aeE.-\u`[r.IntN(15)]
		}
		agree(t, all[r.IntN(len(all))], text)
	}
}

func randomJSON(r *rand.Rand, depth int) string {
	var b strings.Builder
	switch kind := r.IntN(4); {
	case kind == 0 && depth > 0:
		b.WriteByte('{')
		for i := range r.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString([]string{`"a"`, `"b"`, `"ab"`, `"c"`, `"\u0061"`, `"aa"`}[r.IntN(6)] + ":" + randomJSON(r, depth-1))
		}
		b.WriteByte('}')
	case kind == 1 && depth > 0:
		b.WriteByte('[')
		for i := range r.IntN(4) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(randomJSON(r, depth-1))
		}
		b.WriteByte(']')
	default:
		b.WriteString(jsonTexts[r.IntN(len(jsonTexts))])
	}
	return b.String()
}

// TestJSONAlone says which schemas the single pass judges without the library.
func TestJSONAlone(t *testing.T) {
	for schema, texts := range map[string][]string{
		orderJSON: {string(orderJSONPayload())},
		`{"oneOf":[{"type":"null"},{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}]}`: {`null`, `{"a":1,"x":[1,{}]}`},
		`{"multipleOf":0.01,"maximum":100}`: {`19.95`, `100.00`, `-3`},
		`{"enum":["a",1,null]}`:             {`"a"`, `1.0`, `null`, `"\u0061"`},
		`{"definitions":{"n":{"properties":{"a":{"$ref":"#/definitions/n"}}}},"$ref":"#/definitions/n"}`: {`{"a":{"a":{}}}`},
	} {
		c := compile(t, Structure, format.JSON, schema).(*jsonChecker)
		for _, text := range texts {
			w := jsonWalk{buf: []byte(text), steps: jsonSteps}
			if v := w.document(c.root); v != accepted {
				t.Errorf("%s\n%s: %d", schema, text, v)
			}
		}
	}
}

func TestJSONReasons(t *testing.T) {
	c := compile(t, Structure, format.JSON, `{"properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"string"}}`)
	want(t, c, `{"a":"x"}`, Mismatch, "at /a")
	want(t, c, `{"a":`, Malformed, "no JSON")
	want(t, c, "{\"b\":\"\xff\"}", Encoding, "UTF-8")
	want(t, c, `{"b":`+strings.Repeat("[", 2000)+strings.Repeat("]", 2000)+`}`, TooDeep, "1000 levels")
	want(t, c, `{"b":`+strings.Repeat("1", 2000)+`}`, Malformed, "1000 characters")
	want(t, c, `{"a":"`+strings.Repeat("x", 5000)+`"}`, Mismatch, "at /a")
	want(t, c, `{"a":"x","a":1}`, "", "") // the last one counts
}

// TestJSONSteps gives a schema that looks at every part of a value exponentially often.
func TestJSONSteps(t *testing.T) {
	c := compile(t, Structure, format.JSON, `{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`)
	deep := strings.Repeat(`{"a":`, 300) + `1` + strings.Repeat(`}`, 300)
	want(t, c, deep, Undecided, "takes too long")
	want(t, c, `{"a":{"a":{"a":1}}}`, "", "")
}

func FuzzJSON(f *testing.F) {
	all := checkers(f)
	for i, text := range jsonTexts {
		f.Add(uint(i), []byte(text))
	}
	f.Add(uint(0), orderJSONPayload())
	f.Fuzz(func(t *testing.T, schema uint, text []byte) {
		if len(text) > 4096 || json.Valid(text) && strings.ContainsAny(string(text), "eE") && len(text) > 512 {
			return // exact arithmetic of the library on long exponents is slow
		}
		agree(t, all[schema%uint(len(all))], text)
	})
}

// TestJSONNumbers holds the arithmetic of numbers against that of fractions.
func TestJSONNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() (string, jsonNumber, *big.Rat) {
		text := fmt.Sprint(r.Uint64() >> r.IntN(64))
		text = text[:min(len(text), 19)]
		if r.IntN(2) == 0 {
			text = text[:1] + "." + text[1:] + "0"
		}
		text = []string{"", "-"}[r.IntN(2)] + text
		switch r.IntN(4) {
		case 0:
			text += fmt.Sprintf("e%d", r.IntN(41)-20)
		case 1:
			text += fmt.Sprintf("E%+d", r.IntN(601)-300)
		}
		n, ok := parseNumber([]byte(text))
		exact, known := new(big.Rat).SetString(text)
		if !known {
			t.Fatalf("%s is no number", text)
		}
		digits, _, _ := strings.Cut(strings.ToLower(text), "e")
		digits = strings.TrimLeft(strings.NewReplacer(".", "", "-", "").Replace(digits), "0")
		if ok != (len(digits) <= maxDigits) {
			t.Fatalf("%s was read: %t", text, ok)
		}
		if !ok {
			return text, jsonNumber{}, exact
		}
		again, ok := ratNumber(exact)
		if !ok || again.compare(n) != 0 {
			t.Fatalf("%s is %+v, as a fraction %+v", text, n, again)
		}
		return text, n, exact
	}
	for range 20_000 {
		a, x, exactX := random()
		b, y, exactY := random()
		if got, want := x.compare(y), exactX.Cmp(exactY); (x != jsonNumber{}) && (y != jsonNumber{}) && got != want {
			t.Fatalf("%s compared with %s is %d, want %d", a, b, got, want)
		}
		if got := x.isInteger(); (x != jsonNumber{}) && got != exactX.IsInt() {
			t.Fatalf("%s is an integer: %t", a, got)
		}
		if x == (jsonNumber{}) || y.digits == 0 {
			continue
		}
		if got, want := x.multipleOf(y), new(big.Rat).Quo(exactX, exactY).IsInt(); got != want {
			t.Fatalf("%s is a multiple of %s: %t, want %t", a, b, got, want)
		}
		multiple := new(big.Rat).Mul(exactY, big.NewRat(r.Int64N(1000), 1))
		if n, ok := ratNumber(multiple); ok && !n.multipleOf(y) {
			t.Fatalf("%s is no multiple of %s", multiple, b)
		}
	}
}

// TestHugeNumbers has as many of the greatest numbers of 64 bits as fit, which are judged, and numbers that only exact arithmetic knows, which
// would take seconds.
func TestHugeNumbers(t *testing.T) {
	for _, schema := range []string{`{"items":{"minimum":-1.5}}`, `{"items":{"multipleOf":1e-5}}`, `{"items":{"enum":[1e308,1.7976931348623157E308,1e5000]}}`} {
		c := compile(t, Structure, format.JSON, schema)
		for _, number := range []string{"1e308", "1.7976931348623157E308", "1e5000"} {
			want(t, c, "["+strings.Repeat(number+",", 20_000)+number+"]", "", "")
		}
	}
	c := compile(t, Structure, format.JSON, `{"items":{"minimum":-1.5}}`)
	want(t, c, "[1e5000,-1E-5000]", "", "")
	want(t, c, "[1e5000,-1e5000]", Mismatch, "")
	byLibrary := compile(t, Structure, format.JSON, `{"items":{"minimum":-1.5,"maximum":1e5000},"uniqueItems":true}`)
	for _, number := range []string{"1e5000", "1E+5000", "-1e-5000"} {
		want(t, byLibrary, "["+strings.Repeat(number+",", 10_000)+"1]", Undecided, "too long")
	}
	want(t, byLibrary, "[1.7976931348623157E308,1e5000]", "", "")
	want(t, byLibrary, `["`+strings.Repeat(`\"1e5000,`, 10_000)+`",1e-200]`, "", "")
}

func BenchmarkHugeNumbers(b *testing.B) {
	for _, number := range []string{"1e308", "1e1000", "1e5000"} {
		for _, schema := range []string{`{"items":{"minimum":-1.5}}`, `{"items":{"multipleOf":1e-5}}`} {
			b.Run(number+schema, func(b *testing.B) {
				c := compile(b, Structure, format.JSON, schema)
				payload := []byte("[" + strings.Repeat(number+",", (1<<20)/(len(number)+1)) + "1]")
				b.SetBytes(int64(len(payload)))
				for b.Loop() {
					_ = c.Check(payload, nil)
				}
			})
		}
	}
	// The most that the library is asked for.
	b.Run("library, 1e308", func(b *testing.B) {
		c := compile(b, Structure, format.JSON, `{"items":{"minimum":1,"multipleOf":1e-5},"contains":{"minimum":0}}`)
		payload := []byte("[" + strings.Repeat("1.7976931348623157E308,", (1<<20)/23) + "1]")
		b.SetBytes(int64(len(payload)))
		for b.Loop() {
			_ = c.Check(payload, nil)
		}
	})
	b.Run("limit", func(b *testing.B) {
		c := compile(b, Structure, format.JSON, `{"items":{"multipleOf":1e-5},"uniqueItems":true}`)
		payload := []byte("[" + strings.Repeat("1e5000,", 700) + strings.Repeat(" ", 1<<20) + "1]")
		b.SetBytes(int64(len(payload)))
		for b.Loop() {
			_ = c.Check(payload, nil)
		}
	})
}
