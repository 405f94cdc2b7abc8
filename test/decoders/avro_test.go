//go:build interop

package decoders

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// avroMaker makes random schemas.
type avroMaker struct {
	r     *rand.Rand
	named int
	open  []*avroType
	// left is how many values may still be made; what is beyond is left out, as is what is too deep.
	left int
}

// avroType is a type of a random schema.
type avroType struct {
	kind  string
	name  string
	size  int
	inner []*avroType
	known bool
}

func (m *avroMaker) pick(kinds ...string) string { return kinds[m.r.IntN(len(kinds))] }

func (m *avroMaker) make(depth int) *avroType {
	kind := m.pick("null", "boolean", "int", "long", "float", "double", "bytes", "string", "string", "enum", "fixed")
	if depth > 0 && m.r.IntN(3) > 0 {
		kind = m.pick("record", "array", "map", "union", "union")
	}
	t := &avroType{kind: kind}
	switch kind {
	case "enum", "fixed", "record":
		m.named++
		t.name = fmt.Sprintf("T%d", m.named)
		t.size = m.r.IntN(5)
		if kind == "enum" {
			t.size++
		}
	}
	switch kind {
	case "record":
		m.open = append(m.open, t)
		for range m.r.IntN(5) {
			t.inner = append(t.inner, m.make(depth-1))
		}
		m.open = m.open[:len(m.open)-1]
	case "array", "map":
		if len(m.open) > 0 && m.r.IntN(4) == 0 {
			t.inner = []*avroType{m.open[m.r.IntN(len(m.open))]}
			break
		}
		t.inner = []*avroType{m.make(depth - 1)}
	case "union":
		m.union(t, depth)
	}
	return t
}

// union gives a union branches of different kinds, and sometimes a record that is open, which makes the schema recursive.
func (m *avroMaker) union(t *avroType, depth int) {
	seen := map[string]bool{}
	for range 1 + m.r.IntN(4) {
		b := m.make(depth - 1)
		if b.kind == "union" || b.name == "" && seen[b.kind] {
			continue
		}
		seen[b.kind] = true
		t.inner = append(t.inner, b)
	}
	if len(m.open) > 0 && m.r.IntN(2) == 0 {
		t.inner = append(t.inner, m.open[m.r.IntN(len(m.open))])
	}
	if len(t.inner) == 0 {
		t.inner = []*avroType{{kind: "null"}}
	}
}

func (t *avroType) schema() any {
	if t.known {
		return t.name
	}
	t.known = t.name != ""
	switch t.kind {
	case "record":
		fields := []any{}
		for i, f := range t.inner {
			fields = append(fields, map[string]any{"name": fmt.Sprintf("f%d", i), "type": f.schema()})
		}
		return map[string]any{"type": "record", "name": t.name, "fields": fields}
	case "enum":
		symbols := []string{}
		for i := range t.size {
			symbols = append(symbols, fmt.Sprintf("S%d", i))
		}
		return map[string]any{"type": "enum", "name": t.name, "symbols": symbols}
	case "fixed":
		return map[string]any{"type": "fixed", "name": t.name, "size": t.size}
	case "array":
		return map[string]any{"type": "array", "items": t.inner[0].schema()}
	case "map":
		return map[string]any{"type": "map", "values": t.inner[0].schema()}
	case "union":
		branches := []any{}
		for _, b := range t.inner {
			branches = append(branches, b.schema())
		}
		return branches
	}
	return t.kind
}

func (t *avroType) text() []byte {
	b, err := json.Marshal(t.schema())
	if err != nil {
		panic(err)
	}
	return b
}

var texts = []string{"", "a", "moldau", "über", "\U0001F30A", "a longer text that is ASCII only"}

// value appends a random value.
func (m *avroMaker) value(b []byte, t *avroType, depth int) []byte {
	if m.left--; depth < 0 || m.left < 0 {
		return b
	}
	switch t.kind {
	case "boolean":
		return append(b, byte(m.r.IntN(2)))
	case "int":
		return binary.AppendVarint(b, int64(int32(m.r.Uint32()))>>m.r.IntN(32))
	case "long":
		return binary.AppendVarint(b, int64(m.r.Uint64())>>m.r.IntN(64))
	case "float":
		return binary.LittleEndian.AppendUint32(b, m.r.Uint32())
	case "double":
		return binary.LittleEndian.AppendUint64(b, m.r.Uint64())
	case "bytes", "string":
		return m.text(b)
	case "enum":
		return binary.AppendVarint(b, int64(m.r.IntN(t.size)))
	case "fixed":
		return append(b, "fixed bytes"[:t.size]...)
	case "record":
		for _, f := range t.inner {
			b = m.value(b, f, depth-1)
		}
	case "union":
		i := m.r.IntN(len(t.inner))
		return m.value(binary.AppendVarint(b, int64(i)), t.inner[i], depth-1)
	case "array", "map":
		return m.blocks(b, t, depth)
	}
	return b
}

func (m *avroMaker) text(b []byte) []byte {
	s := texts[m.r.IntN(len(texts))]
	return append(binary.AppendVarint(b, int64(len(s))), s...)
}

func (m *avroMaker) blocks(b []byte, t *avroType, depth int) []byte {
	for range m.r.IntN(3) {
		count := 1 + m.r.IntN(3)
		var items []byte
		for range count {
			if t.kind == "map" {
				items = m.text(items)
			}
			items = m.value(items, t.inner[0], depth-1)
		}
		if m.r.IntN(2) == 0 {
			b = binary.AppendVarint(b, int64(count))
		} else {
			b = binary.AppendVarint(b, -int64(count))
			b = binary.AppendVarint(b, int64(len(items)))
		}
		b = append(b, items...)
	}
	return append(b, 0)
}
