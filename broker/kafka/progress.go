package kafka

import (
	"sync/atomic"
	"time"
)

// progress is what the reaper sees of a connection: whether it is idle, and how a frame or a response that is under way
// gets on. Times are since the start of the server; 0 means not under way.
type progress struct {
	lastActive  atomic.Int64 // end of the last request
	frameBegan  atomic.Int64
	frameBytes  atomic.Int64 // received of the frame under way
	frameHeld   atomic.Int64 // memory that it holds
	writeBegan  atomic.Int64
	waitingAuth atomic.Bool // the handshake isn't done yet
}

// beginFrame notes that a frame has begun, unless it is noted already.
func (p *progress) beginFrame(now time.Duration, got int) {
	p.frameBytes.Store(int64(got))
	p.frameBegan.CompareAndSwap(0, max(1, int64(now)))
}

func (p *progress) received(got, held int) {
	p.frameBytes.Store(int64(got))
	p.frameHeld.Store(int64(held))
}

// endFrame notes that no frame is under way.
func (p *progress) endFrame() {
	if p.frameBegan.Load() != 0 {
		p.frameBegan.Store(0)
		p.frameHeld.Store(0)
	}
}

// beginWrite notes that bytes are being handed to the peer, and again whenever it has taken some.
func (p *progress) beginWrite(now time.Duration) { p.writeBegan.Store(max(1, int64(now))) }

// endWrite notes that the peer has taken everything.
func (p *progress) endWrite() { p.writeBegan.Store(0) }

// pause keeps the clock from running against a frame that waits for our memory.
func (p *progress) pause() { p.frameBegan.Store(-p.frameBegan.Load()) }

// resume ends a pause of the given length.
func (p *progress) resume(paused time.Duration) {
	if began := -p.frameBegan.Load(); began > 0 {
		p.frameBegan.Store(began + int64(paused))
	} else {
		p.frameBegan.Store(0)
	}
}

// minFrameRate is how many bytes of a frame must come per second once its grace is over.
const minFrameRate = 1 << 10

// verdict is why a connection must go, or nothing.
type verdict uint8

const (
	stays verdict = iota
	idle
	stuckFrame
	stuckResponse
	unauthenticated
)

// text says what happened, for the log.
func (v verdict) text() string {
	return [...]string{
		"", "idle longer than connections.max.idle.ms", "a request arrives too slowly",
		"a response is not read (response.write.timeout.ms)", "not authenticated in time",
	}[v]
}

// judge decides about a connection at a point of time. busy says that answers are waiting in it.
func (p *progress) judge(cfg *Config, now time.Duration, busy bool) verdict {
	if began := p.writeBegan.Load(); began > 0 && now-time.Duration(began) > cfg.WriteTimeout {
		return stuckResponse
	}
	quiet := now - time.Duration(p.lastActive.Load())
	if p.waitingAuth.Load() {
		if quiet > cfg.AuthenticationTimeout {
			return unauthenticated
		}
		return stays
	}
	began := p.frameBegan.Load()
	if began > 0 {
		took := now - time.Duration(began)
		// Whoever makes us hold much memory must fill it within minutes.
		rate := minFrameRate + p.frameHeld.Load()/512
		if took > cfg.FrameGrace && p.frameBytes.Load() < int64(took.Seconds()*float64(rate)) {
			return stuckFrame
		}
		return stays
	}
	if began == 0 && !busy && quiet > cfg.MaxIdle {
		return idle
	}
	return stays
}
