package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/twmb/franz-go/pkg/sr"

	"moldau/cmd/moldau/internal/exit"
	"moldau/registry/serde"
)

// The environment variables that name a registry.
const (
	registryVariable      = "MOLDAU_REGISTRY"
	registryUserVariable  = "MOLDAU_REGISTRY_USER"
	registryTokenVariable = "MOLDAU_REGISTRY_TOKEN" //nolint:gosec // the name of a variable
)

// registryFlags say which registry to talk to, and how.
type registryFlags struct {
	urls            []string
	user, token, ca string
	timeout         time.Duration
	version         string // of this program
}

func (f *registryFlags) bind(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.urls, "registry", nil, "where the schema registry answers, replicas separated by commas (default $"+registryVariable+" or http://localhost:8081)")
	flags.StringVar(&f.user, "registry-user", "", "user:password for the registry (default $"+registryUserVariable+")")
	flags.StringVar(&f.token, "registry-token", "", "a bearer token for the registry (default $"+registryTokenVariable+")")
	flags.StringVar(&f.ca, "registry-ca", "", "a PEM file with the authorities to trust for https")
	must(cobra.MarkFlagFilename(flags, "registry-ca", "pem", "crt"))
}

// open makes what speaks to the registry. Nothing is asked yet.
func (f *registryFlags) open() (*serde.Serde, error) {
	cfg := serde.Config{Timeout: f.timeout, UserAgent: "moldau/" + f.version}
	for _, u := range f.addresses() {
		if !strings.Contains(u, "://") {
			u = "http://" + u
		}
		if parsed, err := url.Parse(u); err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
			return nil, exit.Usagef("--registry %s: want an address such as http://localhost:8081", u)
		}
		cfg.URLs = append(cfg.URLs, u)
	}
	cfg.Token = orVariable(f.token, registryTokenVariable)
	if pair := orVariable(f.user, registryUserVariable); pair != "" {
		cfg.User, cfg.Password, _ = strings.Cut(pair, ":")
	}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, exit.Usagef("--registry-ca: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, exit.Usagef("--registry-ca %s: there is no certificate in it", f.ca)
		}
		cfg.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	s, err := serde.New(cfg)
	if err != nil {
		return nil, &exit.Error{Code: exit.Usage, Err: err}
	}
	return s, nil
}

func (f *registryFlags) addresses() []string {
	if len(f.urls) > 0 {
		return f.urls
	}
	var out []string
	for u := range strings.SplitSeq(os.Getenv(registryVariable), ",") {
		if u = strings.TrimSpace(u); u != "" {
			out = append(out, u)
		}
	}
	if len(out) == 0 {
		out = []string{"http://localhost:8081"}
	}
	return out
}

func orVariable(value, variable string) string {
	if value != "" {
		return value
	}
	return os.Getenv(variable)
}

// with runs do with the registry and gives its error the exit code it deserves.
func (f *registryFlags) with(cmd *cobra.Command, do func(context.Context, *serde.Serde) error) error {
	s, err := f.open()
	if err != nil {
		return err
	}
	defer s.Close()
	return explainRegistry(do(cmd.Context(), s))
}

// explainRegistry gives an error of the registry its exit code and the line to run next. An error that has them already,
// and nil, come back as they are.
func explainRegistry(err error) error {
	var already *exit.Error
	if err == nil || errors.As(err, &already) {
		return err
	}
	var answer *sr.ResponseError
	switch {
	case errors.As(err, &answer) && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden):
		return &exit.Error{Code: exit.Denied, Err: err, Next: "the same with --registry-user user:password or --registry-token"}
	case errors.Is(err, serde.ErrNotFound):
		return &exit.Error{Code: exit.NotFound, Err: err, Next: "moldau registry subject list"}
	case errors.Is(err, serde.ErrUnavailable):
		return &exit.Error{Code: exit.Unhealthy, Err: err, Next: "moldau serve    (or name the registry: --registry http://host:8081)"}
	case errors.Is(err, serde.ErrReference):
		return &exit.Error{Code: exit.Usage, Err: err}
	}
	return err
}

// registryCode is the code of the registry's own error, 0 for any other.
func registryCode(err error) int {
	var answer *sr.ResponseError
	if errors.As(err, &answer) {
		return answer.ErrorCode
	}
	return 0
}

// completeSubject completes the subjects of the registry, as the first argument only where first is set.
func (f *registryFlags) completeSubject(first bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if first && len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		err := f.with(cmd, func(ctx context.Context, s *serde.Serde) error {
			ctx, cancel := context.WithTimeout(ctx, completionPatience)
			defer cancel()
			return s.Do(ctx, "list the subjects", http.MethodGet, "/subjects", nil, &names, "subjectPrefix", typed)
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// subjectPath is the path of a subject, and of what is below it.
func subjectPath(subject string, below ...string) string {
	path := "/subjects/" + url.PathEscape(subject)
	for _, b := range below {
		path += "/" + b
	}
	return path
}

// scopePath is the path of a config or a mode: of a subject, or the global one.
func scopePath(what, subject string) string {
	if subject == "" {
		return "/" + what
	}
	return "/" + what + "/" + url.PathEscape(subject)
}

// scopeName is what to call a subject, or what holds for all of them.
func scopeName(subject string) string {
	if subject == "" {
		return "all subjects"
	}
	return subject
}

// optional is the one argument that may be left out.
func optional(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// subjectVersion reads SUBJECT or SUBJECT@VERSION; the version is "latest" where none is given.
func subjectVersion(text string) (subject, version string) {
	if i := strings.LastIndexByte(text, '@'); i > 0 {
		if v := text[i+1:]; v == "latest" || number(v) {
			return text[:i], v
		}
	}
	return text, "latest"
}

func number(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func showVersion(subject string, version int) string { return fmt.Sprintf("%s@%d", subject, version) }
