package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// reply is what a handler gives back. The goroutine that sends calls ready or wait, then encode, and always release.
type reply interface {
	// ready tells whether wait would return at once.
	ready() bool
	// wait parks until the answer is final, or ctx ends. It is called before encode unless ready said yes.
	wait(ctx context.Context)
	// encode writes the answer's body; nothing is sent until it returns. An error closes the connection, silently if it
	// is errSilent.
	encode(out *response) error
	// release gives back what the answer holds. It is called exactly once.
	release()
}

// counted is a reply that reports its own error codes to the metrics, once it is encoded.
type counted interface {
	countErrors(count func(code int16))
}

// answer is a reply that is ready: resp as it stands.
func answer(resp kmsg.Response) reply { return message{resp} }

// message is a ready kmsg response.
type message struct{ resp kmsg.Response }

func (message) ready() bool          { return true }
func (message) wait(context.Context) {}
func (message) release()             {}

func (m message) encode(out *response) error {
	out.bytes = m.resp.AppendTo(out.bytes)
	return nil
}

// noAnswer is the reply to requests that are not answered: Produce with acks 0.
type noAnswer struct{}

func (noAnswer) ready() bool          { return true }
func (noAnswer) wait(context.Context) {}

func (noAnswer) encode(out *response) error {
	out.mute = true
	return nil
}

func (noAnswer) release() {}

// hangUp is the reply that closes the connection after the answers before it were sent. The reason is logged.
func hangUp(reason error) reply { return closing{reason} }

type closing struct{ reason error }

func (closing) ready() bool              { return true }
func (closing) wait(context.Context)     {}
func (c closing) encode(*response) error { return c.reason }
func (closing) release()                 {}
