package avro

// deviations are texts that Java normalizes to something that means less or something else, with our normalized text:
// Java drops a default that fits another branch of the union than the first or (in a schema accepted earlier)
// nothing at all, and moves a type without a namespace into
// the namespace around it.
var deviations = map[string]string{
	`{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":1.5}]}`:                                                                               `{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":1.5}]}`,
	`{"type":"record","name":"R","fields":[{"name":"a","type":["null","string"],"default":"x"}]}`:                                                                   `{"type":"record","name":"R","fields":[{"name":"a","type":["null","string"],"default":"x"}]}`,
	`{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":{"type":"record","name":"In","namespace":"","fields":[]}},{"name":"b","type":"In"}]}`: `{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":{"type":"record","name":"In","namespace":"","fields":[]}},{"name":"b","type":"In"}]}`,
}
