package kafka

import (
	"bytes"
	"fmt"
)

// sniff names what a peer speaks when its first bytes are no Kafka frame. b holds what arrived so far, at least the
// four bytes that would be the size of the frame.
func sniff(b []byte) string {
	for _, p := range protocols {
		if bytes.HasPrefix(b, []byte(p.prefix)) {
			return p.name
		}
	}
	return fmt.Sprintf("bytes that are not Kafka's protocol (%#x)", b[:min(len(b), 8)])
}

// protocols are told apart by their first bytes. Read as the size of a frame all of them exceed any permitted one.
var protocols = []struct{ prefix, name string }{
	{"\x16\x03", "TLS (a client hello) on a listener without TLS"},
	{"\x15\x03", "TLS (an alert) on a listener without TLS"},
	{"PRI ", "HTTP/2 or gRPC on a Kafka listener"},
	{"GET ", "HTTP on a Kafka listener"},
	{"POST", "HTTP on a Kafka listener"},
	{"PUT ", "HTTP on a Kafka listener"},
	{"HEAD", "HTTP on a Kafka listener"},
	{"DELE", "HTTP on a Kafka listener"},
	{"OPTI", "HTTP on a Kafka listener"},
	{"PATC", "HTTP on a Kafka listener"},
	{"CONN", "HTTP on a Kafka listener"},
	{"TRAC", "HTTP on a Kafka listener"},
	{"HTTP", "an HTTP response on a Kafka listener"},
	{"SSH-", "SSH on a Kafka listener"},
	{"PROX", "the PROXY protocol, which is not enabled on this listener"},
	{"\x0d\x0a\x0d\x0a\x00\x0d\x0a\x51", "the PROXY protocol, which is not enabled on this listener"},
}
