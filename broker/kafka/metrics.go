package kafka

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// stage is a part of a request's time, as Kafka cuts it.
type stage uint8

const (
	totalTime stage = iota
	requestQueueTime
	localTime
	remoteTime
	responseQueueTime
	responseSendTime
	stageCount
)

// Error codes are counted in arrays; those beyond go to the last place.
const (
	firstCode = -1
	codeCount = 160
)

// apiMetrics are the numbers of one API.
type apiMetrics struct {
	versions []atomic.Uint64
	stages   [stageCount]histogram
	errors   [codeCount]atomic.Uint64
	count    func(code int16) // countError, bound once: binding it for each request would allocate
}

func (m *apiMetrics) countError(code int16) {
	m.errors[min(max(int(code)-firstCode, 0), codeCount-1)].Add(1)
}

// metrics are the numbers of the Kafka edge. They are counted in place, without looking up labels, and turned into
// Prometheus' form when they are scraped (collector.go).
type metrics struct {
	srv    *Server
	apis   []atomic.Pointer[apiMetrics] // by key, made at the first request
	makes  sync.Mutex
	topics topicMetricsTable

	refused, reaped, panics, protocolErrors counter
	connections                             map[string]*connectionMetrics // by listener; under lock
	software                                map[softwareKey]int           // under lock
	lock                                    sync.Mutex

	network      load         // time spent encoding and writing
	waiting      atomic.Int64 // answers in queues
	handlerIdle  idleMeter
	networkIdle  idleMeter
	lastRotation time.Duration
}

// counter is a number that grows.
type counter struct{ n atomic.Uint64 }

// Inc adds one.
func (c *counter) Inc() { c.n.Add(1) }

// connectionMetrics are the numbers of one listener.
type connectionMetrics struct {
	open         int
	opened, gone uint64
}

// softwareKey names what connects (KIP-511).
type softwareKey struct{ name, version, listener string }

func newMetrics(s *Server) *metrics {
	return &metrics{
		srv: s, apis: make([]atomic.Pointer[apiMetrics], len(s.rows)),
		connections: make(map[string]*connectionMetrics), software: make(map[softwareKey]int),
		handlerIdle: newIdleMeter(), networkIdle: newIdleMeter(),
	}
}

// api returns the numbers of an API.
func (m *metrics) api(a *api) *apiMetrics {
	if am := m.apis[a.key].Load(); am != nil {
		return am
	}
	m.makes.Lock()
	defer m.makes.Unlock()
	if am := m.apis[a.key].Load(); am != nil {
		return am
	}
	am := &apiMetrics{versions: make([]atomic.Uint64, a.max+1)}
	am.count = am.countError
	m.apis[a.key].Store(am)
	return am
}

// answered counts a request whose answer was encoded.
func (m *metrics) answered(p *pending) {
	am := m.api(p.api)
	if p.version >= 0 && int(p.version) < len(am.versions) {
		am.versions[p.version].Add(1)
	}
	switch rep := p.reply.(type) {
	case message:
		countErrors(p.api.errors, rep.resp, am.count)
	case counted:
		rep.countErrors(am.count)
	}
}

// sent counts how long a request took, once its answer is written.
func (m *metrics) sent(p *pending, now time.Duration) {
	am := m.api(p.api)
	t := &p.times
	am.stages[totalTime].observe(now - t.received)
	am.stages[requestQueueTime].observe(t.began - t.received)
	am.stages[localTime].observe(t.executed - t.began)
	am.stages[remoteTime].observe(t.final - t.executed)
	am.stages[responseQueueTime].observe(t.sending - t.final)
	am.stages[responseSendTime].observe(now - t.sending)
}

// wrote counts work of the network side. A write that blocks because the peer doesn't read is no work, so time beyond
// what copying the bytes can take is left out.
func (m *metrics) wrote(bytes int, took time.Duration) {
	m.network.add(min(took, 50*time.Microsecond+time.Duration(bytes)))
}

func (m *metrics) opened(c *conn) {
	m.lock.Lock()
	defer m.lock.Unlock()
	cm := m.connections[c.listener.name]
	if cm == nil {
		cm = new(connectionMetrics)
		m.connections[c.listener.name] = cm
	}
	cm.open++
	cm.opened++
}

func (m *metrics) closed(c *conn) {
	m.lock.Lock()
	defer m.lock.Unlock()
	cm := m.connections[c.listener.name]
	cm.open--
	cm.gone++
	m.forgetSoftware(c)
}

// maxSoftware is how many names and versions of client software are told apart.
const maxSoftware = 200

// noteSoftware counts a connection under what its client calls its software.
func (m *metrics) noteSoftware(c *conn) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.forgetSoftware(c)
	key := softwareKey{c.caller.SoftwareName, c.caller.SoftwareVersion, c.listener.name}
	if _, known := m.software[key]; known || len(m.software) < maxSoftware {
		m.software[key]++
		c.countedAs = key
	}
}

// forgetSoftware takes a connection out of the count. The caller holds the lock.
func (m *metrics) forgetSoftware(c *conn) {
	if n := m.software[c.countedAs]; n > 1 {
		m.software[c.countedAs] = n - 1
	} else {
		delete(m.software, c.countedAs)
	}
	c.countedAs = softwareKey{}
}

// rotation is how long a window of the histograms lasts.
const rotation = 30 * time.Second

// tick is called once a second.
func (m *metrics) tick(now time.Duration) {
	m.handlerIdle.tick(now, m.srv.slots[dataPlane].load.total(now), m.srv.cfg.NumIOThreads)
	m.networkIdle.tick(now, m.network.total(now), runtime.GOMAXPROCS(0))
	if now-m.lastRotation < rotation {
		return
	}
	m.lastRotation = now
	for i := range m.apis {
		if am := m.apis[i].Load(); am != nil {
			for s := range am.stages {
				am.stages[s].rotate()
			}
		}
	}
	m.topics.rotate()
}

var _ prometheus.Collector = (*metrics)(nil)
