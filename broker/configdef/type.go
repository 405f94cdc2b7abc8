package configdef

// Type is the type of a config's value. The numbers are those of DescribeConfigs.
type Type int8

// The types that Kafka's configs have.
const (
	Boolean  Type = 1
	String   Type = 2
	Int      Type = 3
	Short    Type = 4
	Long     Type = 5
	Double   Type = 6
	List     Type = 7
	Class    Type = 8
	Password Type = 9
)

// String returns Kafka's name of the type, as it appears in error texts.
func (t Type) String() string {
	switch t {
	case Boolean:
		return "BOOLEAN"
	case String:
		return "STRING"
	case Int:
		return "INT"
	case Short:
		return "SHORT"
	case Long:
		return "LONG"
	case Double:
		return "DOUBLE"
	case List:
		return "LIST"
	case Class:
		return "CLASS"
	case Password:
		return "PASSWORD"
	}
	return "UNKNOWN"
}

// Importance is how likely it is that an operator has to care.
type Importance uint8

// Kafka's three degrees.
const (
	High Importance = iota
	Medium
	Low
)

// String returns Kafka's name of the importance.
func (i Importance) String() string {
	return [...]string{"HIGH", "MEDIUM", "LOW"}[i]
}

// Status says whether this broker acts on a config.
type Status uint8

const (
	// Honoured configs do what their documentation says.
	Honoured Status = iota
	// Partly honoured configs do some of it; Key.Reason says what is missing.
	Partly
	// NotYet honoured configs are accepted, kept and shown, and change nothing; Key.Reason says why.
	NotYet
)

// String returns the word used in the documentation.
func (s Status) String() string {
	return [...]string{"honoured", "partly", "not yet"}[s]
}

// Scope says how a broker config may be changed while the broker runs.
type Scope uint8

const (
	// ReadOnly configs are read at start.
	ReadOnly Scope = iota
	// ClusterWide configs may be set for one broker, or for all as their default.
	ClusterWide
)

// String returns the name that Kafka's documentation uses.
func (s Scope) String() string {
	return [...]string{"read-only", "cluster-wide"}[s]
}
