package kafka

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
)

// Names are those under which existing dashboards look for Kafka's metrics. Two spellings are in the field: that of the
// exporters which keep Kafka's own names (…persec, counters all the same), and that of the widespread example rules,
// which turn them into …_total. Both are served.
const (
	brokerTopic    = "kafka_server_brokertopicmetrics_"
	requestMetrics = "kafka_network_requestmetrics_"
)

// quantiles are what Kafka reports of durations.
var quantiles = []float64{0.5, 0.75, 0.95, 0.98, 0.99, 0.999}

// stageNames are Kafka's names of the parts of a request's time.
var stageNames = [stageCount]string{
	totalTime: "totaltimems", requestQueueTime: "requestqueuetimems", localTime: "localtimems",
	remoteTime: "remotetimems", responseQueueTime: "responsequeuetimems", responseSendTime: "responsesendtimems",
}

// topicCounters are the per-topic families.
var topicCounters = []struct {
	persec, total string
	help          string
	read          func(*topicMetrics) uint64
}{
	{"messagesinpersec", "messagesin_total", "Records appended.", func(m *topicMetrics) uint64 { return m.messagesIn.Load() }},
	{"bytesinpersec", "bytesin_total", "Bytes of record batches appended.", func(m *topicMetrics) uint64 { return m.bytesIn.Load() }},
	{"bytesoutpersec", "bytesout_total", "Bytes of record batches sent to consumers.", func(m *topicMetrics) uint64 { return m.bytesOut.Load() }},
	{"bytesrejectedpersec", "bytesrejected_total", "Bytes of record batches refused for their size.", func(m *topicMetrics) uint64 { return m.bytesRejected.Load() }},
	{"totalproducerequestspersec", "totalproducerequests_total", "Batches that producers sent, per partition of a request.", func(m *topicMetrics) uint64 { return m.produceRequests.Load() }},
	{"failedproducerequestspersec", "failedproducerequests_total", "Batches that were refused.", func(m *topicMetrics) uint64 { return m.failedProduce.Load() }},
	{"totalfetchrequestspersec", "totalfetchrequests_total", "Reads by consumers, per partition of a request.", func(m *topicMetrics) uint64 { return m.fetchRequests.Load() }},
	{"failedfetchrequestspersec", "failedfetchrequests_total", "Reads that failed.", func(m *topicMetrics) uint64 { return m.failedFetch.Load() }},
}

// Describe implements prometheus.Collector. It describes nothing, since the families depend on what is in use.
func (m *metrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	e := emitter{ch: ch, descs: make(map[string]*prometheus.Desc)}
	m.collectTopics(&e)
	m.collectAPIs(&e)
	m.collectThreads(&e)
	m.collectConnections(&e)
	m.collectSessions(&e)
}

// emitter sends single values, with one description per name.
type emitter struct {
	ch    chan<- prometheus.Metric
	descs map[string]*prometheus.Desc
}

func (e *emitter) desc(name, help string, labels []string) *prometheus.Desc {
	key := name + "/" + strconv.Itoa(len(labels))
	d := e.descs[key]
	if d == nil {
		d = prometheus.NewDesc(name, help, labels, nil)
		e.descs[key] = d
	}
	return d
}

func (e *emitter) counter(name, help string, v float64, labels []string, values ...string) {
	e.ch <- prometheus.MustNewConstMetric(e.desc(name, help, labels), prometheus.CounterValue, v, values...)
}

func (e *emitter) gauge(name, help string, v float64, labels []string, values ...string) {
	e.ch <- prometheus.MustNewConstMetric(e.desc(name, help, labels), prometheus.GaugeValue, v, values...)
}

// collectTopics emits the families per topic, and their sums over all topics without a label.
func (m *metrics) collectTopics(e *emitter) {
	img := m.srv.node.Image()
	m.topics.retain(func(name string) bool { _, ok := img.Topic(name); return ok })
	topics := m.topics.all()
	for _, c := range topicCounters {
		sum := m.topics.gone(c.read)
		for _, t := range topics {
			n := c.read(t)
			sum += n
			if n == 0 {
				continue
			}
			e.counter(brokerTopic+c.persec, c.help, float64(n), []string{"topic"}, t.name)
			e.counter(brokerTopic+c.total, c.help, float64(n), []string{"topic"}, t.name)
		}
		e.counter(brokerTopic+c.persec, c.help, float64(sum), nil)
		e.counter(brokerTopic+c.total, c.help, float64(sum), nil)
	}
	for _, name := range []string{"replicationbytesinpersec", "replicationbytesin_total", "replicationbytesoutpersec", "replicationbytesout_total"} {
		e.counter(brokerTopic+name, "Bytes copied between brokers; of one broker there are none.", 0, nil)
	}
	for _, t := range topics {
		if n := t.perBatch.Load(); n > 0 {
			e.gauge("moldau_topic_records_per_batch", "Records per batch that producers sent, over the last half minute with any.",
				float64(n)/1000, []string{"topic"}, t.name)
		}
	}
}

// collectAPIs emits the families per API.
func (m *metrics) collectAPIs(e *emitter) {
	for key := range m.apis {
		am := m.apis[key].Load()
		if am == nil {
			continue
		}
		name := m.srv.rows[key].name
		m.collectAPI(e, am, name)
		if name == "Fetch" { // no follower fetches from this node, so both names stand for the same requests
			m.collectAPI(e, am, "FetchConsumer")
		}
	}
}

