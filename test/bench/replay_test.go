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
	var wg sync.WaitGroup
	for i := range conns {
		wg.Go(func() {
			if err := replay(addr, frames(topic, int32(2*i), perBatch), batches, inFlight); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return conns * perBatch * batches
}

// frames is one request of two kinds: for this partition and for the next.
func frames(topic string, partition int32, perBatch int) [2][]byte {
	var out [2][]byte
	for i := range out {
		req := kmsg.NewPtrProduceRequest()
		req.Version, req.Acks, req.TimeoutMillis = 9, -1, 30_000
		rt := kmsg.NewProduceRequestTopic()
		rt.Topic = topic
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Partition, rp.Records = partition+int32(i), recordBatch(perBatch)
		rt.Partitions = append(rt.Partitions, rp)
		req.Topics = append(req.Topics, rt)
		out[i] = kmsg.NewRequestFormatter(kmsg.FormatterClientID("replay")).AppendRequest(nil, req, 1)
	}
	return out
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

func replay(addr string, requests [2][]byte, batches, inFlight int) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	credits := make(chan struct{}, inFlight)
	failed := make(chan error, 1)
	go func() { failed <- drain(conn, batches, credits) }()
	for i := range batches {
		select {
		case credits <- struct{}{}:
		case err := <-failed:
			return err
		}
		if _, err := conn.Write(requests[i%2]); err != nil {
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
		if code := resp.Topics[0].Partitions[0].ErrorCode; code != 0 {
			return fmt.Errorf("produce answered error code %d", code)
		}
		<-credits
	}
	return nil
}
