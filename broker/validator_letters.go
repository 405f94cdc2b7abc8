package broker

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"moldau/broker/partition"
	"moldau/broker/record"
	"moldau/broker/storage"
)

// letterBatchBytes is how much of dead letters is gathered before it is appended.
const letterBatchBytes = 512 << 10

// deadLetters writes the records that do not conform to the topic that theirs names.
type deadLetters struct {
	n       *Node
	to      *partition.Topic
	index   int32
	sorter  *sorter
	options record.Options
	origin  []record.Header // tell where a record was to go
	commit  partition.Commit
}

// deadLetters begins the dead letters of a batch.
func (n *Node) deadLetters(from target, batch record.Batch, s *sorter) (*deadLetters, error) {
	to, err := n.deadLetterTopic(from)
	if err != nil {
		return nil, err
	}
	cfg := to.Config()
	if cfg.Compacted() {
		return nil, fmt.Errorf("%w: topic %s is compacted, which would lose those with equal keys", ErrDeadLettersNotAvailable, to.Name)
	}
	o := record.NewOptions(batch.Codec())
	if !cfg.KeepProducerCodec {
		o.Codec, o.Level = cfg.Codec, cfg.CodecLevel
	}
	if o.TimestampType = cfg.TimestampType; o.TimestampType == record.LogAppendTime {
		o.AppendTime = n.now().UnixMilli()
	}
	s.letters.Reset(o)
	return &deadLetters{
		n: n, to: to, index: from.index % int32(len(to.Partitions())), sorter: s, options: o, //nolint:gosec // partitions are counted in 32 bits
		origin: []record.Header{
			{Key: []byte(headerTopic), Value: []byte(from.topic.Name)},
			{Key: []byte(headerPartition), Value: strconv.AppendInt(nil, int64(from.index), 10)},
		},
	}, nil
}

// deadLetterTopic finds the topic of dead letters, and makes it where it isn't there yet, whether or not clients may do so.
func (n *Node) deadLetterTopic(from target) (*partition.Topic, error) {
	name := from.cfg.Validation.DeadLetterTopic(from.topic.Name)
	if name == from.topic.Name {
		return nil, fmt.Errorf("%w: topic %s cannot take its own", ErrDeadLettersNotAvailable, name)
	}
	if to, ok := n.partitions.Topic(name); ok {
		return to, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), autoCreateTimeout)
	defer cancel()
	if err := n.createShared(ctx, name); err != nil {
		return nil, fmt.Errorf("%w: make topic %s: %w", ErrDeadLettersNotAvailable, name, err)
	}
	to, ok := n.partitions.Topic(name)
	if !ok {
		return nil, fmt.Errorf("%w: topic %s is being made", ErrDeadLettersNotAvailable, name)
	}
	return to, nil
}

// add takes a record that does not conform.
func (w *deadLetters) add(r *record.Record, f *ValidationFailure) error {
	w.sorter.letters.Append(w.sorter.annotated(r, f, w.origin...))
	if w.sorter.letters.Size() < letterBatchBytes {
		return nil
	}
	return w.flush()
}

// errLetterTooLarge says that a record can never become a dead letter, being larger than a segment.
var errLetterTooLarge = errors.New("a dead letter is larger than a segment of its topic")

// flush appends what was gathered.
func (w *deadLetters) flush() error {
	letters := &w.sorter.letters
	if letters.Count() == 0 {
		return nil
	}
	buf := w.n.scratch.Get().(*[]byte)
	defer w.n.scratch.Put(buf)
	batch, err := letters.Build((*buf)[:0], w.n.compressor)
	if err != nil {
		return err
	}
	*buf = batch[:0]
	letters.Reset(w.options)
	p := w.to.Partition(w.index)
	if p == nil {
		return fmt.Errorf("%w: partition %d of topic %s is not here", ErrDeadLettersNotAvailable, w.index, w.to.Name)
	}
	appended, err := p.Append(batch, partition.AcksAll, storage.OriginClient)
	switch {
	case errors.Is(err, storage.ErrTooLarge):
		return errLetterTooLarge
	case err != nil:
		return fmt.Errorf("%w: %w", ErrDeadLettersNotAvailable, w.n.dataError(w.to, w.index, err))
	}
	w.commit = appended.Commit
	return nil
}
