package storage

import (
	"time"
)

// keeper writes the checkpoints of one directory: recovery points and log start offsets within a second of their change, high
// watermarks every few seconds; and has snapshots of quiet logs taken. One goroutine, owned by the engine, ends with stop.
type keeper struct {
	dir      *logDir
	requests chan keeperRequest
	quit     chan struct{} // closed by stop
	done     chan struct{} // closed by run
}

type keeperRequest struct {
	all   bool
	reply chan error // has room for one
}

func newKeeper(d *logDir) *keeper {
	return &keeper{dir: d, requests: make(chan keeperRequest), quit: make(chan struct{}), done: make(chan struct{})}
}

// checkpoint writes what has changed, or everything, and waits until it is durable.
func (k *keeper) checkpoint(all bool) error {
	r := keeperRequest{all: all, reply: make(chan error, 1)}
	select {
	case k.requests <- r:
		return <-r.reply
	case <-k.done:
		return ErrClosed
	}
}

func (k *keeper) stop() {
	close(k.quit)
	<-k.done
}

func (k *keeper) run() {
	defer close(k.done)
	tick := time.NewTicker(strictCheckpointEvery)
	defer tick.Stop()
	quiet := time.NewTicker(quietAfter)
	defer quiet.Stop()
	lastHW := time.Now()
	failing := false
	for {
		select {
		case <-tick.C:
			k.dir.look()
			withHW := time.Since(lastHW) >= highWatermarkCheckpoint
			if withHW {
				lastHW = time.Now()
			}
			err := k.dir.writeCheckpoints(false, withHW)
			if err != nil && !failing && k.dir.offlineErr() == nil {
				k.dir.env.logger.Warn("could not write checkpoints; will try again", "dir", k.dir.path, "err", err)
			}
			failing = err != nil
		case <-quiet.C:
			k.dir.rest()
		case r := <-k.requests:
			k.serve(r)
		case <-k.quit:
			return
		}
	}
}

// serve answers a request together with all others that wait, so that many callers pay for one write.
func (k *keeper) serve(first keeperRequest) {
	waiting := []keeperRequest{first}
	all := first.all
	for {
		select {
		case r := <-k.requests:
			waiting = append(waiting, r)
			all = all || r.all
			continue
		default:
		}
		break
	}
	err := k.dir.writeCheckpoints(all, false)
	for _, r := range waiting {
		r.reply <- err
	}
}
