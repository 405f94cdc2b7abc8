package http

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// prose is the part of the reference page that no table holds.
const prose = `# The schema registry

Made by ` + "`make docs`" + ` from the code.

The registry answers at ` + "`registry.listen`" + ` (` + "`localhost:8081`" + `) in the protocol of Confluent's schema registry, so that serializers and
tools for that one work unchanged. It knows Avro, Protobuf and JSON Schema.

` + "```sh" + `
curl localhost:8081/subjects/hits-value/versions -H 'content-type: application/json' \
  -d '{"schema":"{\"type\":\"record\",\"name\":\"Hit\",\"fields\":[{\"name\":\"path\",\"type\":\"string\"}]}"}'
curl localhost:8081/subjects/hits-value/versions/latest
` + "```" + `

## Where schemas are kept

In the topic ` + "`_schemas`" + ` (` + "`registry.topic`" + `), which has one partition and is compacted, in the records that Confluent's registry
writes: a copy of such a topic is taken as it is. The topic is made by the first write; a registry without one is empty.
All reads are answered from memory.

A topic that a client had the cluster make, by looking for it too early, is not compacted. As long as nothing was written to it that
does not matter: the first write sets ` + "`cleanup.policy=compact`" + `. One that holds records is refused, as by Confluent's registry; the
answers (50001), ` + "`/readyz`" + ` and the log say what to set.

Several registries may run in front of one cluster. They form a consumer group (` + "`registry.group.id`" + `); the one that owns
the topic's partition writes, the others forward to it what must be written. The writer uses a transactional id, so that one
that was paused and replaced can write nothing more. What is forwarded is signed with keys that the registries keep in the topic
` + "`__moldau_registry_keys`" + `, which only they should be able to read. Where they speak TLS they know each other by the authorities of the system,
or those in ` + "`registry.tls.ca.file`" + `.

Nothing needs a broker of Moldau: ` + "`moldau serve --roles registry --set bootstrap.servers=...`" + ` runs in front of any Kafka cluster.

## Names

A subject may be qualified with a context: ` + "`:.context:subject`" + `. Ids count from 1 in each context. ` + "`:.context:`" + ` alone stands for the
context where a config or mode is meant, ` + "`:.__GLOBAL:`" + ` for all contexts that have none of their own, ` + "`:*:`" + ` for any context in
` + "`subjectPrefix`" + `. Every path may also begin with ` + "`/contexts/.context`" + `, which qualifies the subject in the rest of it. A slash in the
name of a subject is written ` + "`%2F`" + `.

A subject whose config has an ` + "`alias`" + ` stands for the subject named there, in the path and in ` + "`subject`" + ` parameters.

## Ids and versions

The same text with the same references, metadata and rules has the same id in a context, whichever subjects it is registered
under, and the same GUID everywhere: an MD5 sum, which is that of Confluent's registry. White space makes no difference, with
` + "`normalize=true`" + ` the order of attributes neither. Ids are never given twice, not even after a permanent deletion. Neither are
versions, as long as any version of the subject remains.

A deletion is soft at first: the version is in no list any more, but readers find the schema by its id. What is referred to
can't be deleted. Registering a deleted schema again makes a new version with the old id.

## Compatibility

` + "`BACKWARD`" + ` (the default): the new schema reads what was written with the last one. ` + "`FORWARD`" + `: the last one reads what is written with
the new one. ` + "`FULL`" + `: both. With ` + "`_TRANSITIVE`" + ` that holds for all versions, not only the last. ` + "`NONE`" + `: nothing is compared. With a
` + "`compatibilityGroup`" + ` only schemas are compared whose metadata has the same value for that property. The policy ` + "`LENIENT`" + ` lets JSON
schemas add and remove optional properties whatever their content model is.

The config of a subject holds for it, with what it leaves open (but the level) taken from the global one; a subject without one has that of its
context. Fields: ` + "`compatibility`, `compatibilityPolicy`, `compatibilityGroup`, `normalize`, `alias`, `validateFields`, `validateNewSchemas`, `defaultMetadata`, `overrideMetadata`, `defaultRuleSet`, `overrideRuleSet`" + `.
A change leaves alone what it does not name; ` + "`null`" + ` unsets.

## Modes

` + "`READWRITE`" + `; ` + "`READONLY`" + `; ` + "`IMPORT`" + `: schemas come with the ids and versions of the registry they come from, and nothing is compared. A
subject or context must be empty for it, unless the change is forced.

## What differs from Confluent's registry

- Rule sets are stored and found; Confluent's community registry drops them.
- Setting the global mode to IMPORT looks at the default context only.
- A policy that is not known is refused with 42203, and so is ` + "`LOGICAL`" + `.
- The answer to a registration holds the schema only if the client can't know it, and more than the id only for
  clients that send ` + "`Confluent-Accept-Unknown-Properties`" + `. Other answers hold ` + "`ts`" + ` and ` + "`deleted`" + ` only for these.
- An option that nothing defines is refused in a new Protobuf schema, as by every compiler of the language; Confluent's registry does not look.
- A Protobuf schema that comes as a descriptor is stored without the JSON names that its fields have anyway, which Go's serializers
  write out: the same file has the same id from all clients. Confluent's registry takes it for another schema.
- Exporters, associations and the registry of encryption keys do not exist.

The same as there, though it may surprise: a Protobuf schema that came as a descriptor has its maps spelled out in its text, as repeated
fields of a message with ` + "`option map_entry = true`" + `. With ` + "`normalize=true`" + ` they are written ` + "`map<K, V>`" + `.
`

// WriteReference writes the reference page.
func WriteReference(w io.Writer) error {
	b := bufio.NewWriter(w)
	_, _ = b.WriteString(prose + "\n## Requests\n\nMedia types: `" + strings.Join([]string{defaultMedia, otherMedia, jsonMedia}, "`, `") + "`.\n\n" +
		"| request | parameters | |\n|---|---|---|\n")
	for i := range endpoints {
		e := &endpoints[i]
		params := ""
		if e.query != "" {
			params = "`" + strings.Join(strings.Fields(e.query), "` `") + "`"
		}
		fmt.Fprintf(b, "| `%s %s` | %s | %s |\n", e.method, e.path, params, e.summary)
	}
	_, _ = b.WriteString("\n## Errors\n\n`{\"error_code\":40401,\"message\":\"Subject 'x' not found.\"}`: the first three digits of the code are the HTTP status.\n\n" +
		"| code | when |\n|---|---|\n")
	type row struct {
		code int
		when string
	}
	rows := make([]row, 0, len(codes)+len(others))
	for _, c := range codes {
		rows = append(rows, row{c.code, c.when})
	}
	for _, o := range others {
		rows = append(rows, row{o.code, o.when})
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.code, b.code) })
	for _, r := range rows {
		fmt.Fprintf(b, "| %d | %s |\n", r.code, r.when)
	}
	return b.Flush()
}
