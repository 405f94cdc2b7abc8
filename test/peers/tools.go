package peers

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Tools runs the command line tools of Apache Kafka. The zero value is not
// usable; see [NewTools].
type Tools struct{ classpath string }

// NewTools resolves the class path of Apache Kafka and returns its tools.
func NewTools(tb testing.TB) Tools {
	tb.Helper()
	return Tools{classpath: classpath(tb)}
}

// The main classes of the tools, by the name of their script.
const (
	TopicCommand        = "org.apache.kafka.tools.TopicCommand"
	ConfigCommand       = "org.apache.kafka.tools.ConfigCommand"
	GetOffsetShell      = "org.apache.kafka.tools.GetOffsetShell"
	ConsoleProducer     = "org.apache.kafka.tools.ConsoleProducer"
	ConsoleConsumer     = "org.apache.kafka.tools.consumer.ConsoleConsumer"
	ProducerPerformance = "org.apache.kafka.tools.ProducerPerformance"
	ConsumerPerformance = "org.apache.kafka.tools.ConsumerPerformance"
	DumpLogSegments     = "org.apache.kafka.tools.DumpLogSegments"
)

// Run starts the main class with args and stdin (may be empty) and returns
// what it wrote to standard output and standard error. A non-zero exit is an
// error. The virtual machine compiles quickly rather than well, which suits
// tools that end soon; see [Tools.RunLoad] for others.
func (t Tools) Run(class, stdin string, args ...string) (stdout, stderr string, err error) {
	return t.run([]string{"-Xmx256m", "-XX:TieredStopAtLevel=1"}, class, stdin, args)
}

// RunLoad is Run with the virtual machine that the scripts of these tools
// start: 512 MiB of heap and the optimizing compiler. A client without it is
// so slow that it sends requests of another shape.
func (t Tools) RunLoad(class string, args ...string) (stdout, stderr string, err error) {
	return t.run([]string{"-Xmx512m"}, class, "", args)
}

// WriteScript writes a shell script that starts the main class with the
// script's own arguments, as Kafka's distribution has one for each tool.
func (t Tools) WriteScript(tb testing.TB, path, class string) {
	tb.Helper()
	script := fmt.Sprintf("#!/bin/sh\nexec java -Xmx256m -XX:TieredStopAtLevel=1 -cp '%s' %s \"$@\"\n", t.classpath, class)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil { //nolint:gosec // it is to be run
		tb.Fatalf("peers: %v", err)
	}
}

func (t Tools) run(machine []string, class, stdin string, args []string) (stdout, stderr string, err error) {
	cmd := exec.Command("java", slices.Concat(machine, []string{"-cp", t.classpath, class}, args)...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func runJava(tb testing.TB, cp, dir, class string, args ...string) string {
	tb.Helper()
	cmd := exec.Command("java", append([]string{"-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", cp, class}, args...)...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("peers: %s %s: %v\n%s%s", class, strings.Join(args, " "), err, out, errs.String())
	}
	return string(out)
}
