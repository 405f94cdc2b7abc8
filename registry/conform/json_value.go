package conform

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// decodeJSON makes a value of a text that is known to conform, with whole numbers as such.
func decodeJSON(payload []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("decode the value for its conditions: %w", err)
	}
	return plainNumbers(v), nil
}

// plainNumbers puts numbers in the place of their texts: an int64 where they fit, else a float64, and
// their text where they fit neither.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, err := v.Float64()
		if err != nil {
			return string(v)
		}
		return f
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = plainNumbers(v[name])
		}
	}
	return v
}
