package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build says what this binary was made from.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// buildVersion reads what the linker and the go command left in the binary.
// The version is one that Kafka's protocol permits in ApiVersions: letters,
// digits, dots and dashes.
func buildVersion() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	if b.Version == "" {
		b.Version = "dev"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func newVersion(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this binary",
		Example: `  moldau version -o json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := buildVersion()
			return printValue(a, b, func(w io.Writer) error {
				fmt.Fprintf(w, "moldau %s (%s, %s)\n", b.Version, b.Go, b.Platform)
				if b.Revision != "" {
					fmt.Fprintf(w, "revision %s\n", b.Revision)
				}
				return nil
			})
		},
	}
	a.withFormat(cmd)
	return cmd
}
