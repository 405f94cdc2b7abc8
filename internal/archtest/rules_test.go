package archtest

// rule says what one room, a package and everything below it, may import from
// this module. The longest matching room wins.
type rule struct {
	room string
	may  []string // packages, or a folder followed by /... for all below it
	why  string
}

// everywhere may be imported by every room: assertions that cost nothing.
const everywhere = "moldau/internal/invariant"

var rules = []rule{
	{
		"moldau/cmd",
		[]string{"moldau/..."},
		"cmd is the only place that wires rooms together",
	},
	{
		"moldau/test",
		[]string{"moldau/..."},
		"tests of the whole reach everything; nothing may import them",
	},
	{
		"moldau/gateway",
		[]string{"moldau/gateway/...", "moldau/broker/record", "moldau/registry/...", "moldau/gen/...", "moldau/internal/..."},
		"the gateway is a Kafka client: it reaches the broker by protocol, so that it also runs in front of other clusters",
	},
	{
		"moldau/connect",
		[]string{"moldau/connect/...", "moldau/broker/record", "moldau/registry/...", "moldau/gen/...", "moldau/internal/..."},
		"connect is a Kafka client, like the gateway",
	},
	{
		"moldau/registry",
		[]string{"moldau/registry/...", "moldau/broker/record", "moldau/gen/...", "moldau/proto", "moldau/internal/..."},
		"the registry keeps its state in a topic and reaches it by protocol",
	},
	{
		"moldau/broker/kafka",
		[]string{"moldau/broker", "moldau/broker/record", "moldau/broker/storage", "moldau/broker/metadata", "moldau/broker/configdef", "moldau/internal/..."},
		"the Kafka edge calls the broker's verbs; of the rooms below it sees only the values they return (slices, images, config tables)",
	},
	{
		"moldau/broker/record",
		nil,
		"record batches are pure bytes",
	},
	{
		"moldau/broker/storage",
		[]string{"moldau/broker/storage/compact", "moldau/broker/record", "moldau/internal/vfs"},
		"the log knows bytes and files, not topics' meaning or peers",
	},
	{
		"moldau/broker/metadata",
		[]string{"moldau/broker/metadata/...", "moldau/internal/vfs"},
		"the metadata store knows nothing of logs and connections",
	},
	{
		"moldau/broker/controller",
		[]string{"moldau/broker/metadata"},
		"the controller is a pure function from image and event to metadata transactions",
	},
	{
		"moldau/broker/configdef",
		[]string{"moldau/broker/storage", "moldau/broker/record"},
		"the table of configs turns texts into the values of the rooms that honour them",
	},
	{
		"moldau/broker/clientmetrics",
		[]string{"moldau/broker/configdef", "moldau/broker/record"},
		"the metrics that clients push concern neither logs nor metadata",
	},
	{
		"moldau/broker/partition",
		[]string{"moldau/broker/storage", "moldau/broker/record", "moldau/broker/metadata", "moldau/broker/configdef", "moldau/internal/vfs"},
		"a partition joins a log with its place in the image; it never looks up",
	},
	{
		"moldau/broker/coordinator",
		[]string{"moldau/broker/coordinator/...", "moldau/broker/partition", "moldau/broker/metadata", "moldau/broker/record"},
		"a coordinator decides over records of a partition; it knows no connections",
	},
	{
		"moldau/broker",
		[]string{
			"moldau/broker/partition", "moldau/broker/storage", "moldau/broker/record", "moldau/broker/metadata/...",
			"moldau/broker/controller", "moldau/broker/configdef", "moldau/broker/coordinator/...", "moldau/broker/clientmetrics", "moldau/internal/...",
		},
		"the node builds its rooms; its doors (kafka, gateway, registry, connect) build on it, never the other way",
	},
	{
		"moldau/gen",
		[]string{"moldau/gen/..."},
		"generated code stands alone",
	},
	{
		"moldau/proto",
		nil,
		"the files that a server publishes are texts",
	},
	{
		"moldau/internal",
		nil,
		"an internal package has one purpose and needs none of the rooms",
	},
}

// foreign lists libraries that only some rooms may import, by the import path
// or its prefix.
var foreign = []struct {
	library string
	rooms   []string
	why     string
}{
	{
		"github.com/twmb/franz-go/pkg/kmsg",
		[]string{"moldau/broker/kafka", "moldau/broker/coordinator", "moldau/cmd", "moldau/test", "moldau/gateway", "moldau/registry", "moldau/connect", "moldau/internal/inproc"},
		"wire structs stop at broker/kafka; below it only bytes of record batches travel, and coordinators' records in Kafka's schemas",
	},
	{
		"github.com/twmb/franz-go/pkg/kgo",
		[]string{"moldau/cmd", "moldau/test", "moldau/gateway", "moldau/registry", "moldau/connect", "moldau/internal/inproc"},
		"the broker is no client of itself",
	},
	{
		"github.com/dgraph-io/badger",
		[]string{"moldau/broker/metadata/embedded"},
		"the store behind metadata.Store can be exchanged because one package knows it",
	},
	{
		"github.com/spf13/",
		[]string{"moldau/cmd"},
		"commands are wiring",
	},
	{
		"google.golang.org/grpc",
		[]string{"moldau/gateway", "moldau/gen", "moldau/cmd", "moldau/test", "moldau/internal/inproc"},
		"gRPC is one of the gateway's doors",
	},
}
