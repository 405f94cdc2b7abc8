package rest

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	"moldau/gateway"
)

const (
	// sendTimeout is how long a peer may take to accept what is sent to it.
	sendTimeout = 30 * time.Second
	// bodyGrace and bodyRate bound how long a body may take: the grace, and as long as this many bytes a second need.
	bodyGrace = 10 * time.Second
	bodyRate  = 16 << 10
)

// handler serves the HTTP API.
type handler struct {
	gw    *gateway.Gateway
	cfg   gateway.Config
	calls sync.Pool // of *produceCall

	heartbeat time.Duration
	idle      time.Duration // how long a stream of records may be without a byte

	produced, streamed, read, tailed *gateway.Operation
}

// New returns the handler of the HTTP API, which answers every path, unknown ones with an error in JSON. The server
// that it is given to bounds headers and idle connections; the handler bounds bodies, and how long they take.
func New(gw *gateway.Gateway) http.Handler { return newHandler(gw, heartbeat, linesIdle) }

func newHandler(gw *gateway.Gateway, heartbeat, idle time.Duration) http.Handler {
	h := &handler{
		gw: gw, cfg: gw.Config(), heartbeat: heartbeat, idle: idle,
		produced: gw.Operation("http", "produce"),
		streamed: gw.Operation("http", "produce_stream"),
		read:     gw.Operation("http", "read"),
		tailed:   gw.Operation("http", "tail"),
	}
	mux := http.NewServeMux()
	records := http.HandlerFunc(h.records)
	mux.Handle("/v1/topics/{topic}/records", records)
	mux.Handle("/v1/topics/{topic}/partitions/{partition}/records", records)
	admin := h.newAdmin()
	mux.Handle("/v1/topics", admin)
	mux.Handle("/v1/topics/{topic}", admin)
	mux.HandleFunc("/openapi.json", serveOpenAPI)
	mux.HandleFunc("/", notFound)
	return withCORS(h.cfg.CORSOrigins, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if topic, ok := recordsPath(r.URL); ok { // the route that counts, without the cost of the others
			h.serveRecords(w, r, topic, "")
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

// recordsPath returns the topic of /v1/topics/{topic}/records, if u is that and has no escapes.
func recordsPath(u *url.URL) (topic string, ok bool) {
	topic, ok = strings.CutPrefix(u.Path, "/v1/topics/")
	if ok {
		topic, ok = strings.CutSuffix(topic, "/records")
	}
	return topic, ok && topic != "" && u.RawPath == "" && !strings.Contains(topic, "/")
}

// records serves the record endpoints.
func (h *handler) records(w http.ResponseWriter, r *http.Request) {
	h.serveRecords(w, r, r.PathValue("topic"), r.PathValue("partition"))
}

func (h *handler) serveRecords(w http.ResponseWriter, r *http.Request, topic, text string) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	partition := int32(gateway.AnyPartition)
	if text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			writeFailure(w, refusal(http.StatusBadRequest, codes.InvalidArgument, "INVALID_ARGUMENT",
				"the partition in the path is not a number from 0 to 2147483647"))
			return
		}
		partition = int32(n) //nolint:gosec // parsed with 31 bits
	}
	switch r.Method {
	case http.MethodPost:
		h.produce(w, r, topic, partition)
	case http.MethodGet:
		h.get(w, r, topic, partition)
	default:
		methodNotAllowed(w, r, "GET, POST")
	}
}

func notFound(w http.ResponseWriter, r *http.Request) {
	writeFailure(w, refusal(http.StatusNotFound, codes.NotFound, "NO_SUCH_ROUTE",
		"there is nothing at "+r.URL.Path+"; see /openapi.json"))
}

func methodNotAllowed(w http.ResponseWriter, r *http.Request, allowed string) {
	w.Header().Set("Allow", allowed)
	writeFailure(w, refusal(http.StatusMethodNotAllowed, codes.Unimplemented, "METHOD_NOT_ALLOWED",
		r.Method+" is not possible here; possible are "+allowed))
}

// fail answers a request with what an error of a verb means, and returns the name of its code.
func fail(w http.ResponseWriter, err error) string {
	f := gateway.FailureOf(err)
	writeFailure(w, &f)
	return gateway.CodeName(f.Code)
}
