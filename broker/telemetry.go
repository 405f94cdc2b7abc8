package broker

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"moldau/broker/clientmetrics"
	"moldau/broker/configdef"
	"moldau/broker/metadata"
)

// telemetry takes the metrics that clients push (KIP-714).
type telemetry struct {
	clients *clientmetrics.Manager
	parsed  *parsedSubscriptions
	pushes  *prometheus.CounterVec
	points  prometheus.Counter
}

func newTelemetry(maxBytes int, sink clientmetrics.Sink, now func() time.Time) telemetry {
	points := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "moldau_client_metrics_points_total", Help: "Data points of the metrics that clients pushed.",
	})
	return telemetry{
		clients: clientmetrics.New(clientmetrics.Options{MaxBytes: maxBytes, Sink: countingSink{points, sink}, Now: now}),
		parsed:  &parsedSubscriptions{},
		pushes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "moldau_client_metrics_pushes_total", Help: "Pushes of clients' own metrics, by what became of them.",
		}, []string{"result"}),
		points: points,
	}
}

// collectors returns the metrics about clients' metrics.
func (t *telemetry) collectors() []prometheus.Collector {
	instances := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "moldau_client_metrics_instances", Help: "Clients that asked for a subscription or pushed metrics lately.",
	}, func() float64 { return float64(t.clients.Instances()) })
	return []prometheus.Collector{t.pushes, t.points, instances}
}

// countingSink counts what passes to the next sink.
type countingSink struct {
	points prometheus.Counter
	next   clientmetrics.Sink // nil drops everything
}

// Accept implements clientmetrics.Sink.
func (s countingSink) Accept(from clientmetrics.Client, metrics []clientmetrics.Metric, terminating bool) {
	for i := range metrics {
		s.points.Add(float64(len(metrics[i].Points)))
	}
	if s.next != nil {
		s.next.Accept(from, metrics, terminating)
	}
}

// parsedSubscriptions keeps the client metrics subscriptions of the last image that was asked for, because their patterns
// are expensive to compile.
type parsedSubscriptions struct {
	mu   sync.Mutex
	key  []subscriptionRev
	subs []configdef.Subscription
}

// subscriptionRev is a subscription as of one revision.
type subscriptionRev struct {
	name string
	rev  metadata.Rev
}

// of returns the subscriptions of an image.
func (p *parsedSubscriptions) of(img *metadata.Image) []configdef.Subscription {
	var key []subscriptionRev
	for name := range img.Resources(metadata.ClientMetricsResource) {
		key = append(key, subscriptionRev{name, img.ConfigRev(metadata.ClientMetricsResource, name)})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Equal(p.key, key) {
		return p.subs
	}
	subs := make([]configdef.Subscription, 0, len(key))
	for _, k := range key {
		// What can't be read asks for nothing: it was checked when it was set, so it comes from a newer broker.
		if s, err := configdef.ParseSubscription(img.Config(metadata.ClientMetricsResource, k.name)); err == nil {
			subs = append(subs, s)
		}
	}
	p.key, p.subs = key, subs
	return subs
}

// TelemetrySubscription is what a client is asked to push.
type TelemetrySubscription struct {
	ClientInstanceID [16]byte
	SubscriptionID   int32
	PushInterval     time.Duration
	// MaxBytes bounds a push.
	MaxBytes int
	// Metrics are prefixes of names; a single "*" asks for all, none for nothing.
	Metrics []string
	// Codecs are the accepted compression types besides none, the preferred one first.
	Codecs []int8
}

// GetTelemetrySubscription returns what the caller is asked to push. The zero instance id asks for a new one.
func (n *Node) GetTelemetrySubscription(c *Caller, instanceID [16]byte) (TelemetrySubscription, error) {
	t := &n.admin.telemetry
	id, demand, err := t.clients.Get(telemetryClient(c, instanceID), t.parsed.of(n.Image()))
	if err != nil {
		return TelemetrySubscription{}, telemetryError(err)
	}
	s := TelemetrySubscription{
		ClientInstanceID: id, SubscriptionID: demand.SubscriptionID, PushInterval: demand.Interval,
		MaxBytes: t.clients.MaxBytes(), Metrics: demand.Metrics,
	}
	for _, codec := range clientmetrics.AcceptedCodecs() {
		s.Codecs = append(s.Codecs, int8(codec))
	}
	return s, nil
}

// TelemetryPush is what a client pushes.
type TelemetryPush struct {
	ClientInstanceID [16]byte
	SubscriptionID   int32
	// Terminating says that it is the client's last push.
	Terminating bool
	// Codec is the compression type of Payload, OTLP metrics. The bytes are not kept.
	Codec   int8
	Payload []byte
}

// PushTelemetry takes the metrics that the caller pushes.
func (n *Node) PushTelemetry(c *Caller, p TelemetryPush) error {
	t := &n.admin.telemetry
	err := t.clients.Push(telemetryClient(c, p.ClientInstanceID), t.parsed.of(n.Image()), clientmetrics.Push{
		SubscriptionID: p.SubscriptionID, Terminating: p.Terminating, Codec: p.Codec, Payload: p.Payload,
	})
	t.pushes.WithLabelValues(pushResult(err)).Inc()
	return telemetryError(err)
}

// telemetryClient is the caller as subscriptions see it.
func telemetryClient(c *Caller, id [16]byte) clientmetrics.Client {
	client := clientmetrics.Client{
		ID: id, ClientID: strings.Clone(c.ClientID), SoftwareName: c.SoftwareName, SoftwareVersion: c.SoftwareVersion,
	}
	if c.Addr.IsValid() {
		client.Address = c.Addr.Unmap().String()
	}
	return client
}

// telemetryErrors gives the reasons of the room their names here and in the metrics.
var telemetryErrors = []struct {
	from, to error
	result   string
}{
	{clientmetrics.ErrThrottled, ErrThrottlingQuotaExceeded, "throttled"},
	{clientmetrics.ErrUnknownSubscription, ErrUnknownSubscriptionID, "unknown_subscription"},
	{clientmetrics.ErrUnsupportedCompression, ErrUnsupportedCompressionType, "unsupported_compression"},
	{clientmetrics.ErrTooLarge, ErrTelemetryTooLarge, "too_large"},
	{clientmetrics.ErrInvalidPayload, ErrInvalidRecord, "invalid_payload"},
	{clientmetrics.ErrInvalidRequest, ErrInvalidRequest, "invalid_request"},
}

func telemetryError(err error) error {
	for _, row := range telemetryErrors {
		if errors.Is(err, row.from) {
			return &refusal{row.to, err.Error()}
		}
	}
	return err
}

// pushResult is the label of a push.
func pushResult(err error) string {
	if err == nil {
		return "taken"
	}
	for _, row := range telemetryErrors {
		if errors.Is(err, row.from) {
			return row.result
		}
	}
	return "failed"
}
