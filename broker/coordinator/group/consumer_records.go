package group

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"moldau/broker/coordinator"
)

// The kinds of records of the consumer protocol, which are the versions of their keys.
const (
	consumerGroupKey       = 3
	consumerTopicsKey      = 4 // written by Kafka before 4.1, and not needed
	consumerMemberKey      = 5
	consumerTargetEpochKey = 6
	consumerTargetKey      = 7
	consumerCurrentKey     = 8
	consumerRegexKey       = 16
)

// consumerKey makes a key of a kind: the kind and strings.
func consumerKey(kind int16, parts ...string) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(kind))
	for _, s := range parts {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
	}
	return b
}

func (c *consumers) memberKey(id string) []byte { return consumerKey(consumerMemberKey, c.g.id, id) }

func (c *consumers) appendEpoch(t *coordinator.Turn, epoch int32, hash int64) {
	w := newFlexWriter()
	w.int32(epoch)
	if hash == 0 {
		w.noTags()
	} else {
		w.uvarint(1)
		w.tag(0, binary.BigEndian.AppendUint64(nil, uint64(hash)))
	}
	t.Append(consumerKey(consumerGroupKey, c.g.id), w.b)
}

func (c *consumers) appendMember(t *coordinator.Turn, id string, p *profile) {
	t.Append(c.memberKey(id), p.encode())
}

// encode returns the value of a member's record.
func (p *profile) encode() []byte {
	w := newFlexWriter()
	w.optional(p.instanceID)
	w.optional(p.rack)
	w.string(p.clientID)
	w.string(p.clientHost)
	w.strings(p.topics)
	w.optional(p.regex)
	w.int32(int32(p.rebalanceTimeout.Milliseconds()))
	w.optional(p.assignor)
	if p.classic == nil {
		w.noTags()
		return w.b
	}
	f := &flexWriter{b: []byte{1}} // not null
	f.int32(int32(p.classic.sessionTimeout.Milliseconds()))
	f.array(len(p.classic.protocols))
	for _, protocol := range p.classic.protocols {
		f.string(protocol.Name)
		f.bytes(protocol.Metadata)
		f.noTags()
	}
	f.noTags()
	w.uvarint(1)
	w.tag(0, f.b)
	return w.b
}

func decodeProfile(b []byte) (profile, error) {
	r := &flexReader{b: b}
	if err := r.begin(); err != nil {
		return profile{}, err
	}
	p := profile{instanceID: r.string(), rack: r.string(), clientID: r.string(), clientHost: r.string()}
	p.topics = sortedNames(r.strings())
	p.regex = r.string()
	p.rebalanceTimeout = time.Duration(r.int32()) * time.Millisecond
	p.assignor = r.string()
	r.tags(func(tag int, f *flexReader) {
		if tag != 0 || f.int8() != 1 {
			return
		}
		p.classic = &classicProfile{sessionTimeout: time.Duration(f.int32()) * time.Millisecond}
		for n := f.array(3); n > 0 && !f.bad; n-- {
			p.classic.protocols = append(p.classic.protocols, Protocol{Name: f.string(), Metadata: f.bytes()})
			f.tags(nil)
		}
		f.tags(nil)
	})
	return p, r.end()
}

func (c *consumers) appendTarget(t *coordinator.Turn, id string, target Partitions) {
	t.Append(consumerKey(consumerTargetKey, c.g.id, id), encodeTarget(target))
}

func encodeTarget(target Partitions) []byte {
	w := newFlexWriter()
	w.array(len(target))
	for _, topic := range target.Topics() {
		w.topicID(topic)
		w.int32s(target[topic])
		w.noTags()
	}
	w.noTags()
	return w.b
}

func decodeTarget(b []byte) (Partitions, error) {
	r := &flexReader{b: b}
	if err := r.begin(); err != nil {
		return nil, err
	}
	target := Partitions{}
	for n := r.array(18); n > 0 && !r.bad; n-- {
		topic, list := r.topicID(), r.int32s()
		r.tags(nil)
		slices.Sort(list)
		if list = slices.Compact(list); len(list) > 0 {
			target[topic] = list
		}
	}
	r.tags(nil)
	return target, r.end()
}

