// Package schemas takes the real schemas that lie beside the checkout through everything that the registry does with them: each
// registers, or is refused, as the tables of the packages below registry/format say, which are what Java's parsers make of
// them; it reads back as itself; it is compatible with itself at every level; and a value that is made up for it is encoded,
// passes the validation of a broker, and comes back. Where the schemas are absent the tests are skipped.
//
// Start reading at schemas_test.go; value_avro_test.go, value_protobuf_test.go and value_json_test.go make values up.
package schemas
