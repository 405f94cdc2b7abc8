package broker

import "unicode/utf8"

// label makes a label of what a client has named. Ids of groups are any bytes, and Prometheus takes UTF-8 only: other bytes are shown
// as \xff.
func label(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	out := make([]byte, 0, len(name)+12)
	for len(name) > 0 {
		r, n := utf8.DecodeRuneInString(name)
		if r == utf8.RuneError && n == 1 {
			const hex = "0123456789abcdef"
			out = append(out, '\\', 'x', hex[name[0]>>4], hex[name[0]&15])
		} else {
			out = append(out, name[:n]...)
		}
		name = name[n:]
	}
	return string(out)
}
