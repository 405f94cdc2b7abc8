// Command access-log writes a generated access log to standard output, for
// scripts that run where the real one is absent.
package main

import (
	"flag"
	"fmt"
	"os"

	"moldau/test/input"
)

func main() {
	lines := flag.Int("lines", input.AccessLogLines, "number of lines")
	seed := flag.Uint64("seed", 1, "seed; the same seed gives the same bytes")
	flag.Parse()
	if _, err := os.Stdout.Write(input.GenerateAccessLog(*lines, *seed)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