func (m *metrics) collectAPI(e *emitter, am *apiMetrics, name string) {
	const requests, errs = "Requests answered.", "Error codes in answers; NONE is success."
	for version := range am.versions {
		if n := am.versions[version].Load(); n > 0 {
			labels := []string{"request", "version"}
			e.counter(requestMetrics+"requestspersec", requests, float64(n), labels, name, strconv.Itoa(version))
			e.counter(requestMetrics+"requests_total", requests, float64(n), labels, name, strconv.Itoa(version))
		}
	}
	for i := range am.errors {
		if n := am.errors[i].Load(); n > 0 {
			labels := []string{"request", "error"}
			e.counter(requestMetrics+"errorspersec", errs, float64(n), labels, name, codeName(int16(i+firstCode)))
			e.counter(requestMetrics+"errors_total", errs, float64(n), labels, name, codeName(int16(i+firstCode)))
		}
	}
	for s := range am.stages {
		h := &am.stages[s]
		values := make(map[float64]float64, len(quantiles))
		for i, v := range h.quantiles(quantiles) {
			values[quantiles[i]] = v * 1000
		}
		d := e.desc(requestMetrics+stageNames[s], "Time in milliseconds; quantiles over the last minute.", []string{"request"})
		e.ch <- prometheus.MustNewConstSummary(d, h.count.Load(), float64(h.sum.Load())/1e6, values, name)
	}
	m.collectThrottle(e, am, name)
}

// collectThrottle emits how long clients were held back by quotas: there are none yet, so not at all.
func (m *metrics) collectThrottle(e *emitter, am *apiMetrics, name string) {
	values := make(map[float64]float64, len(quantiles))
	for _, q := range quantiles {
		values[q] = 0
	}
	d := e.desc(requestMetrics+"throttletimems", "Time in milliseconds for which clients were held back by quotas.", []string{"request"})
	e.ch <- prometheus.MustNewConstSummary(d, am.stages[totalTime].count.Load(), 0, values, name)
}

// codeName is Kafka's name of an error code.
func codeName(code int16) string {
	if code == 0 {
		return "NONE"
	}
	if err := kerr.TypedErrorForCode(code); err != nil {
		return err.Message
	}
	return strconv.Itoa(int(code))
}

// collectThreads emits how busy the two sides of the edge are.
func (m *metrics) collectThreads(e *emitter) {
	const handlers, network = "Idle share of the num.io.threads, 0 to 1, over a minute.", "Idle share of the network side, 0 to 1, over a minute."
	idle := m.handlerIdle.value()
	const pool = "kafka_server_kafkarequesthandlerpool_requesthandleravgidle"
	e.gauge(pool+"percent_total", handlers, idle, nil)
	e.gauge(pool+"percent_oneminuterate", handlers, idle, nil)
	e.gauge(pool+"_percent", handlers, idle, nil)
	idle = m.networkIdle.value()
	e.gauge("kafka_network_socketserver_networkprocessoravgidlepercent", network, idle, nil)
	e.gauge("kafka_network_socketserver_networkprocessoravgidle_percent", network, idle, nil)
	e.gauge("kafka_network_requestchannel_requestqueuesize", "Requests that wait for one of the num.io.threads.",
		float64(m.srv.slots[dataPlane].waiting()+m.srv.slots[controlPlane].waiting()), nil)
	e.gauge("kafka_network_requestchannel_responsequeuesize", "Answers that wait: for records, for replicas, or for an earlier answer.",
		float64(m.waiting.Load()), nil)
	e.gauge("moldau_kafka_request_bytes", "Memory held by requests being received or executed.", float64(m.srv.budget.inUse()), nil)
}

// collectConnections emits who is connected.
func (m *metrics) collectConnections(e *emitter) {
	m.lock.Lock()
	defer m.lock.Unlock()
	const prefix = "kafka_server_socketservermetrics_"
	for name, c := range m.connections {
		labels := []string{"listener"}
		e.gauge(prefix+"connection_count", "Open connections.", float64(c.open), labels, name)
		e.counter(prefix+"connection_creation_total", "Connections accepted.", float64(c.opened), labels, name)
		e.counter(prefix+"connection_close_total", "Connections closed.", float64(c.gone), labels, name)
	}
	for key, n := range m.software {
		e.gauge(prefix+"connections", "Open connections by what the client calls its software (KIP-511).", float64(n),
			[]string{"clientsoftwarename", "clientsoftwareversion", "listener"}, key.name, key.version, key.listener)
	}
	e.counter("moldau_kafka_connections_refused_total", "Connections closed at once because of a limit.", float64(m.refused.n.Load()), nil)
	e.counter("moldau_kafka_connections_reaped_total", "Connections closed for being idle or stuck.", float64(m.reaped.n.Load()), nil)
	e.counter("moldau_kafka_protocol_errors_total", "Connections closed for what the peer sent.", float64(m.protocolErrors.n.Load()), nil)
	e.counter("moldau_kafka_panics_total", "Requests whose handler panicked.", float64(m.panics.n.Load()), nil)
}

// collectSessions emits the state of incremental fetch sessions.
func (m *metrics) collectSessions(e *emitter) {
	sessions, partitions := m.srv.sessions.count()
	e.gauge("kafka_server_fetchsessioncache_numincrementalfetchsessions", "Incremental fetch sessions.", float64(sessions), nil)
	e.gauge("kafka_server_fetchsessioncache_numincrementalfetchpartitionscached", "Partitions of all incremental fetch sessions.", float64(partitions), nil)
	evictions := float64(m.srv.sessions.evictions.n.Load())
	e.counter("kafka_server_fetchsessioncache_incrementalfetchsessionevictionspersec", "Sessions pushed out by others.", evictions, nil)
	e.counter("kafka_server_fetchsessioncache_incrementalfetchsessionevictions_total", "Sessions pushed out by others.", evictions, nil)
}
