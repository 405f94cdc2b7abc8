package node

import (
	"fmt"
	"io"
	"strings"

	"moldau/internal/config"
)

// WriteSettings writes the page about every key a server takes.
func WriteSettings(w io.Writer) error {
	report, err := Check(config.Inputs{}, false)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "# Settings of a server\n\nMade by `make docs` from the code. A key is set with `--set key=value`, in a file named by `--config`\n"+
		"(properties or YAML), or by an environment variable: `KAFKA_` or `MOLDAU_` and the key in capitals with `.` as `_`, `_` as `__`,\n"+
		"`-` as `___`. A flag wins over the environment, the environment over the file. `moldau serve check-config` shows what is in force.\n\n"+
		"| key | default | what |\n|---|---|---|\n")
	for _, v := range report.Values() {
		def := v.Value
		if v.Key == "data.dir" {
			def = "$XDG_STATE_HOME/moldau"
		}
		if def != "" {
			def = "`" + def + "`"
		}
		if _, err := fmt.Fprintf(w, "| `%s` | %s | %s |\n", v.Key, def, strings.ReplaceAll(v.Doc, "|", `\|`)); err != nil {
			return err
		}
	}
	return nil
}