func (c *consumers) appendTargetEpoch(t *coordinator.Turn, epoch int32, now time.Time) {
	w := newFlexWriter()
	w.int32(epoch)
	w.uvarint(1)
	w.tag(0, binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli())))
	t.Append(consumerKey(consumerTargetEpochKey, c.g.id), w.b)
}

func (c *consumers) appendStanding(t *coordinator.Turn, id string, s *standing) {
	t.Append(consumerKey(consumerCurrentKey, c.g.id, id), s.encode())
}

// encode returns the value of the record of what a member has.
func (s *standing) encode() []byte {
	w := newFlexWriter()
	w.int32(s.epoch)
	w.int32(s.previous)
	w.int8(int8(s.state))
	for _, h := range []held{s.assigned, s.revoking} {
		partitions := h.partitions()
		w.array(len(h))
		for _, topic := range partitions.Topics() {
			w.topicID(topic)
			w.int32s(partitions[topic])
			epochs := &flexWriter{}
			epochs.array(len(partitions[topic]))
			for _, p := range partitions[topic] {
				epochs.int32(h[topic][p])
			}
			w.uvarint(1)
			w.tag(0, epochs.b)
		}
	}
	w.noTags()
	return w.b
}

func decodeStanding(b []byte) (standing, error) {
	r := &flexReader{b: b}
	if err := r.begin(); err != nil {
		return standing{}, err
	}
	s := standing{epoch: r.int32(), previous: r.int32(), state: MemberState(r.int8())}
	if s.state < MemberStable || s.state > MemberUnreleased {
		s.state = MemberUnknown
	}
	s.assigned = readHeld(r, s.epoch)
	s.revoking = readHeld(r, s.epoch)
	r.tags(nil)
	return s, r.end()
}

// readHeld reads partitions with the epochs in which they were assigned; where these are not told, they are the member's.
func readHeld(r *flexReader, epoch int32) held {
	h := held{}
	for n := r.array(18); n > 0 && !r.bad; n-- {
		topic, list := r.topicID(), r.int32s()
		var epochs []int32
		r.tags(func(tag int, f *flexReader) {
			if tag == 0 {
				epochs = f.int32s()
			}
		})
		for i, p := range list {
			at := epoch
			if len(epochs) == len(list) {
				at = epochs[i]
			}
			h.put(topic, p, at)
		}
	}
	return h
}

// appendRegex notes which topics an expression means, and returns false if these do not fit into a record.
func (c *consumers) appendRegex(t *coordinator.Turn, expression string, names []string, rev int64) bool {
	key := consumerKey(consumerRegexKey, c.g.id, expression)
	w := newFlexWriter()
	w.strings(names)
	w.int64(rev)
	w.int64(t.Now.UnixMilli())
	w.noTags()
	if len(key)+len(w.b) > t.RecordBytesMax {
		return false
	}
	t.Append(key, w.b)
	return true
}

// appendRegexEnd notes that nobody has an expression any more.
func (c *consumers) appendRegexEnd(t *coordinator.Turn, expression string) {
	t.Append(consumerKey(consumerRegexKey, c.g.id, expression), nil)
}

// appendRemoval removes a member with all that belongs to it.
func (c *consumers) appendRemoval(t *coordinator.Turn, id string) {
	for _, kind := range []int16{consumerCurrentKey, consumerTargetKey, consumerMemberKey} {
		t.Append(consumerKey(kind, c.g.id, id), nil)
	}
}

// appendEnd removes the group with all that belongs to it but its offsets.
func (c *consumers) appendEnd(t *coordinator.Turn) {
	for _, m := range c.sorted() {
		c.appendRemoval(t, m.id)
	}
	for _, id := range sortedKeys(c.targets) {
		t.Append(consumerKey(consumerTargetKey, c.g.id, id), nil)
	}
	for _, expression := range sortedKeys(c.regexes) {
		c.appendRegexEnd(t, expression)
	}
	t.Append(consumerKey(consumerTargetEpochKey, c.g.id), nil)
	t.Append(consumerKey(consumerGroupKey, c.g.id), nil)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
