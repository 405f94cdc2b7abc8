package configdef

import (
	"fmt"
	"io"
	"strings"
)

//go:generate go test -run ^TestDocument$ -args -write

// WriteDocument writes the reference page of all configs in Markdown.
func WriteDocument(w io.Writer) error {
	var b strings.Builder
	b.WriteString(`# Configs of topics, brokers, client metrics and groups

Made by ` + "`go generate ./broker/configdef`" + ` from its tables; don't edit it.

Names, types, defaults and permitted values are those of Apache Kafka 4.4. A name that isn't listed is refused.
*Honoured* configs do what they say. Those *not yet* honoured are accepted, kept and shown, and change nothing.

## Topics

A topic that doesn't set a config follows the broker's; a change takes effect at once.

`)
	table := func(keys []Key, broker bool) {
		if broker {
			b.WriteString("| config | type | default | permitted | change | what it does |\n|---|---|---|---|---|---|\n")
		} else {
			b.WriteString("| config | type | default | permitted | broker's default | what it does |\n|---|---|---|---|---|---|\n")
		}
		for i := range keys {
			k := &keys[i]
			if k.Internal {
				continue
			}
			fifth := strings.Join(synonymNames(k), ", ")
			if broker {
				fifth = k.Scope.String()
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", k.Name, strings.ToLower(k.Type.String()), k.defaultCell(), k.validCell(), fifth, k.docCell())
		}
	}
	table(TopicKeys(), false)
	b.WriteString("\n## Brokers\n\n*read-only* configs are read at start, *cluster-wide* ones may be changed while the broker runs, for one broker or for all.\nThose marked *own* are not Kafka's. Kafka changes a few more of them while it runs, of threads, connections and producer ids, and\n" +
		"keeps names that it does not know for plugins; here such a change is refused, with the answer that Kafka gives for read-only ones.\n\n")
	table(BrokerKeys(), true)
	b.WriteString("\n## Client metrics subscriptions\n\n")
	table(ClientMetricsKeys(), false)
	b.WriteString("\n## Groups\n\nA group that doesn't set a config follows the broker's `group.` config of the same name.\n\n")
	table(GroupKeys(), false)
	_, err := io.WriteString(w, b.String())
	return err
}

func synonymNames(k *Key) []string {
	names := make([]string, len(k.Synonyms))
	for i, s := range k.Synonyms {
		names[i] = "`" + s.Name + "`"
	}
	return names
}

func (k *Key) defaultCell() string {
	switch {
	case k.NoDefault:
		return "unset"
	case k.Default == "":
		return "empty"
	default:
		return "`" + k.Default + "`"
	}
}

func (k *Key) validCell() string {
	if k.Valid == nil {
		return ""
	}
	return "`" + k.Valid.String() + "`"
}

func (k *Key) docCell() string {
	text := strings.ReplaceAll(k.Doc, "|", "\\|")
	if k.Own {
		text = "*Own.* " + text
	}
	switch k.Status {
	case Partly:
		return text + " **Honoured in part:** " + k.Reason + "."
	case NotYet:
		return text + " **Not yet:** " + k.Reason + "."
	default:
		return text
	}
}
