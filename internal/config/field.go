package config

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

var (
	durationType = reflect.TypeFor[time.Duration]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// units gives the unit of a duration whose key ends so, as Kafka names keys.
var units = []struct {
	suffix string
	unit   time.Duration
}{
	{".ms", time.Millisecond},
	{".seconds", time.Second},
	{".minutes", time.Minute},
	{".hours", time.Hour},
}

// unitOf returns the unit in the name of a key, or 0 when it names none.
func unitOf(key string) time.Duration {
	for _, u := range units {
		if strings.HasSuffix(key, u.suffix) {
			return u.unit
		}
	}
	return 0
}

// assign parses text as a value of the field's type and stores it.
func assign(key string, field reflect.Value, text string) error {
	text = strings.TrimSpace(text)
	if field.CanAddr() && field.Addr().Type().Implements(textType) {
		return field.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	}
	if field.Type() == durationType {
		d, err := parseDuration(key, text)
		if err != nil {
			return err
		}
		field.SetInt(int64(d))
		return nil
	}
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Bool:
		b, err := parseBool(text)
		if err != nil {
			return err
		}
		field.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, field.Type().Bits())
		if err != nil {
			return numberError(text, err)
		}
		field.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, field.Type().Bits())
		if err != nil {
			return numberError(text, err)
		}
		field.SetUint(n)
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return numberError(text, err)
		}
		field.SetFloat(f)
	case reflect.Slice:
		field.Set(reflect.ValueOf(splitList(text)).Convert(field.Type()))
	default:
		return fmt.Errorf("a field of type %s takes no text", field.Type())
	}
	return nil
}

// format is the text that assign would turn into the field's present value.
func format(key string, field reflect.Value) string {
	if m, ok := field.Interface().(encoding.TextMarshaler); ok {
		if text, err := m.MarshalText(); err == nil {
			return string(text)
		}
	}
	if field.Type() == durationType {
		if u := unitOf(key); u != 0 {
			return strconv.FormatInt(field.Int()/int64(u), 10)
		}
		return time.Duration(field.Int()).String()
	}
	switch field.Kind() {
	case reflect.Slice:
		if field.Type().Elem().Kind() != reflect.String {
			panic(fmt.Sprintf("config: the key %s has a field of type %s", key, field.Type()))
		}
		parts := make([]string, field.Len())
		for i := range parts {
			parts[i] = field.Index(i).String()
		}
		return strings.Join(parts, ",")
	case reflect.String, reflect.Bool, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprint(field.Interface())
	default:
		panic(fmt.Sprintf("config: the key %s has a field of type %s", key, field.Type()))
	}
}

// parseDuration takes a whole number in the unit of the key, or Go's notation
// ("30s") where the key names no unit.
func parseDuration(key, text string) (time.Duration, error) {
	u := unitOf(key)
	if u == 0 {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, fmt.Errorf("%q is no duration such as 30s or 5m", text)
		}
		return d, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, numberError(text, err)
	}
	// Kafka allows Long.MAX_VALUE for "never": the longest duration is that.
	const forever = time.Duration(1<<63 - 1)
	switch {
	case n > int64(forever/u):
		return forever, nil
	case n < -int64(forever/u):
		return 0, fmt.Errorf("%d is too small", n)
	}
	return time.Duration(n) * u, nil
}

func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", text)
}

func numberError(text string, err error) error {
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%s is out of range", text)
	}
	return fmt.Errorf("%q is no number", text)
}

// splitList cuts a comma-separated list; blanks around entries are dropped,
// and so are empty entries.
func splitList(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
