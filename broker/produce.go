package broker

import (
	"context"
	"errors"
	"fmt"

	"moldau/broker/configdef"
	"moldau/broker/partition"
	"moldau/broker/record"
	"moldau/broker/storage"
)

// Produced is the outcome of Produce for one partition. It is a value: keep it where Wait can reach it, don't copy it
// after the first Wait.
type Produced struct {
	// Err is nil or one of the sentinels of this package.
	Err error
	// Message tells people what was wrong; empty when Err says it all.
	Message string
	// RecordErrors names the records that were at fault, by index within the batch (KIP-467).
	RecordErrors []record.RecordError
	// BaseOffset is the offset of the first record; -1 with an error. A duplicate has the offset of its original.
	BaseOffset int64
	// LogAppendTime is the broker's time in ms since 1970 on topics with LogAppendTime, else -1.
	LogAppendTime int64
	// LogStartOffset is the first offset of the partition at the time of the append; with an error it is there only if
	// the records were judged by what is in the log or in the topic's configuration, else -1, as in Kafka.
	LogStartOffset int64
	// Leader is set with ErrNotLeader and ErrFencedLeaderEpoch (KIP-951), else {-1, -1}.
	Leader LeaderHint

	letters partition.Commit // done when the dead letters of the batch are committed
	commit  partition.Commit // done when the outcome is final, with letters
}

// Produce appends records to one partition that this node leads. It returns once the records are in the log; the caller
// has to Wait before it may answer. The bytes are changed in place (base offsets, leader epochs and
// append times) and not kept.
//
// Batches of transactions need a Confirmation: see ProduceIn.
func (n *Node) Produce(c *Caller, topic TopicRef, index int32, records []byte, acks int16) Produced {
	return n.produce(c, topic, index, records, acks, confirmedBatch{})
}

func (n *Node) produce(_ *Caller, topic TopicRef, index int32, records []byte, acks int16, known confirmedBatch) Produced {
	t, p, err := n.find(topic, index)
	switch {
	case err != nil:
	case acks < -1 || acks > 1:
		err = ErrInvalidRequiredAcks
	case t.Internal:
		err = ErrInvalidTopic
	case known.err != nil:
		err = known.err
	default:
		var batch record.Batch
		if batch, err = onlyBatch(records); err != nil {
			break
		}
		var out Produced
		if out, err = n.append(t, p, index, batch, acks, known); err == nil {
			return out
		}
		return n.refuseAppend(t, p, index, err)
	}
	return n.refuseProduce(t, index, err)
}

// append validates a batch and appends it, without the records that are dead letters.
func (n *Node) append(t *partition.Topic, p *partition.Partition, index int32, batch record.Batch, acks int16, known confirmedBatch) (Produced, error) {
	cfg := t.Config()
	in, err := n.admit(target{t, p, index, acks, cfg}, batch)
	if err != nil {
		return Produced{}, err
	}
	defer n.release(in)
	appended, err := n.appendAs(cfg, p, in.batch, acks, known.guard)
	if err != nil {
		return Produced{}, err
	}
	out := Produced{BaseOffset: appended.BaseOffset, LogAppendTime: -1, LogStartOffset: appended.LogStartOffset, Leader: noLeader, letters: in.letters}
	if cfg.TimestampType == record.LogAppendTime {
		out.LogAppendTime = appended.LogAppendTime
	}
	if acks == partition.AcksAll {
		out.commit = appended.Commit
	}
	return out, nil
}

// appendAs appends a batch under the codec that the topic asks for.
func (n *Node) appendAs(cfg *configdef.Topic, p *partition.Partition, batch record.Batch, acks int16, guard storage.Guard) (partition.Appended, error) {
	if cfg.KeepProducerCodec || batch.Codec() == cfg.Codec || batch.Count() == 0 {
		return appendGuarded(p, batch, acks, guard)
	}
	buf := n.scratch.Get().(*[]byte)
	defer n.scratch.Put(buf)
	packed, err := batch.Recompress((*buf)[:0], cfg.Codec, cfg.CodecLevel, n.decompressors.upTo(cfg.MaxDecompressedBytes), n.compressor)
	if err != nil {
		return partition.Appended{}, err
	}
	*buf = packed[:0]
	if len(packed) > cfg.MaxMessageBytes {
		return partition.Appended{}, ErrMessageTooLarge
	}
	return appendGuarded(p, packed, acks, guard)
}

// errBatchCount refuses requests that carry another number of batches than one.
var errBatchCount = &record.InvalidRecordError{Kind: record.ErrInvalidRecord, Message: "A produce request must carry exactly one record batch for a partition"}

