//go:build bench

package bench

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	datav1 "moldau/gen/moldau/data/v1"
	"moldau/test/peers"
)

// TestDoors prints what the gateway's doors take: REST with one small record
// a request over 64 connections, and gRPC streams of batches of 500. The
// clients run in this process; the processor time is the server's, broker
// included.
func TestDoors(t *testing.T) {
	rounds := setting("BENCH_ROUNDS", defaultRounds)
	bin := peers.BuildMoldau(t)
	table(t, "doors, 100 B records", "door", "durability", "records/s", "server CPU, µs/record", "records a core-second")
	var outcomes []string
	for _, durability := range []string{"relaxed", "strict"} {
		m := peers.StartMoldau(t, bin, "--set", "durability="+durability)
		b := broker{durability, m.Kafka(), m.Pid}
		createTopic(t, b.addr, "doors")
		for _, door := range []struct {
			name string
			aim  float64 // records a core-second
			run  func() int
		}{
			{"REST, a record a request", 20_000, func() int { return postRecords(t, m.Addresses["http"], setting("BENCH_REQUESTS", 50_000)) }},
			{"gRPC stream", 300_000, func() int { return streamRecords(t, m.Addresses["grpc"], setting("BENCH_RECORDS", defaultRecords)) }},
		} {
			var samples []Sample
			for round := range rounds + 1 {
				if s := sampled(t, b, door.run); round > 0 {
					samples = append(samples, s)
				}
			}
			cpu := Summarize(samples, Sample.PerRecord)
			line(t, door.name, durability, Summarize(samples, Sample.Rate).String(), cpu.String(), number(1e6/cpu.Median))
			outcomes = append(outcomes, atLeast(door.name+", "+durability, 1e6/cpu.Median, door.aim))
		}
	}
	aim(t, "records a core-second", outcomes...)
}

func postRecords(t *testing.T, addr string, requests int) int {
	t.Helper()
	const conns = 64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: conns}}
	defer client.CloseIdleConnections()
	body := fmt.Appendf(nil, `{"records":[{"value":%q}]}`, bytes.Repeat([]byte("v"), 100))
	var wg sync.WaitGroup
	for range conns {
		wg.Go(func() {
			for range requests / conns {
				resp, err := client.Post("http://"+addr+"/v1/topics/doors/records", "application/json", bytes.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				text, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Errorf("status %d, %v: %s", resp.StatusCode, err, text)
					return
				}
			}
		})
	}
	wg.Wait()
	return requests / conns * conns
}

func streamRecords(t *testing.T, addr string, records int) int {
	t.Helper()
	const streams, perBatch = 2, 500
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	value := &datav1.Payload{Content: &datav1.Payload_Raw{Raw: bytes.Repeat([]byte("v"), 100)}}
	batch := &datav1.ProduceStreamRequest{Topic: "doors"}
	for range perBatch {
		batch.Records = append(batch.Records, &datav1.Record{Value: value})
	}
	batches := records / streams / perBatch
	var wg sync.WaitGroup
	for range streams {
		wg.Go(func() {
			if err := streamBatches(t, datav1.NewProducerServiceClient(conn), batch, batches); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return streams * batches * perBatch
}

func streamBatches(t *testing.T, client datav1.ProducerServiceClient, batch *datav1.ProduceStreamRequest, batches int) error {
	t.Helper()
	stream, err := client.ProduceStream(t.Context())
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() {
		for range batches {
			if err := stream.Send(batch); err != nil {
				sent <- err
				return
			}
		}
		sent <- stream.CloseSend()
	}()
	for range batches {
		resp, err := stream.Recv()
		if err != nil {
			return err
		}
		if resp.Error != nil || len(resp.Results) != len(batch.Records) || resp.Results[0].GetPosition() == nil {
			return fmt.Errorf("batch answered with %d results, %v", len(resp.Results), resp.Error)
		}
	}
	return <-sent
}
