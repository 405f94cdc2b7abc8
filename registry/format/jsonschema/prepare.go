package jsonschema

// prepare makes the copy of a document that the library is given: with the name of the draft it is of, and without the
// few things that a metaschema forbids but that change nothing and that other registries accept.
func prepare(doc document, known func(address string) bool, bridge bool) *value {
	v := doc.value.clone()
	if doc.draft != nil {
		v.set("$schema", &value{kind: str, text: doc.draft.String()})
	} else if url, ok := v.get("$schema").characters(); ok && !known(url) {
		v.remove("$schema")
	}
	eachSchema(v, func(schema *value) bool {
		tolerate(schema)
		return true
	})
	if bridge {
		bridgeDefinitions(v)
	}
	return v
}

// tolerate mends a schema: repetitions in lists of names and values, lists that are empty and say nothing, and
// annotations of the wrong kind.
func tolerate(schema *value) {
	for _, name := range []string{"required", "type", "enum"} {
		if list := schema.get(name); list != nil && list.kind == array {
			list.items = distinct(list.items)
		}
	}
	for _, name := range []string{"required", "allOf"} {
		if list := schema.get(name); list != nil && list.kind == array && len(list.items) == 0 {
			schema.remove(name)
		}
	}
	if examples := schema.get("examples"); examples != nil && examples.kind != array {
		schema.remove("examples")
	}
	if comment := schema.get("$comment"); comment != nil && comment.kind != str {
		schema.remove("$comment")
	}
	if dependencies := schema.get("dependencies"); dependencies != nil {
		tolerateDependencies(dependencies)
	}
}

func tolerateDependencies(dependencies *value) {
	kept := dependencies.members[:0]
	for _, m := range dependencies.members {
		if m.value.kind == array {
			m.value.items = distinct(m.value.items)
			if len(m.value.items) == 0 {
				continue
			}
		}
		kept = append(kept, m)
	}
	dependencies.members = kept
}

// distinct leaves out the items that were there before. Numbers are the same when their texts are; the library tells the
// others apart.
func distinct(items []*value) []*value {
	seen := make(map[string]struct{}, len(items))
	kept := items[:0]
	for _, item := range items {
		key := printJSON(item, true)
		if _, ok := seen[key]; ok {
			continue
		}
		seen[key] = struct{}{}
		kept = append(kept, item)
	}
	return kept
}

// bridgeDefinitions makes what is under definitions reachable under $defs too, where nothing else is.
func bridgeDefinitions(v *value) {
	definitions, defs := v.get("definitions"), v.get("$defs")
	if definitions == nil || definitions.kind != object || defs != nil && defs.kind != object {
		return
	}
	if defs == nil {
		defs = &value{kind: object}
		v.set("$defs", defs)
	}
	for _, m := range definitions.members {
		if defs.get(m.name) != nil {
			continue
		}
		target := &value{kind: object}
		target.set("$ref", &value{kind: str, text: "#/definitions/" + escapePointer(m.name)})
		defs.members = append(defs.members, member{m.name, target})
	}
}
