package group

import (
	"time"

	"moldau/broker/coordinator"
)

// rebalance begins a rebalance if none goes on, and ends it if nobody is waited for.
func (g *group) rebalance(t *coordinator.Turn) {
	if g.state == PreparingRebalance {
		g.completeIfJoined(t)
		return
	}
	if g.state == CompletingRebalance {
		g.failSyncs(ErrRebalanceInProgress)
	}
	g.syncDeadline = time.Time{}
	g.initial, g.newcomer = g.state == Empty, false
	g.state = PreparingRebalance
	delay := g.s.c.InitialRebalanceDelay
	if g.initial && delay > 0 {
		g.delayLeft = max(0, g.rebalanceTimeout()-delay)
		g.awaitJoins(t.Now.Add(delay))
		return
	}
	g.initial = false
	if g.joined() {
		g.complete(t)
		return
	}
	g.awaitJoins(t.Now.Add(g.rebalanceTimeout()))
}

// awaitJoins sets the end of the rebalance.
func (g *group) awaitJoins(until time.Time) {
	g.joinDeadline = until
	g.wake(until)
}

// completeIfJoined ends the rebalance if everybody is there. Where the group was empty, newcomers get the time that they
// are given.
func (g *group) completeIfJoined(t *coordinator.Turn) {
	if g.state == PreparingRebalance && !g.initial && g.joined() {
		g.complete(t)
	}
}

// joinTimeOver ends the rebalance because its time is over, or puts the end off where a group comes together.
func (g *group) joinTimeOver(t *coordinator.Turn) {
	if g.initial && g.newcomer && g.delayLeft > 0 {
		g.newcomer = false
		delay := min(g.s.c.InitialRebalanceDelay, g.delayLeft)
		g.delayLeft = max(0, g.delayLeft-g.s.c.InitialRebalanceDelay)
		g.awaitJoins(t.Now.Add(delay))
		return
	}
	g.complete(t)
}

// complete begins the next generation with those who have joined. Static members that have not may come back.
func (g *group) complete(t *coordinator.Turn) {
	g.joinDeadline, g.initial = time.Time{}, false
	for _, m := range append([]*member(nil), g.members...) {
		if m.join == nil && !m.isStatic() {
			g.remove(m)
		}
	}
	if len(g.members) > 0 && !g.electJoined() {
		// Only static members are left, and none has come back yet. Their sessions will end, or one of them comes.
		g.awaitJoins(t.Now.Add(g.rebalanceTimeout()))
		return
	}
	g.generation++
	if len(g.members) == 0 {
		g.becomeEmpty(t)
		return
	}
	g.protocol = g.choose()
	g.state = CompletingRebalance
	for _, m := range g.members {
		if m.join != nil {
			m.join.Send(t, g.generationFor(m))
			m.join = nil
		}
		m.isNew, m.awaitsSync = false, true
		g.touch(m, t.Now)
	}
	g.syncDeadline = t.Now.Add(g.rebalanceTimeout())
	g.wake(g.syncDeadline)
}

// electJoined makes sure that the leader is one of those who have joined, and returns false if there is none.
func (g *group) electJoined() bool {
	if m := g.byID[g.leader]; m != nil && m.join != nil {
		return true
	}
	for _, m := range g.members {
		if m.join != nil {
			g.leader = m.id
			return true
		}
	}
	return false
}

// becomeEmpty notes that nobody is left, which begins the time after which offsets expire.
func (g *group) becomeEmpty(t *coordinator.Turn) {
	g.protocol, g.leader, g.syncDeadline = "", "", time.Time{}
	t.Append(g.key(), g.encode(t.Now, nil))
}

// failSyncs answers all who wait for their assignment, and takes the assignments back.
func (g *group) failSyncs(err error) {
	for _, m := range g.members {
		m.answerSync(err)
		m.awaitsSync = false
		m.assignment = nil
	}
}

// lose removes a member and lets the others share what it had.
func (g *group) lose(t *coordinator.Turn, m *member) {
	g.remove(m)
	g.changed(t)
}

// changed is called when a member is gone.
func (g *group) changed(t *coordinator.Turn) {
	switch g.state {
	case Stable, CompletingRebalance:
		g.rebalance(t)
	case PreparingRebalance:
		g.completeIfJoined(t)
	case Empty, Assigning, Reconciling: // the latter two are not of classic groups
	}
}

// expire does what is due.
func (g *group) expire(t *coordinator.Turn) {
	if g.consumer != nil {
		g.consumer.expire(t)
		return
	}
	gone := false
	for id, at := range g.pending {
		if !at.After(t.Now) {
			delete(g.pending, id)
			gone = true
		}
	}
	if gone {
		g.completeIfJoined(t)
	}
	for _, m := range append([]*member(nil), g.members...) {
		if m.deadline.After(t.Now) || g.byID[m.id] != m {
			continue
		}
		if m.satisfied() {
			g.touch(m, t.Now)
			continue
		}
		g.lose(t, m)
	}
	if !g.joinDeadline.IsZero() && !g.joinDeadline.After(t.Now) {
		g.joinTimeOver(t)
	}
	if !g.syncDeadline.IsZero() && !g.syncDeadline.After(t.Now) {
		g.syncTimeOver(t)
	}
}

// syncTimeOver removes the members that have not asked for their assignment.
func (g *group) syncTimeOver(t *coordinator.Turn) {
	g.syncDeadline = time.Time{}
	if g.state != CompletingRebalance && g.state != Stable || g.synced() {
		return
	}
	for _, m := range append([]*member(nil), g.members...) {
		if m.awaitsSync {
			g.remove(m)
		}
	}
	g.rebalance(t)
}
