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

// Requests are replayed on replayConns connections and hold replayRecords records each.
const replayConns, replayRecords = 3, 150

// replayFrames sends requests for one partition each; a connection has two partitions of its own.
func replayFrames(t *testing.T, addr, topic string, records int) int {
	t.Helper()
	batch := recordBatch(replayRecords)
	var requests [][]byte
	for p := range 2 * replayConns {
		requests = append(requests, produceRequest(topic, p, 1, batch))
	}
	return replayAll(t, addr, records, func(conn, turn int) []byte { return requests[2*conn+turn%2] })
}

// replayAll sends prebuilt Produce requests, acks=all, five in flight on each
// connection, so that the client costs next to nothing. request answers the
// one for a turn of a connection.
func replayAll(t *testing.T, addr string, records int, request func(conn, turn int) []byte) int {
	t.Helper()
	const inFlight = 5
	turns := replayed(records) / replayConns / replayRecords
	var wg sync.WaitGroup
	for conn := range replayConns {
		wg.Go(func() {
			if err := replay(addr, turns, inFlight, func(turn int) []byte { return request(conn, turn) }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return replayed(records)
}

// replayed is how many of so many records whole requests can hold, as many on
// each connection.
func replayed(records int) int {
	const turn = replayConns * replayRecords
	return records / turn * turn
}

// produceRequest is one frame with the same batch for n partitions.
func produceRequest(topic string, first, n int, batch []byte) []byte {
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 9, -1, 30_000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic = topic
	for i := range n {
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Partition, rp.Records = int32(first+i), batch
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("replay")).AppendRequest(nil, req, 1)
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

// replay sends the requests of all turns over one connection.
func replay(addr string, turns, inFlight int, request func(turn int) []byte) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	credits := make(chan struct{}, inFlight)
	failed := make(chan error, 1)
	go func() { failed <- drain(conn, turns, credits) }()
	for turn := range turns {
		select {
		case credits <- struct{}{}:
		case err := <-failed:
			return err
		}
		if _, err := conn.Write(request(turn)); err != nil {
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
