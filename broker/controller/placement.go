package controller

import (
	"math/rand/v2"
	"slices"
	"strings"

	"moldau/broker/metadata"
)

// placer gives partitions their replicas. Racks take turns in leading, and the brokers of a rack take turns in leading for
// it, so that leaders spread evenly; the other replicas go to the racks that follow, so that a partition is in as many
// racks as it can be. Brokers that are fenced or about to stop get replicas only when there are no others, and never lead.
type placer struct {
	racks []*rack
	first int // index of the rack that leads next
	total int
	ready int // brokers that may lead
}

// rack is the brokers of one rack. Its lists are rings, read from next on.
type rack struct {
	ready, other []int32
	next         int
}

// newPlacer returns a placer over brokers. The seed decides the order of racks and brokers, so that many small topics do
// not all end up on the same broker.
func newPlacer(brokers []*metadata.Broker, seed uint64) *placer {
	p := &placer{total: len(brokers)}
	byName := map[string]*rack{}
	var names []string
	for _, b := range brokers {
		r := byName[b.Rack]
		if r == nil {
			r = &rack{}
			byName[b.Rack] = r
			names = append(names, b.Rack)
		}
		if usable(b) {
			r.ready = append(r.ready, b.ID)
			p.ready++
		} else {
			r.other = append(r.other, b.ID)
		}
	}
	slices.SortFunc(names, strings.Compare)
	rnd := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // spreads load, guards nothing
	for _, name := range names {
		r := byName[name]
		rnd.Shuffle(len(r.ready), func(i, j int) { r.ready[i], r.ready[j] = r.ready[j], r.ready[i] })
		rnd.Shuffle(len(r.other), func(i, j int) { r.other[i], r.other[j] = r.other[j], r.other[i] })
		p.racks = append(p.racks, r)
	}
	if len(p.racks) > 0 {
		p.first = rnd.IntN(len(p.racks))
	}
	return p
}

// usable reports whether a broker may get leadership.
func usable(b *metadata.Broker) bool { return !b.Fenced && !b.Draining }

// check refuses a replication factor that the brokers cannot give.
func (p *placer) check(factor int) error {
	switch {
	case factor <= 0:
		return refuse(ErrInvalidReplicationFactor, "Invalid replication factor %d: the replication factor must be positive.", factor)
	case p.ready == 0:
		return refuse(ErrInvalidReplicationFactor, "All brokers are currently fenced, or have all their log directories cordoned.")
	case factor > p.total:
		return refuse(ErrInvalidReplicationFactor, "The target replication factor of %d cannot be reached because only %d broker(s) are registered or some brokers have all their log directories cordoned.", factor, p.total)
	}
	return nil
}

// place returns the replicas of the next partition, the leader first. The factor has passed check.
func (p *placer) place(factor int) []int32 {
	for len(p.racks[p.first].ready) == 0 { // a rack without a leader is passed over; check says that there is another
		p.first = (p.first + 1) % len(p.racks)
	}
	replicas := make([]int32, 0, factor)
	replicas = p.take(replicas, factor, func(r *rack) []int32 { return r.ready })
	replicas = p.take(replicas, factor, func(r *rack) []int32 { return r.other })
	p.racks[p.first].next++
	p.first = (p.first + 1) % len(p.racks)
	return replicas
}

// take adds brokers of the listed kind: one of each rack, then a second of each, and so on.
func (p *placer) take(replicas []int32, factor int, list func(*rack) []int32) []int32 {
	for round := 0; len(replicas) < factor; round++ {
		before := len(replicas)
		for i := range p.racks {
			r := p.racks[(p.first+i)%len(p.racks)]
			if ring := list(r); round < len(ring) && len(replicas) < factor {
				replicas = append(replicas, ring[(r.next+round)%len(ring)])
			}
		}
		if len(replicas) == before {
			break
		}
	}
	return replicas
}

// newPartition is the record of a fresh partition. At least one replica is usable.
func newPartition(img *metadata.Image, replicas []int32, leaderEpoch int32) metadata.PartitionRecord {
	r := metadata.PartitionRecord{Replicas: replicas, Leader: metadata.NoLeader, LeaderEpoch: leaderEpoch}
	for _, id := range replicas {
		if b, ok := img.Broker(id); ok && usable(b) {
			r.ISR = append(r.ISR, id)
		}
	}
	if len(r.ISR) > 0 {
		r.Leader = r.ISR[0]
	}
	return r
}
