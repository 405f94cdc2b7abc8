// Command moldau is a Kafka-compatible streaming platform in one binary: the
// server (`moldau serve`) and the tools that talk to it or to any other Kafka
// cluster.
package main

import (
	"context"
	"os"
)

// version is set by the linker.
var version = ""

func main() {
	os.Exit(run(context.Background(), streams{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
}
