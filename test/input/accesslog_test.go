package input

import (
	"bytes"
	"regexp"
	"testing"
)

var combined = regexp.MustCompile(`^198\.1[89]\.\d+\.\d+ - - \[[^]]+\] "[A-Z]+ \S+ HTTP/1\.1" \d{3} \d+ "[^"]*" "[^"]*"$`)

func TestGenerateAccessLog(t *testing.T) {
	log := GenerateAccessLog(AccessLogLines, 1)
	if !bytes.Equal(log, GenerateAccessLog(AccessLogLines, 1)) {
		t.Fatal("the same seed gave other bytes")
	}
	if bytes.Equal(log, GenerateAccessLog(AccessLogLines, 2)) {
		t.Fatal("another seed gave the same bytes")
	}
	lines := bytes.Split(bytes.TrimSuffix(log, []byte("\n")), []byte("\n"))
	if len(lines) != AccessLogLines {
		t.Fatalf("%d lines", len(lines))
	}
	distinct := map[string]bool{}
	for _, l := range lines {
		if !combined.Match(l) {
			t.Fatalf("not combined format: %s", l)
		}
		distinct[string(l)] = true
	}
	if len(distinct) == len(lines) {
		t.Error("no line occurs twice; the real log has such lines")
	}
	if mean := len(log) / len(lines); mean < 200 || mean > 270 {
		t.Errorf("%d bytes a line on average, the real log has about 237", mean)
	}
}

func TestAccessLogIsThere(t *testing.T) {
	if AccessLog(t) == "" {
		t.Fatal("no path")
	}
}
