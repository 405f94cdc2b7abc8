package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestMetricNames holds the names that dashboards of Kafka look for.
func TestMetricNames(t *testing.T) {
	d := open(t)
	w := d.wire()
	hello := kmsg.NewPtrApiVersionsRequest()
	hello.Version, hello.ClientSoftwareName, hello.ClientSoftwareVersion = 3, "test-client", "1.0"
	ask[*kmsg.ApiVersionsResponse](w, hello)
	id := w.createTopic("measured")
	for range 3 {
		ask[*kmsg.ProduceResponse](w, produceOne(9, -1, "measured", id, 0, batch(t, "a", "b")))
	}
	ask[*kmsg.ProduceResponse](w, produceOne(9, -1, "nobody", id, 0, batch(t, "a")))
	fetched := ask[*kmsg.FetchResponse](w, fetchOne(12, "measured", id, 0))
	bytesOut := float64(len(fetched.Topics[0].Partitions[0].RecordBatches))

	found := gather(t, d)
	for name, want := range map[string]float64{
		`kafka_server_brokertopicmetrics_messagesinpersec{topic="measured"}`:                                                              6,
		`kafka_server_brokertopicmetrics_messagesinpersec`:                                                                                6,
		`kafka_server_brokertopicmetrics_messagesin_total{topic="measured"}`:                                                              6,
		`kafka_server_brokertopicmetrics_bytesoutpersec{topic="measured"}`:                                                                bytesOut,
		`kafka_server_brokertopicmetrics_bytesout_total`:                                                                                  bytesOut,
		`kafka_server_brokertopicmetrics_totalproducerequestspersec{topic="measured"}`:                                                    3,
		`kafka_server_brokertopicmetrics_totalfetchrequestspersec{topic="measured"}`:                                                      1,
		`kafka_network_requestmetrics_requestspersec{request="Produce",version="9"}`:                                                      4,
		`kafka_network_requestmetrics_requests_total{request="FetchConsumer",version="12"}`:                                               1,
		`kafka_network_requestmetrics_errorspersec{error="NONE",request="Produce"}`:                                                       3,
		`kafka_network_requestmetrics_errors_total{error="UNKNOWN_TOPIC_OR_PARTITION",request="Produce"}`:                                 1,
		`kafka_network_requestmetrics_totaltimems{request="Produce"}`:                                                                     4,
		`kafka_network_requestchannel_requestqueuesize`:                                                                                   0,
		`kafka_network_requestchannel_responsequeuesize`:                                                                                  0,
		`kafka_server_socketservermetrics_connection_count{listener="PLAINTEXT"}`:                                                         1,
		`kafka_server_socketservermetrics_connections{clientsoftwarename="test-client",clientsoftwareversion="1.0",listener="PLAINTEXT"}`: 1,
	} {
		if got, ok := found[name]; !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
	for _, name := range []string{
		"kafka_network_socketserver_networkprocessoravgidlepercent", "kafka_network_socketserver_networkprocessoravgidle_percent",
		"kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_total",
		"kafka_server_kafkarequesthandlerpool_requesthandleravgidlepercent_oneminuterate",
		"kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent",
	} {
		if got, ok := found[name]; !ok || got < 0 || got > 1 {
			t.Errorf("%s is %v (%v), want a share", name, got, ok)
		}
	}
	for name := range found {
		if strings.Contains(name, "nobody") {
			t.Errorf("%s: a series for a topic that is not there", name)
		}
	}
}

// gather reads all metrics: values of counters and gauges, counts of summaries.
func gather(t *testing.T, d *door) map[string]float64 {
	t.Helper()
	families, err := d.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+`="`+l.GetValue()+`"`)
			}
			name := f.GetName()
			if len(labels) > 0 {
				name += "{" + strings.Join(labels, ",") + "}"
			}
			found[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetSummary().GetSampleCount())
		}
	}
	return found
}

func TestHistogram(t *testing.T) {
	for _, d := range []time.Duration{
		0, time.Microsecond, 7 * time.Microsecond, 8 * time.Microsecond, 15 * time.Microsecond,
		16 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, 1234 * time.Millisecond, 19 * time.Minute,
	} {
		end := bucketEnd(bucketOf(d))
		if end <= d || end > d+d/8+time.Microsecond {
			t.Errorf("%v is told as %v", d, end)
		}
	}
	if last := bucketOf(1 << 62); last != bucketCount-1 {
		t.Errorf("the longest time is in bucket %d", last)
	}
	var h histogram
	for i := range 1000 {
		h.observe(time.Duration(i+1) * time.Millisecond)
	}
	for i, got := range h.quantiles([]float64{0.5, 0.99}) {
		if want := []float64{0.5, 0.99}[i]; got < want || got > want*1.13 {
			t.Errorf("quantile %v is %v s", want, got)
		}
	}
	h.rotate()
	if q := h.quantiles([]float64{0.5})[0]; q < 0.5 {
		t.Errorf("one window later the median is %v", q)
	}
	h.rotate()
	if q := h.quantiles([]float64{0.5})[0]; q != 0 {
		t.Errorf("two windows later the median is %v", q)
	}
	if h.count.Load() != 1000 || h.sum.Load() != int64(500_500*time.Millisecond) {
		t.Errorf("count %d, sum %d", h.count.Load(), h.sum.Load())
	}
}

func TestIdleMeter(t *testing.T) {
	m := newIdleMeter()
	busy := time.Duration(0)
	for s := range 300 {
		busy += 2 * time.Second // 2 of 8 threads
		m.tick(time.Duration(s+1)*time.Second, busy, 8)
	}
	if v := m.value(); v < 0.74 || v > 0.76 {
		t.Errorf("idle %v, want 0.75", v)
	}
}

func TestLoadCountsWhatIsUnderWay(t *testing.T) {
	var l load
	l.begin(2 * time.Second)
	l.begin(3 * time.Second)
	l.end(2*time.Second, 4*time.Second)
	l.add(time.Second)
	if got := l.total(10 * time.Second); got != 2*time.Second+7*time.Second+time.Second {
		t.Errorf("busy for %v", got)
	}
}
