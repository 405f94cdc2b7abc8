package kafka

import (
	"reflect"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// errPath is a way to error codes in one of kmsg's responses: down through the elements of slices.
type errPath struct {
	code  int        // index of a field that is an error code, or -1
	slice int        // index of a field that is a slice of structs, or -1
	below []*errPath // in the elements of that slice
}

// errorPaths finds where the response of an API keeps its error codes, once, so that counting them costs little.
func errorPaths(key kmsg.Key) []*errPath {
	return pathsIn(reflect.TypeOf(key.Response()).Elem())
}

func pathsIn(t reflect.Type) []*errPath {
	var paths []*errPath
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Name == "ErrorCode" && f.Type.Kind() == reflect.Int16:
			paths = append(paths, &errPath{code: i, slice: -1})
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			if below := pathsIn(f.Type.Elem()); len(below) > 0 {
				paths = append(paths, &errPath{code: -1, slice: i, below: below})
			}
		}
	}
	return paths
}

// countErrors reports every error code of a response, 0 included.
func countErrors(paths []*errPath, resp kmsg.Response, count func(code int16)) {
	if len(paths) > 0 {
		walkErrors(paths, reflect.ValueOf(resp).Elem(), count)
	}
}

func walkErrors(paths []*errPath, v reflect.Value, count func(code int16)) {
	for _, p := range paths {
		if p.code >= 0 {
			count(int16(v.Field(p.code).Int()))
			continue
		}
		elements := v.Field(p.slice)
		for i := range elements.Len() {
			walkErrors(p.below, elements.Index(i), count)
		}
	}
}
