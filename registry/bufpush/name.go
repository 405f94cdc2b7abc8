package bufpush

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode/utf8"
)

// idLength is that of an id: a UUID in hexadecimal without hyphens.
const idLength = 32

// newID makes an id by chance.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return uuid(b)
}

// fixedID is an id that is the same for the same words.
func fixedID(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return uuid([16]byte(sum[:16]))
}

func uuid(b [16]byte) string {
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return hex.EncodeToString(b[:])
}

// isID tells whether a text has the form of an id.
func isID(s string) bool {
	return len(s) == idLength && strings.Trim(s, "0123456789abcdef") == ""
}

// The lengths of names.
const (
	minName      = 2
	maxOwnerName = 32
	maxModule    = 100
	maxLabel     = 250
	maxPath      = 4096
)

// validName tells whether a text can name an owner or a module: small letters, digits and hyphens, a letter first and no
// hyphen last.
func validName(s string, longest int) bool {
	return len(s) >= minName && len(s) <= longest && s[0] >= 'a' && s[0] <= 'z' && s[len(s)-1] != '-' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// validLabel tells whether a text can name a label: branches and tags of version control can. It must not look like the
// id of a commit.
func validLabel(s string) bool {
	return s != "" && len(s) <= maxLabel && utf8.ValidString(s) && !isID(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f && r < 0xa0 || r == ':' || r == '\\' })
}

// validPath tells whether a file may have a path: relative, in its shortest form, inside the module.
func validPath(p string) bool {
	return p != "" && len(p) <= maxPath && utf8.ValidString(p) && path.Clean(p) == p && p[0] != '/' && p != "." && p != ".." &&
		!strings.HasPrefix(p, "../") && !strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' })
}
