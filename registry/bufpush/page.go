package bufpush

import (
	"slices"
	"strconv"
)

// The sizes of pages.
const (
	usualPage = 10
	maxPage   = 250
)

// page cuts a page out of a list. The token is the number of what comes before it.
func page[T any](all []T, size uint32, token string) (part []T, next string, err error) {
	start := 0
	if token != "" {
		if start, err = strconv.Atoi(token); err != nil || start < 0 {
			return nil, "", invalid("the page token %q is none of this registry", token)
		}
	}
	n := int(min(size, maxPage))
	if n == 0 {
		n = usualPage
	}
	start = min(start, len(all))
	end := min(start+n, len(all))
	if end < len(all) {
		next = strconv.Itoa(end)
	}
	return all[start:end], next, nil
}

// ordered sorts a list by a time, then by a name: the newest first, or last.
func ordered[T any](all []T, oldestFirst bool, at func(T) int64, name func(T) string) {
	slices.SortStableFunc(all, func(a, b T) int {
		if at(a) != at(b) {
			if (at(a) < at(b)) == oldestFirst {
				return -1
			}
			return 1
		}
		if name(a) < name(b) {
			return -1
		}
		return 1
	})
}
