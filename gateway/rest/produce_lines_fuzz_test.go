package rest

import (
	"bytes"
	"testing"

	"moldau/gateway"
)

// However a body is cut, each line that is not empty is one record, good or refused, and nothing else is.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"{\"value\":1}\n{}\n\n \t\r\n[]\n{\"key\":\"a\\u00e9\",\"headers\":[{\"key\":\"h\"}]} x\r\n{\"value\":", "\n", "{}", "\x00\n{\"value_base64\":\"YQ==\"}",
	} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, body []byte, cut int) {
		want := 0
		for line := range bytes.SplitSeq(body, []byte{'\n'}) {
			if len(bytes.Trim(line, " \t\r")) > 0 {
				want++
			}
		}
		cut = min(max(cut, 0), len(body))
		s := &lineStream{most: 3, query: linesQuery{partition: gateway.AnyPartition}}
		got, rest := 0, []byte(nil)
		for i, part := range [][]byte{body[:cut], body[cut:]} {
			s.eof = i == 1
			rest = append(bytes.Clone(rest), part...)
			for more := true; more; {
				p := &piece{produceCall: &produceCall{batch: gateway.NewBatch(), body: rest}}
				left := s.parse(p)
				more = len(left) < len(rest) && len(left) > 0
				rest = left
				got += len(p.batch.Records)
				if len(p.batch.Records) > s.most {
					t.Fatalf("%d records in a piece", len(p.batch.Records))
				}
			}
		}
		if got != want || len(rest) > 0 || int64(got) != s.read {
			t.Fatalf("%d records of %d lines, %d counted, %d bytes left", got, want, s.read, len(rest))
		}
	})
}
