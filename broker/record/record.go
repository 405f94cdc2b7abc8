package record

// Record is one record of a batch. A nil Key or Value is Kafka's null; an empty one that is not nil is present and empty.
type Record struct {
	Offset    int64
	Timestamp int64 // milliseconds since 1970, or NoTimestamp
	Key       []byte
	Value     []byte
	Headers   []Header
}

// Header is one header of a record. Key is text and never null; a nil Value is Kafka's null.
type Header struct {
	Key   []byte
	Value []byte
}