// errOldFormat refuses message formats 0 and 1, whatever the version of the request, with the code that Kafka 4 has for them.
var errOldFormat = &record.InvalidRecordError{Kind: record.ErrInvalidRecord, Message: "Message formats 0 and 1 are not taken: a produce request must carry record batches of format 2"}

// errCutShort refuses a request whose batch ends before its own length says so.
var errCutShort = &record.InvalidRecordError{Kind: record.ErrInvalidRecord, Message: "The record batch is longer than the request"}

// onlyBatch returns the one batch that a client may send for a partition at a time.
func onlyBatch(records []byte) (record.Batch, error) {
	if len(records) == 0 {
		return nil, errBatchCount
	}
	batch, rest, err := record.Next(records)
	switch {
	case errors.Is(err, record.ErrShort):
		return nil, errCutShort
	case errors.Is(err, record.ErrUnsupportedMagic):
		return nil, errOldFormat
	case err != nil:
		return nil, err
	case len(rest) > 0:
		return nil, errBatchCount
	}
	return batch, nil
}

// refuseProduce makes the answer of a produce that failed. t is nil when there is no such topic.
func (n *Node) refuseProduce(t *partition.Topic, index int32, err error) Produced {
	out := Produced{Err: err, BaseOffset: -1, LogAppendTime: -1, LogStartOffset: -1, Leader: noLeader}
	if invalid, ok := errors.AsType[*record.InvalidRecordError](err); ok {
		out.Err, out.Message, out.RecordErrors = invalid.Kind, invalid.Message, invalid.Records
	}
	for _, unavailable := range []error{ErrSchemasNotAvailable, ErrDeadLettersNotAvailable} {
		if errors.Is(err, unavailable) {
			out.Err, out.Message = unavailable, err.Error()
		}
	}
	if t == nil {
		return out
	}
	out.Err = n.dataError(t, index, out.Err)
	out.Leader = n.leaderHint(t.Name, index, out.Err)
	return out
}

// refuseAppend makes the answer of a produce that failed when its batch was held against the topic and the log.
func (n *Node) refuseAppend(t *partition.Topic, p *partition.Partition, index int32, err error) Produced {
	out := n.refuseProduce(t, index, err)
	if tellsLogStart(out.Err) {
		out.LogStartOffset = p.Status().LogStart
	}
	return out
}

// tellsLogStart tells whether a refusal carries the partition's first offset: those that Kafka makes after it has
// looked at the log.
func tellsLogStart(err error) bool {
	for _, late := range []error{ErrInvalidRecord, ErrInvalidTimestamp, ErrOutOfOrderSequence, ErrInvalidProducerEpoch, ErrInvalidTxnState} {
		if errors.Is(err, late) {
			return true
		}
	}
	return false
}

// Poll tells whether the outcome is final. Otherwise it returns a channel that is closed when it makes sense to Poll
// again; several partitions of one request may be polled one after the other.
func (p *Produced) Poll() (done bool, changed <-chan struct{}) {
	done, err, changed := p.letters.Poll()
	if !done {
		return false, changed
	}
	if err != nil {
		p.finish(ErrDeadLettersNotAvailable)
		p.Message = fmt.Sprintf("%v: %v", ErrDeadLettersNotAvailable, err)
		return true, nil
	}
	p.letters = partition.Commit{}
	done, err, changed = p.commit.Poll()
	if !done {
		return false, changed
	}
	if errors.Is(err, partition.ErrUnknown) {
		err = ErrUnknownTopicOrPartition
	}
	p.finish(err)
	return true, nil
}

// Done tells whether the outcome is final.
func (p *Produced) Done() bool {
	done, _ := p.Poll()
	return done
}

// Wait returns when the outcome is final: for acks -1 when the high watermark covers the records, and for all when dead letters are
// committed. If ctx ends before,
// Err becomes ErrTimedOut; the records may still be committed later.
func (p *Produced) Wait(ctx context.Context) {
	for {
		done, changed := p.Poll()
		if done {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			p.Expire()
			return
		}
	}
}

// Expire makes a pending outcome final with ErrTimedOut, for callers that keep the time themselves.
func (p *Produced) Expire() {
	if !p.Done() {
		p.finish(ErrTimedOut)
	}
}

// finish makes the outcome final.
func (p *Produced) finish(err error) {
	p.letters, p.commit = partition.Commit{}, partition.Commit{}
	if err != nil {
		p.Err, p.BaseOffset, p.LogAppendTime, p.LogStartOffset = err, -1, -1, -1
	}
}
