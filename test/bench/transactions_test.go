//go:build bench

package bench

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/test/peers"
)

// smallTransactionProducers is how many producers commit small transactions at a time.
const smallTransactionProducers = 16

// TestTransactions prints what transactions cost: the Java client ends one every 100 ms while it writes as fast as it can, and
// sixteen Go clients end one after each record.
func TestTransactions(t *testing.T) {
	if testing.Short() {
		t.Skip("-short runs the rows that matter most")
	}
	records, rounds := setting("BENCH_RECORDS", defaultRecords), setting("BENCH_ROUNDS", defaultRounds)
	tools, brokers := peers.NewTools(t), contestants(t)
	plain, long, small := map[string][]Sample{}, map[string][]Sample{}, map[string][]Sample{}
	for round := range rounds + 1 { // the first round warms up and is not counted
		for _, b := range brokers {
			run := func(samples map[string][]Sample, name string, load func(topic string) int) {
				topic := fmt.Sprintf("%s-%d", name, round)
				createTopic(t, b.addr, topic)
				s := sampled(t, b, func() int { return load(topic) })
				deleteTopic(t, b.addr, topic)
				if round > 0 {
					samples[b.name] = append(samples[b.name], s)
				}
			}
			run(plain, "plain", func(topic string) int { return perfProduce(t, tools, b, topic, records, 100) })
			run(long, "transactions", func(topic string) int {
				return perfProduce(t, tools, b, topic, records, 100, "--transactional-id", topic, "--transaction-duration-ms", "100")
			})
			run(small, "small-transactions", func(topic string) int { return smallTransactions(t, b.addr, topic, records/400) })
		}
	}
	printLongTransactions(t, brokers, plain, long)
	printSmallTransactions(t, brokers, small)
}

// printLongTransactions compares transactions of 100 ms with no transactions.
func printLongTransactions(t *testing.T, brokers []broker, plain, long map[string][]Sample) {
	t.Helper()
	table(t, "Java producer, 100 B, a transaction every 100 ms", "broker", "records/s", "× without transactions", "× Kafka",
		"broker CPU, µs/record", "× without transactions", "× Kafka")
	rate := func(samples map[string][]Sample, b broker) Spread { return Summarize(samples[b.name], Sample.Rate) }
	cost := func(samples map[string][]Sample, b broker) Spread {
		return Summarize(samples[b.name], Sample.PerRecord)
	}
	kafka := brokers[0]
	var ofPlain, ofKafka []float64
	for _, b := range brokers {
		r, c := rate(long, b), cost(long, b)
		ofPlain = append(ofPlain, r.Median/rate(plain, b).Median)
		ofKafka = append(ofKafka, r.Median/rate(long, kafka).Median)
		line(t, b.name, r.String(), number(ofPlain[len(ofPlain)-1]), number(ofKafka[len(ofKafka)-1]),
			c.String(), number(c.Median/cost(plain, b).Median), number(c.Median/cost(long, kafka).Median))
	}
	aim(t, "records/s", atLeast("relaxed × Kafka", ofKafka[1], 1), atLeast("relaxed × without", ofPlain[1], 0.85),
		atLeast("strict × without", ofPlain[2], 0.85))
}

// printSmallTransactions tells how many transactions of one record each broker ends.
func printSmallTransactions(t *testing.T, brokers []broker, small map[string][]Sample) {
	t.Helper()
	table(t, fmt.Sprintf("transactions of one record, %d producers", smallTransactionProducers), "broker", "transactions/s", "× Kafka",
		"broker CPU, µs/transaction", "× Kafka")
	base := small[brokers[0].name]
	rate, cpu := Summarize(base, Sample.Rate).Median, Summarize(base, Sample.PerRecord).Median
	var ofRate []float64
	for _, b := range brokers {
		r, c := Summarize(small[b.name], Sample.Rate), Summarize(small[b.name], Sample.PerRecord)
		ofRate = append(ofRate, r.Median/rate)
		line(t, b.name, r.String(), number(r.Median/rate), c.String(), number(c.Median/cpu))
	}
	aim(t, "transactions/s × Kafka", atLeast("relaxed", ofRate[1], 1), atLeast("strict", ofRate[2], 0.7))
}

// smallTransactions ends so many transactions of one record, by several producers at a time, and answers how many.
func smallTransactions(t *testing.T, addr, topic string, transactions int) int {
	t.Helper()
	each := transactions / smallTransactionProducers
	var wg sync.WaitGroup
	for p := range smallTransactionProducers {
		wg.Go(func() {
			if err := transact(t, addr, topic, topic+"-"+strconv.Itoa(p), each); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return each * smallTransactionProducers
}

// transact ends n transactions of one producer.
func transact(t *testing.T, addr, topic, id string, n int) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic(topic), kgo.TransactionalID(id), kgo.ProducerLinger(0))
	if err != nil {
		return err
	}
	defer cl.Close()
	for range n {
		if err := cl.BeginTransaction(); err != nil {
			return err
		}
		if err := cl.ProduceSync(t.Context(), &kgo.Record{Value: make([]byte, 100)}).FirstErr(); err != nil {
			return err
		}
		if err := cl.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
			return err
		}
	}
	return nil
}
