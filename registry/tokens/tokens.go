// Package tokens tells by the token that a request shows on whose behalf it is.
//
// The tokens are read from a file once, at the start. Only their hashes are kept. The package has no goroutines.
package tokens

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"moldau/registry"
)

// ErrToken says that what a request shows is no known token.
var ErrToken = errors.New("unknown token")

// Tokens are the tokens that are known. It is safe for concurrent use.
type Tokens struct {
	users map[[sha256.Size]byte]string // by the hash of the token
}

// Read reads a file: on each line a user and a token, with blanks between them. Empty lines and those that begin with #
// are left out.
func Read(path string) (*Tokens, error) {
	raw, err := os.ReadFile(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	t, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("read the tokens: %s: %w", path, err)
	}
	return t, nil
}

const minToken = 8 // characters

// userPrefix makes a principal of the name of a user.
const userPrefix = "User:"

func parse(raw []byte) (*Tokens, error) {
	t := &Tokens{users: map[[sha256.Size]byte]string{}}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		switch {
		case len(words) != 2:
			return nil, fmt.Errorf("line %d has %d words; it must be a user and a token", n, len(words))
		case len(words[1]) < minToken || strings.ContainsAny(words[1], "@,:"):
			return nil, fmt.Errorf("line %d: a token must have %d characters or more, without at signs, commas and colons", n, minToken)
		}
		if userPrefix+words[0] == registry.Anonymous {
			return nil, fmt.Errorf("line %d: %s is the user of those that show no token", n, words[0])
		}
		sum := sha256.Sum256([]byte(words[1]))
		if _, taken := t.users[sum]; taken {
			return nil, fmt.Errorf("line %d has a token that another line has too", n)
		}
		t.users[sum] = words[0]
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(t.users) == 0 {
		return nil, errors.New("there is no token in it")
	}
	return t, nil
}

// Principal tells on whose behalf a request is, by its Authorization header: a bearer token, or a token as the password
// of its user. Without the header that is nobody.
func (t *Tokens) Principal(authorization string) (string, error) {
	if authorization == "" {
		return registry.Anonymous, nil
	}
	scheme, rest, _ := strings.Cut(authorization, " ")
	rest = strings.TrimSpace(rest)
	name, token := "", rest
	switch strings.ToLower(scheme) {
	case "bearer":
	case "basic":
		pair, err := base64.StdEncoding.DecodeString(rest)
		if err != nil {
			return "", ErrToken
		}
		name, token, _ = strings.Cut(string(pair), ":")
	default:
		return "", ErrToken
	}
	user, ok := t.users[sha256.Sum256([]byte(token))]
	if !ok || name != "" && name != user {
		return "", ErrToken
	}
	return userPrefix + user, nil
}

// Guard puts the check of tokens before a handler. A request with a token that is not known is answered 401, in a form
// that clients of both protocols of the registry understand.
func (t *Tokens) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		principal, err := t.Principal(r.Header.Get("Authorization"))
		if err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("WWW-Authenticate", `Bearer realm="schema registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error_code":40101,"code":"unauthenticated","message":"the token is not known"}`))
			return
		}
		next.ServeHTTP(w, r.WithContext(registry.WithPrincipal(r.Context(), principal)))
	})
}
