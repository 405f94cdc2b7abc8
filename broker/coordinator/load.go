package coordinator

import (
	"errors"
	"fmt"

	"moldau/broker/record"
)

// errStopped says that the owner was ended while it was loading.
var errStopped = errors.New("the owner was ended")

// load reads the partition into a new shard, again and again until it succeeds, and opens the queue. It returns false if the
// owner was ended.
func (o *owner[S]) load() bool {
	for {
		if !o.takeLoadSlot() {
			return false
		}
		began := o.r.o.Now()
		n, err := o.loadOnce()
		<-o.r.loads
		if err == nil {
			took := o.r.o.Now().Sub(began)
			o.logger.Debug("coordinator loaded", "records", n, "took", took)
			if o.r.o.Loaded != nil {
				o.r.o.Loaded(o.partition, n, took)
			}
			return true
		}
		if errors.Is(err, errStopped) {
			return false
		}
		if errors.Is(err, ErrNotCoordinator) {
			o.end(ErrNotCoordinator)
			return false
		}
		o.logger.Error("the coordinator cannot read its partition", "err", err, "again_in", o.r.o.LoadRetry)
		o.drop(err)
		if !o.pause() {
			return false
		}
	}
}

func (o *owner[S]) takeLoadSlot() bool {
	select {
	case <-o.stop:
		return false
	case o.r.loads <- struct{}{}:
		return true
	}
}

// loadOnce replays the log into a new shard and opens the queue.
func (o *owner[S]) loadOnce() (records int, err error) {
	o.shard, o.alive = o.r.o.NewShard(o.partition), true
	o.parked, o.answers = parked{}, nil
	o.batches.reset()
	offset, end := o.log.Bounds()
	var buf []byte
	for offset < end {
		select {
		case <-o.stop:
			return records, errStopped
		default:
		}
		if buf, err = o.log.Read(buf[:0], offset); err != nil {
			return records, fmt.Errorf("read at %d: %w", offset, err)
		}
		if len(buf) == 0 {
			break
		}
		n, next, err := o.replay(buf, offset)
		if err != nil {
			return records, fmt.Errorf("replay from %d: %w", offset, err)
		}
		records, offset = records+n, max(next, offset)
	}
	// What was read need not be committed yet; no answer may be given before it is.
	if c := o.log.CommitOf(end); offset > 0 {
		o.parked.add(c, nil, o.r.o.Now())
	}
	if err := o.turn(func(t *Turn, s S) { s.Start(t) }, func(error) {}); err != nil {
		return records, err
	}
	o.open()
	return records, nil
}

// open lets operations in.
func (o *owner[S]) open() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ready = o.over == nil
}

// replay applies batches and returns the offset behind them. Records below from are skipped: a batch is read whole.
func (o *owner[S]) replay(b []byte, from int64) (records int, next int64, err error) {
	for len(b) > 0 {
		batch, rest, err := record.Next(b)
		if err != nil {
			return records, next, err
		}
		n, err := o.replayBatch(batch, from)
		if err != nil {
			return records, next, err
		}
		records, next, b = records+n, batch.NextOffset(), rest
	}
	return records, next, nil
}

func (o *owner[S]) replayBatch(batch record.Batch, from int64) (records int, err error) {
	p := NoProducer
	if batch.IsTransactional() {
		p = Producer{ID: batch.ProducerID(), Epoch: batch.ProducerEpoch()}
	}
	it := batch.Records(o.r.o.Decompressor)
	defer it.Close()
	perr := o.protect(func() {
		for it.Next() {
			r := it.Record()
			if r.Offset < from {
				continue
			}
			records++
			if !batch.IsControl() {
				o.shard.Replay(Record{Key: r.Key, Value: r.Value, Producer: p})
			} else if m, ok := readMarker(p, r); ok {
				o.shard.ReplayMarker(m)
			}
		}
	})
	return records, errors.Join(perr, it.Err())
}
