package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"moldau/cmd/moldau/internal/exit"
	"moldau/gateway/producer"
)

// verdicts gives the errors of a cluster their exit codes.
var verdicts = []struct {
	errs []error
	code int
	next string
}{
	{
		[]error{
			kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed, kerr.GroupAuthorizationFailed,
			kerr.TransactionalIDAuthorizationFailed, kerr.SaslAuthenticationFailed, kerr.DelegationTokenAuthorizationFailed,
		},
		exit.Denied, "",
	},
	{
		[]error{kerr.UnknownTopicOrPartition, kerr.UnknownTopicID},
		exit.NotFound, "moldau topic list",
	},
	{
		[]error{kerr.UnknownServerError, kerr.UnsupportedVersion, kerr.InvalidRequest},
		exit.Failed, "moldau debug api-versions",
	},
	{
		[]error{
			kerr.RequestTimedOut, kerr.LeaderNotAvailable, kerr.NotEnoughReplicas, kerr.BrokerNotAvailable, kerr.KafkaStorageError,
			kerr.CoordinatorNotAvailable, kerr.CoordinatorLoadInProgress,
		},
		exit.Unhealthy, "moldau cluster health",
	},
}

// Explain gives an error of the client its exit code and the line to run next.
// An error that has them already, and nil, come back as they are.
func (f *Flags) Explain(err error) error {
	var already *exit.Error
	if err == nil || errors.As(err, &already) {
		return err
	}
	for _, v := range verdicts {
		for _, e := range v.errs {
			if errors.Is(err, e) {
				return &exit.Error{Code: v.code, Err: short(err, e), Next: v.next}
			}
		}
	}
	if errors.Is(err, io.EOF) {
		return &exit.Error{
			Code: exit.Unhealthy,
			Err:  errors.New("the broker closed the connection: it may want TLS, or another user or password"),
			Next: "the same with -X security.protocol=SSL, SASL_PLAINTEXT or SASL_SSL, and -X sasl.username, sasl.password",
		}
	}
	if errors.Is(err, producer.ErrUnacknowledged) {
		return &exit.Error{Code: exit.Unhealthy, Err: err, Next: "moldau cluster health"}
	}
	var netErr net.Error
	if errors.As(err, &netErr) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, kgo.ErrRecordTimeout) || errors.Is(err, producer.ErrNotSent) {
		return &exit.Error{
			Code: exit.Unhealthy,
			Err:  fmt.Errorf("no answer from the cluster: %w", err),
			Next: "moldau serve    (or name the cluster: -b host:port)",
		}
	}
	return err
}

// short drops the client's frame around an error of the protocol when there is
// none of ours.
func short(err, cause error) error {
	var ke *kerr.Error
	if errors.As(cause, &ke) && err.Error() == ke.Error() {
		return fmt.Errorf("%s: %s", ke.Message, ke.Description)
	}
	return err
}

// usage marks an error as a mistake on the command line.
func usage(err error) error { return &exit.Error{Code: exit.Usage, Err: err} }
