// Command protodeps writes the .proto declarations of google/api and google/rpc that ours import, and those of google/type
// that the registry has built in.
//
// The declarations aren't fetched as source: they are printed from the descriptors that the linked Go package carries,
// so that proto text and generated Go types always agree. Comments are lost on the way. Run it with the folder to write
// to:
//
//	go run . ../../third_party/googleapis
//	go run . -types ../../registry/format/protobuf/builtin
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jhump/protoreflect/v2/protoprint"
	_ "google.golang.org/genproto/googleapis/api/annotations"
	_ "google.golang.org/genproto/googleapis/rpc/status"
	_ "google.golang.org/genproto/googleapis/type/calendarperiod"
	_ "google.golang.org/genproto/googleapis/type/color"
	_ "google.golang.org/genproto/googleapis/type/date"
	_ "google.golang.org/genproto/googleapis/type/datetime"
	_ "google.golang.org/genproto/googleapis/type/dayofweek"
	_ "google.golang.org/genproto/googleapis/type/decimal"
	_ "google.golang.org/genproto/googleapis/type/expr"
	_ "google.golang.org/genproto/googleapis/type/fraction"
	_ "google.golang.org/genproto/googleapis/type/interval"
	_ "google.golang.org/genproto/googleapis/type/latlng"
	_ "google.golang.org/genproto/googleapis/type/localized_text"
	_ "google.golang.org/genproto/googleapis/type/money"
	_ "google.golang.org/genproto/googleapis/type/month"
	_ "google.golang.org/genproto/googleapis/type/phone_number"
	_ "google.golang.org/genproto/googleapis/type/postaladdress"
	_ "google.golang.org/genproto/googleapis/type/quaternion"
	_ "google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// files are the declarations that files under proto/ import, and what those import in turn.
var files = []string{
	"google/api/annotations.proto",
	"google/api/field_behavior.proto",
	"google/api/http.proto",
	"google/rpc/status.proto",
}

// types are the declarations that the registry knows without being given them, as registries for Kafka do.
var types = []string{
	"google/type/calendar_period.proto",
	"google/type/color.proto",
	"google/type/date.proto",
	"google/type/datetime.proto",
	"google/type/dayofweek.proto",
	"google/type/decimal.proto",
	"google/type/expr.proto",
	"google/type/fraction.proto",
	"google/type/interval.proto",
	"google/type/latlng.proto",
	"google/type/localized_text.proto",
	"google/type/money.proto",
	"google/type/month.proto",
	"google/type/phone_number.proto",
	"google/type/postal_address.proto",
	"google/type/quaternion.proto",
	"google/type/timeofday.proto",
}

func main() {
	wanted := files
	onlyTypes := flag.Bool("types", false, "write google/type instead of what our own protos import")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: protodeps [-types] DIR")
		os.Exit(2)
	}
	if *onlyTypes {
		wanted = types
	}
	if err := run(wanted, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "protodeps:", err)
		os.Exit(1)
	}
}

func run(files []string, dir string) error {
	printer := protoprint.Printer{SortElements: false}
	for _, name := range files {
		desc, err := protoregistry.GlobalFiles.FindFileByPath(name)
		if err != nil {
			return fmt.Errorf("find %s: %w", name, err)
		}
		text, err := printer.PrintProtoToString(desc)
		if err != nil {
			return fmt.Errorf("print %s: %w", name, err)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
