package avro

import "fmt"

// checkNames holds the names of a schema against the rule under which older registries accepted them. Namespaces and
// aliases were never checked there, and references have been accepted before.
func checkNames(root *node) error {
	seen := map[*node]bool{}
	var walk func(n *node) error
	walk = func(n *node) error {
		if seen[n] {
			return nil
		}
		seen[n] = true
		if n.kind.named() {
			if err := checkName(n.name.simple, false, "name"); err != nil {
				return err
			}
		}
		for _, f := range n.fields {
			if err := checkName(f.name, false, "name"); err != nil {
				return fmt.Errorf("record %q: %w", n.name.full(), err)
			}
			if err := walk(f.typ); err != nil {
				return err
			}
		}
		for _, b := range n.branches {
			if err := walk(b); err != nil {
				return err
			}
		}
		if n.items != nil {
			return walk(n.items)
		}
		return nil
	}
	return walk(root)
}
