package bufpush

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// prose is the part of the reference page that no table holds.
const prose = `
## Modules of buf

The ` + "`buf`" + ` CLI pushes modules to the registry's door and reads them back; the name of a module begins with the address of the door.
Where that speaks no TLS, ` + "`buf`" + ` must be told in the file ` + "`config.yaml`" + ` of a folder that ` + "`BUF_CONFIG_DIR`" + ` names:

` + "```sh" + `
export BUF_CONFIG_DIR=$PWD/.buf && mkdir -p $BUF_CONFIG_DIR
printf 'version: v1\ntls:\n  use: "false"\n' > $BUF_CONFIG_DIR/config.yaml
printf 'version: v2\nname: localhost:8081/acme/orders\ndeps:\n  - localhost:8081/moldau/kafka\n' > buf.yaml
buf dep update && buf push --create
buf export localhost:8081/acme/orders -o out
buf breaking --against localhost:8081/acme/orders
` + "```" + `

` + "`registry.tls.cert.file`" + ` and ` + "`registry.tls.key.file`" + ` turn TLS on; ` + "`buf`" + ` trusts an authority of your own with ` + "`use: local`" + ` and
` + "`root_cert_file_paths`" + ` in place of ` + "`use: \"false\"`" + `. With ` + "`registry.tokens.file`" + `, a user and a token on each line, only who shows a token may
do more than read public modules: ` + "`buf registry login localhost:8081`" + ` or ` + "`BUF_TOKEN`" + ` for ` + "`buf`" + `, a bearer token or the password of the user for
serializers.

Modules are kept in the topic ` + "`__moldau_modules`" + ` (` + "`registry.modules.topic`" + `), made by the first push; contents are kept once, in memory
too. An owner comes into being with its first module. A push is one transaction over modules and subjects: all of it is there afterwards, or
nothing. The same content again is the same commit. Modules that depend on modules of another registry can't be pushed.

### From messages to subjects

A message names its subjects by an option of the module ` + "`moldau/kafka`" + `, which every server has:

` + "```proto" + `
import "moldau/kafka/v1/subject.proto";

message Order {
  option (moldau.kafka.v1.subject) = {topic: "orders"};
}
` + "```" + `

| option | subject |
|---|---|
| ` + "`{topic: \"t\"}`" + `, with ` + "`part: PART_KEY`" + ` | ` + "`t-value`" + `, ` + "`t-key`" + ` |
| ` + "`{strategy: STRATEGY_RECORD}`" + ` | the full name of the message |
| ` + "`{topic: \"t\", strategy: STRATEGY_TOPIC_RECORD}`" + ` | ` + "`t-`" + ` and the full name |
| ` + "`{name: \"s\"}`" + ` | ` + "`s`" + ` |
| ` + "`context: \"c\"`" + ` besides | the same in the context ` + "`.c`" + ` |
| ` + "`compatibility: COMPATIBILITY_FULL`" + ` besides | the subject gets that level |

` + "`buf.confluent.v1.subject`" + ` counts with its ` + "`name`" + `, whatever number it has; the file that defines it must be in the module or in one that it
depends on. With ` + "`registry.buf.auto_subjects=record`" + ` every top-level message without an option has the subject of its full name.

Each file is registered under its import path, those it imports before it, and then under the subjects of its messages, with the
references that serializers make: a serializer that registers the same message finds it. Versions get no metadata, which would make
another schema of them. A subject belongs to the module that pushed it first, until that is deleted; deleting a module leaves subjects.

The level of compatibility of each subject decides whether a push may be. One that may not is refused whole, with the subject, the file and
line, and the rule. Only the default label of a module moves subjects; pushed to another label, a change that would be refused
is told as a warning.

### From subjects to modules

Every Protobuf subject of the default context, however it was registered, is the module ` + "`subjects/NAME`" + ` as far as its name has only letters,
digits and ` + "`- _ .`" + `: ` + "`buf breaking --against localhost:8081/subjects/orders-value`" + `. Its commits are the versions; ` + "`:v1`" + ` names the first. The
file is at its import path if a subject of that name holds the same schema, else at one made of package and subject. Such a module can't
be depended on.

### Procedures

Connect's protocol for single answers: POST, ` + "`application/proto`" + ` or ` + "`application/json`" + `, gzip. All other paths are answered 404.

| service | procedures |
|---|---|
`

// WriteReference writes the part of the reference page about this door.
func WriteReference(w io.Writer) error {
	b := bufio.NewWriter(w)
	_, _ = b.WriteString(prose) // Flush tells
	services := map[string][]string{}
	var order []string
	for path := range endpoints {
		service, procedure, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if service == mixedService {
			continue // it only says that it does nothing
		}
		if services[service] == nil {
			order = append(order, service)
		}
		services[service] = append(services[service], procedure)
	}
	slices.Sort(order)
	for _, service := range order {
		slices.Sort(services[service])
		_, _ = fmt.Fprintf(b, "| `%s` | %s |\n", service, strings.Join(services[service], ", "))
	}
	return b.Flush()
}
