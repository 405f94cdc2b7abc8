//go:build bench

package bench

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// replayFrames sends prebuilt Produce requests, acks=all, five in flight on
// each of three connections, so that the client costs next to nothing.
func replayFrames(t *testing.T, addr, topic string, records int) int {
	t.Helper()
	const conns, perBatch, inFlight = 3, 150, 5
	batches := records / conns / perBatch
	batch := recordBatch(perBatch)
	var wg sync.WaitGroup
	for i := range conns {
		wg.Go(func() {
			turn := 0 // this partition and the next in turn
			requests := [2][]byte{produceRequest(topic, 2*i, 1, batch), produceRequest(topic, 2*i+1, 1, batch)}
			next := func() []byte {
				turn++
				return requests[turn%2]
			}
			if err := replay(addr, next, batches, inFlight); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return conns * perBatch * batches
}

func recordBatch(n int) []byte {
	var records []byte
	for i := range n {
		r := kmsg.NewRecord()
		r.OffsetDelta, r.Value = int32(i), make([]byte, 100)
		r.Length = int32(len(r.AppendTo(nil)) - 1)
		records = r.AppendTo(records)
	}
	rb := kmsg.NewRecordBatch()
	rb.PartitionLeaderEpoch, rb.Magic, rb.LastOffsetDelta = -1, 2, int32(n-1)
	rb.FirstTimestamp = time.Now().UnixMilli()
	rb.MaxTimestamp = rb.FirstTimestamp
	rb.ProducerID, rb.ProducerEpoch, rb.FirstSequence = -1, -1, -1
	rb.NumRecords, rb.Records = int32(n), records
	raw := rb.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// replay sends batches requests, of which next answers one after the other.
func replay(addr string, next func() []byte, batches, inFlight int) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	credits := make(chan struct{}, inFlight)
	failed := make(chan error, 1)
	go func() { failed <- drain(conn, batches, credits) }()
	for range batches {
		select {
		case credits <- struct{}{}:
		case err := <-failed:
			return err
		}
		if _, err := conn.Write(next()); err != nil {
			return err
		}
	}
	return <-failed
}

// drain reads the answers and checks that none carries an error: the error
// code stands behind the header, the topic's name and the partition's number.
func drain(conn net.Conn, batches int, credits <-chan struct{}) error {
	r := bufio.NewReaderSize(conn, 64<<10)
	var size [4]byte
	body := make([]byte, 0, 4096)
	for range batches {
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return err
		}
		body = body[:binary.BigEndian.Uint32(size[:])]
		if _, err := io.ReadFull(r, body); err != nil {
			return err
		}
		resp := kmsg.NewPtrProduceResponse()
		resp.Version = 9
		if err := resp.ReadFrom(body[5:]); err != nil {
			return err
		}
		for _, p := range resp.Topics[0].Partitions {
			if p.ErrorCode != 0 {
				return fmt.Errorf("produce to partition %d answered error code %d", p.Partition, p.ErrorCode)
			}
		}
		<-credits
	}
	return nil
}
