package jsonschema

import (
	"strconv"

	library "github.com/santhosh-tekuri/jsonschema/v6"
)

// list is what an array schema says about its items, in whichever draft it says so.
type list struct {
	// items is what every item has to conform to, nil for nothing.
	items *node
	// tuple is what the first items have to conform to one by one, rest the others.
	tuple []*node
	rest  content
	// unevaluated is what the items have to conform to that no other keyword has looked at.
	unevaluated *node
}

func listOf(n *node) list {
	s := n.rules
	l := list{unevaluated: n.graph.node(s.UnevaluatedItems), rest: contentOf(n, s.AdditionalItems)}
	switch items := s.Items.(type) {
	case nil:
		l.rest = contentOf(n, n.graph.stray[s])
	case *library.Schema:
		l.items, l.rest = n.graph.node(items), content{}
	case []*library.Schema:
		l.tuple = nodes(n.graph, items)
	}
	if s.DraftVersion < 2020 {
		return l
	}
	l.tuple = nodes(n.graph, s.PrefixItems)
	switch items := n.graph.node(s.Items2020); {
	case items == nil || items.kind == emptyKind:
	case items.kind == falseKind:
		l.rest.closed = true
	case len(l.tuple) > 0:
		l.rest.schema = items
	default:
		l.items = items
	}
	return l
}

func nodes(g *graph, schemas []*library.Schema) []*node {
	list := make([]*node, 0, len(schemas))
	for _, s := range schemas {
		list = append(list, g.node(s))
	}
	return list
}

// open says whether the array may have any item that it does not list.
func (l list) open() bool {
	return !l.rest.closed && l.rest.schema == nil && (l.unevaluated == nil || l.unevaluated.kind == emptyKind)
}

func (s *scope) arrays(writer, reader *node) {
	w, r := listOf(writer), listOf(reader)
	s.within("items", func() {
		s.compare(w.items, r.items)
		s.tuples(w, r)
	})
	s.within("additionalItems", func() { s.additional(w.rest, r.rest, additionalItems) })
	s.within("unevaluatedItems", func() { s.unevaluated(w.unevaluated, r.unevaluated, unevaluatedItems) })
	from, to := writer.rules, reader.rules
	limits(s, bound{"maxItems", MaxItemsAdded, MaxItemsRemoved, MaxItemsIncreased, MaxItemsDecreased},
		from.MaxItems, to.MaxItems, orderInts)
	limits(s, bound{"minItems", MinItemsAdded, MinItemsRemoved, MinItemsIncreased, MinItemsDecreased},
		from.MinItems, to.MinItems, orderInts)
	switch {
	case from.UniqueItems && !to.UniqueItems:
		s.add(UniqueItemsRemoved, "uniqueItems")
	case !from.UniqueItems && to.UniqueItems:
		s.add(UniqueItemsAdded, "uniqueItems")
	}
	limits(s, bound{"maxContains", MaxContainsAdded, MaxContainsRemoved, MaxContainsIncreased, MaxContainsDecreased},
		from.MaxContains, to.MaxContains, orderInts)
	limits(s, bound{"minContains", MinContainsAdded, MinContainsRemoved, MinContainsIncreased, MinContainsDecreased},
		leastContained(from), leastContained(to), orderInts)
}

// leastContained is minContains, which is one where a schema has contains and does not say. Drafts before 2019-09 do not
// count.
func leastContained(s *library.Schema) *int {
	if s.MinContains != nil || s.Contains == nil || s.DraftVersion < 2019 {
		return s.MinContains
	}
	least := 1
	return &least
}

func (s *scope) tuples(w, r list) {
	for i := range max(len(w.tuple), len(r.tuple)) {
		if !s.proceed() {
			return
		}
		s.within(strconv.Itoa(i), func() {
			switch {
			case i >= len(r.tuple):
				s.itemRemoved(w.tuple[i], r)
			case i >= len(w.tuple):
				s.itemAdded(w, r.tuple[i])
			default:
				s.compare(w.tuple[i], r.tuple[i])
			}
		})
	}
}

// itemRemoved judges an item that only the writer lists, by the content model of the reader.
func (s *scope) itemRemoved(item *node, reader list) {
	if reader.open() {
		s.add(ItemRemovedFromOpenContentModel)
		return
	}
	covering := coveringRest(reader.rest, reader.unevaluated)
	switch {
	case covering != nil && s.covers(item, covering):
		s.add(ItemRemovedIsCoveredByPartiallyOpenContentModel)
	case covering != nil:
		s.add(ItemRemovedNotCoveredByPartiallyOpenContentModel)
	case item.kind == falseKind:
		s.add(ItemWithFalseRemovedFromClosedContentModel)
	default:
		s.add(ItemRemovedFromClosedContentModel)
	}
}

// itemAdded judges an item that only the reader lists, by the content model of the writer.
func (s *scope) itemAdded(writer list, item *node) {
	covering := coveringRest(writer.rest, writer.unevaluated)
	switch {
	case writer.open() && item.kind == emptyKind:
		s.add(ItemWithEmptySchemaAddedToOpenContentModel)
	case writer.open():
		s.add(ItemAddedToOpenContentModel)
	case covering == nil:
		s.add(ItemAddedToClosedContentModel)
	case s.covers(covering, item):
		s.add(ItemAddedIsCoveredByPartiallyOpenContentModel)
	default:
		s.add(ItemAddedNotCoveredByPartiallyOpenContentModel)
	}
}
