package karapace

import (
	_ "embed"
	"testing"

	"moldau/test/differences"
)

//go:embed differences.txt
var differencesText string

func TestDifferences(t *testing.T) {
	all, err := differences.Parse(differencesText)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		listed bool
	}{
		{"test_health_check::test_health_check[pyloop]", true},
		{"test_schema_protobuf::test_references[pyloop-None-None-registry_cluster0-With reference, references not given]", true},
		{"test_schema_protobuf::test_references[pyloop-None-None-registry_cluster0-With reference]", false},
		{"test_schema::test_http_headers[pyloop]", false},
	} {
		if got := all.Find(c.name) != nil; got != c.listed {
			t.Errorf("%s: listed %t, want %t", c.name, got, c.listed)
		}
	}
}
