package jsontext

// Compact appends a JSON document to dst, without white space between its tokens and otherwise as it is written. On a
// *SyntaxError the result is dst as it was.
func Compact(dst, src []byte) ([]byte, error) {
	s := Scanner{Data: src}
	s.Space()
	start := s.Pos
	spaced, err := s.SkipValue()
	if err != nil {
		return dst, err
	}
	end := s.Pos
	if s.Space(); s.Pos < len(src) {
		return dst, s.Unexpected("the end")
	}
	n := len(dst)
	dst = append(dst, src[start:end]...)
	if spaced {
		dst = dst[:n+len(Squeeze(dst[n:]))]
	}
	return dst, nil
}

// Squeeze removes the white space between the tokens of a valid value, in place.
func Squeeze(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); {
		switch c := b[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end := i + 1
			for b[end] != '"' {
				if b[end] == '\\' {
					end++
				}
				end++
			}
			out = append(out, b[i:end+1]...)
			i = end + 1
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}
