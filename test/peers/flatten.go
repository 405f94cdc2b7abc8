package peers

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
)

// Fields is one answer as path → value, such as
// "Topics[orders].Partitions[0].ErrorCode" → "3". Lists whose order means
// nothing are keyed by their element's name, so that two answers compare
// field by field whatever their order.
type Fields map[string]string

// listKeys names the fields that identify an element of an unordered list.
var listKeys = []string{"Topic", "TopicID", "Name", "ResourceName", "Partition", "ConfigName", "NodeID", "ApiKey", "Group"}

// Flatten turns a kmsg struct into Fields. Versions, throttle times and
// unknown tags are left out.
func Flatten(v any) Fields {
	f := Fields{}
	flatten(f, "", reflect.Indirect(reflect.ValueOf(v)))
	return f
}

func flatten(f Fields, path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			f[path] = "null"
			return
		}
		flatten(f, path, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if name == "Version" || name == "ThrottleMillis" || name == "UnknownTags" || !v.Type().Field(i).IsExported() {
				continue
			}
			flatten(f, strings.TrimPrefix(path+"."+name, "."), v.Field(i))
		}
	case reflect.Slice:
		flattenSlice(f, path, v)
	default:
		f[path] = fmt.Sprint(v.Interface())
	}
}

func flattenSlice(f Fields, path string, v reflect.Value) {
	switch {
	case v.Type().Elem().Kind() == reflect.Uint8:
		f[path] = fmt.Sprintf("%x", v.Bytes())
	case v.IsNil():
		f[path] = "null"
	case v.Type().Elem().Kind() != reflect.Struct:
		f[path] = fmt.Sprint(v.Interface())
	default:
		f[path+".len"] = fmt.Sprint(v.Len())
		seen := map[string]int{}
		for i := range v.Len() {
			key := elementKey(v.Index(i), i)
			if seen[key]++; seen[key] > 1 {
				key = fmt.Sprintf("%s#%d", key, seen[key])
			}
			flatten(f, path+"["+key+"]", v.Index(i))
		}
	}
}

func elementKey(v reflect.Value, i int) string {
	for _, name := range listKeys {
		k := v.FieldByName(name)
		if !k.IsValid() || (k.Kind() == reflect.Array && k.IsZero()) {
			continue
		}
		if k.Kind() == reflect.Pointer {
			if k.IsNil() {
				continue
			}
			k = k.Elem()
		}
		if s := fmt.Sprint(k.Interface()); s != "" {
			return s
		}
	}
	return fmt.Sprint(i)
}

// Diff lists the paths at which a and b differ, as "path: a | b", sorted.
func Diff(a, b Fields) []string {
	var out []string
	for p, av := range a {
		if bv, ok := b[p]; !ok {
			out = append(out, fmt.Sprintf("%s: %s | absent", p, av))
		} else if av != bv {
			out = append(out, fmt.Sprintf("%s: %s | %s", p, av, bv))
		}
	}
	for p, bv := range b {
		if _, ok := a[p]; !ok {
			out = append(out, fmt.Sprintf("%s: absent | %s", p, bv))
		}
	}
	sort.Strings(out)
	return out
}
