// Package record knows Kafka's record batches, message format 2 (KIP-98), and nothing else: no files, no topics, no protocol. It cuts
// batches out of bytes, validates what producers send, patches the header fields that a leader owns, walks, compresses, recompresses
// and builds.
//
// A Batch is a view of the caller's bytes. The broker stores the bytes it was sent and looks at records only to validate them, so the
// common path neither copies nor allocates. Everything from outside is bounded: a compressed payload is expanded piece by piece
// through a pooled buffer, within Limits, and answers ErrBomb beyond them.
//
// Message formats 0 and 1 are recognised by Peek and answered with ErrUnsupportedMagic everywhere else.
//
// Called by broker/partition and the produce path (Admit, Recompress), broker/storage (Next, Verify, the searches), the coordinators
// (Builder, Records), and by registry and gateway code that reads records. Compressor and Decompressor are shared, one each per
// process; all other values belong to one goroutine. The package starts no goroutines.
//
// Start reading at batch.go, then frame.go and check.go.
package record
