package jsonschema

import library "github.com/santhosh-tekuri/jsonschema/v6"

// Compiled is the schema as the validator library has it, with every reference resolved, for those who check values in
// another way than Accept does. Nobody changes it. It is nil for a stored schema that does not compile.
func (s *Schema) Compiled() *library.Schema {
	if s.broken != nil {
		return nil
	}
	return s.compiled.root
}
