package jsonschema

import (
	"errors"
	"net/url"
	"strings"

	library "github.com/santhosh-tekuri/jsonschema/v6"

	"moldau/registry/format"
)

// baseURL is where a schema is that has no address of its own. References with relative names are beside it.
const baseURL = "registry://schema/input.json"

// errNoReference says that a $ref leads to a document that is not among the references of the source.
var errNoReference = errors.New("it is neither a part of the schema nor one of its references")

// document is a text that a schema consists of.
type document struct {
	// name is the reference name, empty for the schema itself.
	name  string
	value *value
	// draft is what the text says, nil where it does not.
	draft *library.Draft
}

// documents is everything a source holds, and the only place from which references are resolved.
type documents struct {
	root document
	// byURL is the referenced documents by every address under which they are known.
	byURL map[string]document
	// references is the referenced documents as they came.
	references []document
	// relative is the referenced documents whose name is no absolute address.
	relative []document
	// texts is all texts as they came.
	texts []string
	// bridge makes definitions be found under $defs.
	bridge bool
	// read is what the library has asked for, by the address it asked for.
	read map[string]*value
}

// mention says whether a word is in any of the texts.
func (d *documents) mention(word string) bool {
	for _, text := range d.texts {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// draft is that of the schema, and of referenced documents that do not say.
func (d *documents) draft() *library.Draft {
	if d.root.draft == nil {
		return defaultDraft()
	}
	return d.root.draft
}

// readDocuments reads all texts of a source.
func readDocuments(s format.Source, maxDepth int) (*documents, error) {
	root, err := readJSON(s.Text, maxDepth)
	if err != nil {
		return nil, err
	}
	d := &documents{
		root:  document{value: root, draft: draftOf(root)},
		byURL: make(map[string]document),
		read:  make(map[string]*value),
		texts: []string{s.Text},
	}
	base := resolve(baseURL, ownURL(d.root))
	for _, reference := range s.References {
		v, err := readJSON(reference.Text, maxDepth)
		if err != nil {
			return nil, format.Invalid("reference %q: %w", reference.Name, err)
		}
		d.texts = append(d.texts, reference.Text)
		d.add(document{reference.Name, v, draftOf(v)}, base)
	}
	return d, nil
}

// add makes a referenced document known by its name, seen from the schema, and by its own address.
func (d *documents) add(doc document, base string) {
	own := ownURL(doc)
	d.references = append(d.references, doc)
	for _, address := range []string{own, resolve(own, doc.name), resolve(baseURL, doc.name), resolve(base, doc.name)} {
		if address = withoutFragment(address); address != "" {
			d.byURL[address] = doc
		}
	}
	if u, err := url.Parse(doc.name); err != nil || !u.IsAbs() {
		d.relative = append(d.relative, doc)
	}
}

// ownURL is the address that a document gives itself, empty where it gives none.
func ownURL(doc document) string {
	draft := doc.draft
	if draft == nil {
		draft = defaultDraft()
	}
	id, _ := doc.value.get(idKeyword(draft)).characters()
	return withoutFragment(id)
}

func withoutFragment(address string) string {
	address, _, _ = strings.Cut(address, "#")
	return address
}

// resolve is an address seen from a base; it is the address itself where one of the two is none.
func resolve(base, address string) string {
	if base == "" {
		base = baseURL
	}
	b, err := url.Parse(base)
	if err != nil {
		return address
	}
	u, err := b.Parse(address)
	if err != nil {
		return address
	}
	return u.String()
}

// Load answers a document for the library.
func (d *documents) Load(address string) (any, error) {
	doc, ok := d.find(address)
	if !ok {
		return nil, errNoReference
	}
	v := prepare(doc, d.has, d.bridge)
	d.read[address] = v
	return v.plain(), nil
}

// has says whether an address, as that of a metaschema, is that of a referenced document.
func (d *documents) has(address string) bool {
	_, ok := d.find(withoutFragment(address))
	return ok
}

// find looks a document up by its address. A relative name is found from wherever it is seen, so that references do not
// depend on the addresses that the texts give themselves; of two names that fit the longer one counts.
func (d *documents) find(address string) (document, bool) {
	if doc, ok := d.byURL[address]; ok {
		return doc, true
	}
	if address == baseURL {
		return d.root, true
	}
	var found document
	for _, doc := range d.relative {
		name := strings.TrimPrefix(withoutFragment(doc.name), "./")
		if len(name) > len(strings.TrimPrefix(found.name, "./")) && strings.HasSuffix(address, "/"+name) {
			found = doc
		}
	}
	if found.name == "" && address == resolve(baseURL, ownURL(d.root)) {
		return d.root, true
	}
	return found, found.name != ""
}

// at answers the JSON of a compiled schema's location.
func (d *documents) at(location string, index memberIndex) *value {
	address, fragment, _ := strings.Cut(location, "#")
	doc := d.read[address]
	if doc == nil {
		return nil
	}
	if fragment, err := url.PathUnescape(fragment); err == nil {
		return index.at(doc, pointer(fragment))
	}
	return nil
}

// pointer is the tokens of a JSON pointer.
func pointer(text string) []string {
	if text == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(text, "/"), "/")
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens
}

func escapePointer(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}
