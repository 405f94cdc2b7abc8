package producer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Everything at once: callers that wait and callers that do not, bad records, answers and requests that get lost, leaders that move, brokers
// that can't, brokers that name all bad records, or one, or none. Every record is written once, in its place and in order, or refused, but
// for a few of which it can't be known: their answer was lost, and what the broker said when they came again fits no order of events. They
// are in the log once or not at all. Run a seed again with PRODUCER_SEED.
func TestChaos(t *testing.T) {
	seeds := []uint64{1, uint64(time.Now().UnixNano())}
	if text := os.Getenv("PRODUCER_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = []uint64{seed}
	}
	for _, seed := range seeds {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { chaos(t, seed) })
	}
}

// mostDoubts is how many of some seven hundred records may end unknown.
const mostDoubts = 60

func chaos(t *testing.T, seed uint64) {
	dice := rand.New(rand.NewPCG(seed, 1))
	linger := time.Duration(dice.IntN(2)) * time.Millisecond
	e := newEnv(t, func(c *Config) { c.Linger = linger }, kfake.NumBrokers(3), kfake.SeedTopics(3, "t"))
	e.latency = time.Duration(dice.IntN(4)) * time.Millisecond
	e.cluster.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		e.cluster.KeepControl()
		q := req.(*kmsg.ProduceRequest)
		judge := naming([]int{0, 1, 1000}[dice.IntN(3)]) // one goroutine runs all controls
		switch dice.IntN(24) {
		case 0:
			return nil, errors.New("the connection breaks"), true
		case 1:
			e.lose.Store(1)
		case 2:
			judge = func([]string) (int16, string, []recordError) { return kerr.NotLeaderForPartition.Code, "", nil }
		}
		resp, refused := e.judge(q, judge)
		return resp, nil, refused
	})
	known := e.topic("t")
	const callers = 6
	all := make([][]*waited, callers)
	group(callers+1, func(i int) {
		dice := rand.New(rand.NewPCG(seed, uint64(i)+2))
		for j := range 40 {
			if i == callers {
				if j%6 == 0 {
					e.cluster.ShufflePartitionLeaders()
				}
				_ = e.client.Ping(t.Context()) // it takes a moment; an error is another fault
				continue
			}
			c := call()
			for k := range 1 + dice.IntN(5) {
				v := fmt.Sprintf("%d-%d-%d", i, j, k)
				if dice.IntN(10) == 0 {
					v = "bad" + v
				}
				r := kgo.Record{Value: []byte(v)}
				if dice.IntN(2) == 0 {
					r.Key = []byte{byte(dice.IntN(10))}
				}
				c.Records = append(c.Records, r)
			}
			e.producer.Produce(known, &c.Call)
			all[i] = append(all[i], c)
			if dice.IntN(4) == 0 {
				c.wait(t)
			}
		}
	})
	judge(t, e, all, mostDoubts)
}
