package controller

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"moldau/broker/metadata"
)

// TestDecisions plays the scripts of testdata. A script has a store in memory, to which every plan is applied; its
// revision grows by one with each transaction. Commands:
//
//	broker id=N [rack=R] [fenced] [draining]      registers a broker
//	limits [request=N] [broker=N]
//	create name=T [partitions=N] [factor=N] [assign=(1:2,2:1)] [config=(k=v)] [seed=N]
//	grow name=T count=N [assign=(1:2,...)]
//	delete name=T | id=$N
//	config type=topic|broker|group name=N [set=(k=v,...)] [remove=(k,...)]
//	elect topic=T partition=N [unclean]
//	reassign topic=T partition=N [to=(1,2)] [factor-may-change]
//	bump at=(T:N,...)
//	partition topic=T partition=N [isr=(...)] [leader=N] [elr=(...)]      changes a partition, as its leader would
//	crash after=N                                 the next plan is cut after N transactions
//	sweep
//	image
//
// Topic ids are $1, $2, ... in the order of creation.
func TestDecisions(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{t: t, img: metadata.NewImage(), limits: DefaultLimits(), cut: -1, kvs: map[string]metadata.KV{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t, s.d = t, d
			run := map[string]func() string{
				"broker": s.broker, "limits": s.setLimits, "create": s.create, "grow": s.grow, "delete": s.delete,
				"config": s.config, "elect": s.elect, "reassign": s.reassign, "bump": s.bump, "partition": s.partition,
				"crash": s.crash, "sweep": s.sweep, "image": s.image,
			}[d.Cmd]
			if run == nil {
				t.Fatalf("unknown command %s", d.Cmd)
			}
			return run()
		})
	})
}

type script struct {
	t      *testing.T
	d      *datadriven.TestData
	img    *metadata.Image
	kvs    map[string]metadata.KV // the store
	limits Limits
	topics byte // created so far
	cut    int  // transactions of the next plan that are run; -1: all
}

func scriptID(n byte) metadata.TopicID { return metadata.TopicID{0: n, 15: 1} }

func (s *script) num(key string, otherwise int) int {
	n := otherwise
	if s.d.HasArg(key) {
		s.d.ScanArgs(s.t, key, &n)
	}
	return n
}

func (s *script) text(key string) string {
	v := ""
	if s.d.HasArg(key) {
		s.d.ScanArgs(s.t, key, &v)
	}
	return v
}

// list returns the values of key=(a,b).
func (s *script) list(key string) []string {
	for _, arg := range s.d.CmdArgs {
		if arg.Key == key {
			return arg.Vals
		}
	}
	return nil
}

func (s *script) ids(key string) []int32 { return parseIDs(s.t, s.list(key)) }

func parseIDs(t *testing.T, list []string) []int32 {
	var ids []int32
	for _, v := range list {
		if v == "" {
			continue
		}
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, int32(n))
	}
	return ids
}

// assign parses replica lists such as (1:2,2:1).
func (s *script) assign() [][]int32 {
	var lists [][]int32
	for _, v := range s.list("assign") {
		lists = append(lists, parseIDs(s.t, strings.Split(v, ":")))
	}
	return lists
}

func (s *script) pairs(key string) map[string]string {
	pairs := map[string]string{}
	for _, v := range s.list(key) {
		k, val, _ := strings.Cut(v, "=")
		pairs[k] = val
	}
	return pairs
}

// apply runs a plan against the store and says what it did.
func (s *script) apply(plan Plan, err error) string {
	if err != nil {
		return s.refusal(err)
	}
	if len(plan) == 0 {
		return "nothing to do\n"
	}
	var b strings.Builder
	first := s.img.Rev() + 1
	for i := range plan {
		if i == s.cut {
			s.cut = -1
			fmt.Fprintf(&b, "crash before transaction %d of %d\n", i+1, len(plan))
			return b.String()
		}
		b.WriteString(s.txn(plan.step(i, first)))
	}
	s.cut = -1
	return b.String()
}

func (s *script) refusal(err error) string {
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		s.t.Fatalf("error %v is no refusal", err)
	}
	return fmt.Sprintf("refused: %v: %s\n", refusal.Reason, refusal.Message)
}

// txn runs one transaction, whose compares must hold, and checks what every image must fulfil.
func (s *script) txn(txn metadata.Txn) string {
	if err := txn.Check(); err != nil {
		s.t.Fatal(err)
	}
	for _, c := range txn.Cmps {
		kv := s.kvs[c.Key]
		var held bool
		switch c.Field {
		case metadata.CmpMod:
			held = kv.ModRev == c.Rev
		case metadata.CmpExists:
			held = kv.ModRev != 0
		case metadata.CmpCreate:
			held = kv.CreateRev == c.Rev
		}
		if !held {
			s.t.Fatalf("compare %+v does not hold for %+v", c, kv)
		}
	}
	rev := s.img.Rev() + 1
	events := s.run(txn.Ops, rev)
	next, _, err := s.img.Apply(rev, events)
	if err != nil {
		s.t.Fatal(err)
	}
	s.checkEpochs(next)
	s.img = next
	return fmt.Sprintf("transaction: %d compares, %d operations\n", len(txn.Cmps), len(txn.Ops))
}

func (s *script) run(ops []metadata.Op, rev metadata.Rev) []metadata.Event {
	var events []metadata.Event
	for _, op := range ops {
		var keys []string
		switch op.Kind {
		case metadata.OpPut:
			kv := metadata.KV{Key: op.Key, Value: op.Value, CreateRev: s.kvs[op.Key].CreateRev, ModRev: rev}
			if kv.CreateRev == 0 {
				kv.CreateRev = rev
			}
			s.kvs[op.Key] = kv
			events = append(events, metadata.Event{KV: kv})
			continue
		case metadata.OpDelete:
			keys = []string{op.Key}
		case metadata.OpDeletePrefix:
			for key := range s.kvs {
				if strings.HasPrefix(key, op.Key) {
					keys = append(keys, key)
				}
			}
		}
		for _, key := range keys {
			if _, ok := s.kvs[key]; ok {
				delete(s.kvs, key)
				events = append(events, metadata.Event{Kind: metadata.EventDelete, KV: metadata.KV{Key: key, ModRev: rev}})
			}
		}
	}
	return events
}

// checkEpochs checks that no leader epoch went back, by topic name; that leaders are in sync and in sync replicas are
// replicas.
func (s *script) checkEpochs(next *metadata.Image) {
	for t := range next.Topics() {
		before, _ := s.img.Topic(t.Name)
		for i, p := range t.Partitions {
			if before != nil && i < len(before.Partitions) && p.LeaderEpoch < before.Partitions[i].LeaderEpoch {
				s.t.Errorf("%s-%d: leader epoch went back from %d to %d", t.Name, i, before.Partitions[i].LeaderEpoch, p.LeaderEpoch)
			}
			if p.Leader != metadata.NoLeader && !slices.Contains(p.ISR, p.Leader) {
				s.t.Errorf("%s-%d: leader %d is not in sync %v", t.Name, i, p.Leader, p.ISR)
			}
			if extra := without(p.ISR, p.Replicas...); len(extra) > 0 || len(p.ISR) == 0 {
				s.t.Errorf("%s-%d: in sync %v of replicas %v", t.Name, i, p.ISR, p.Replicas)
			}
		}
	}
}

func (s *script) put(key string, r metadata.Record) {
	s.txn(metadata.Txn{Ops: []metadata.Op{metadata.Put(key, metadata.Encode(r))}})
}

func (s *script) broker() string {
	id := int32(s.num("id", 0))
	s.txn(metadata.Txn{Ops: []metadata.Op{metadata.Delete(metadata.BrokerKey(id))}})
	s.put(metadata.BrokerKey(id), &metadata.BrokerRecord{Rack: s.text("rack")})
	status := metadata.BrokerActive
	if s.d.HasArg("fenced") {
		status = metadata.BrokerFenced
	}
	if s.d.HasArg("draining") {
		status = metadata.BrokerDraining
	}
	s.put(metadata.BrokerStateKey(id), &metadata.BrokerStateRecord{Epoch: int64(s.kvs[metadata.BrokerKey(id)].CreateRev), Status: status})
	return ""
}

func (s *script) setLimits() string {
	s.limits.PartitionsPerRequestMax = s.num("request", s.limits.PartitionsPerRequestMax)
	s.limits.ReplicasPerBrokerMax = s.num("broker", s.limits.ReplicasPerBrokerMax)
	return ""
}

func (s *script) create() string {
	spec := TopicSpec{
		Name: s.text("name"), Partitions: int32(s.num("partitions", -1)), ReplicationFactor: int16(s.num("factor", -1)),
		Config: s.pairs("config"), ID: scriptID(s.topics + 1), Seed: uint64(s.num("seed", 1)),
	}
	for i, replicas := range s.assign() {
		if spec.Assignments == nil {
			spec.Assignments = map[int32][]int32{}
		}
		spec.Assignments[int32(i+s.num("first", 0))] = replicas
	}
	plan, result, err := CreateTopic(s.img, s.limits, nil, spec)
	if err != nil {
		return s.refusal(err)
	}
	s.topics++
	out := s.apply(plan, nil)
	return fmt.Sprintf("%s: %d partitions, replication factor %d%s\n%s", result.Name, result.Partitions, result.ReplicationFactor, showConfig(result.Config), out)
}

func (s *script) grow() string {
	return s.apply(CreatePartitions(s.img, s.limits, nil, PartitionsSpec{
		Topic: s.text("name"), Count: int32(s.num("count", 0)), Assignments: s.assign(), Seed: 1,
	}))
}

func (s *script) delete() string {
	ref := TopicRef{Name: s.text("name")}
	if id := s.text("id"); id != "" {
		ref.ID = scriptID(id[1] - '0')
	}
	plan, _, err := DeleteTopic(s.img, ref)
	return s.apply(plan, err)
}

func (s *script) config() string {
	kinds := map[string]metadata.ResourceType{"topic": metadata.TopicResource, "broker": metadata.BrokerResource, "group": metadata.GroupResource}
	return s.apply(AlterConfig(s.img, ConfigSpec{
		Resource: metadata.Resource{Type: kinds[s.text("type")], Name: s.text("name")},
		Edit: func(overrides map[string]string) (map[string]string, error) {
			maps.Copy(overrides, s.pairs("set"))
			for _, k := range s.list("remove") {
				delete(overrides, k)
			}
			return overrides, nil
		},
	}))
}

func (s *script) elect() string {
	kind := PreferredElection
	if s.d.HasArg("unclean") {
		kind = UncleanElection
	}
	return s.apply(ElectLeader(s.img, kind, TopicPartition{s.text("topic"), int32(s.num("partition", 0))}))
}

func (s *script) reassign() string {
	return s.apply(Reassign(s.img, Reassignment{
		TopicPartition:    TopicPartition{s.text("topic"), int32(s.num("partition", 0))},
		Replicas:          s.ids("to"),
		AllowFactorChange: s.d.HasArg("factor-may-change"),
	}))
}

func (s *script) bump() string {
	var tps []TopicPartition
	for _, v := range s.list("at") {
		topic, index, _ := strings.Cut(v, ":")
		n, err := strconv.Atoi(index)
		if err != nil {
			s.t.Fatal(err)
		}
		tps = append(tps, TopicPartition{topic, int32(n)})
	}
	return s.apply(BumpLeaderEpochs(s.img, tps), nil)
}

func (s *script) partition() string {
	p, ok := s.img.Partition(s.text("topic"), int32(s.num("partition", 0)))
	if !ok {
		s.t.Fatal("no such partition")
	}
	r := partitionRecord(p)
	if s.d.HasArg("isr") {
		r.ISR = s.ids("isr")
	}
	if s.d.HasArg("elr") {
		r.ELR = s.ids("elr")
	}
	if leader := int32(s.num("leader", int(r.Leader))); leader != r.Leader {
		r.Leader, r.LeaderEpoch = leader, r.LeaderEpoch+1
	}
	s.put(metadata.PartitionKey(p.Topic.ID, p.Index), &r)
	return ""
}

func (s *script) crash() string {
	s.cut = s.num("after", 0)
	return ""
}

func (s *script) sweep() string {
	var b strings.Builder
	for u := range s.img.Unfinished() {
		for more := true; more; u, more = s.img.UnfinishedTopic(u.ID) {
			fmt.Fprintf(&b, "%s %q: ", u.Name, u.State)
			b.WriteString(s.apply(FinishTopic(s.img, u), nil))
		}
	}
	if b.Len() == 0 {
		return "nothing to do\n"
	}
	return b.String()
}

func (s *script) image() string {
	var b strings.Builder
	for t := range s.img.Topics() {
		fmt.Fprintf(&b, "%s $%d%s\n", t.Name, t.ID[0], showConfig(t.Config))
		if len(t.Partitions) > 12 {
			fmt.Fprintf(&b, "  %d partitions\n", len(t.Partitions))
			continue
		}
		for _, p := range t.Partitions {
			fmt.Fprintf(&b, "  %d: replicas %v in sync %v leader %d epoch %d%s%s%s\n", p.Index, p.Replicas, p.ISR, p.Leader, p.LeaderEpoch,
				showIDs(" adding", p.Adding), showIDs(" removing", p.Removing), showIDs(" eligible", p.ELR))
		}
	}
	for _, kind := range []metadata.ResourceType{metadata.BrokerResource, metadata.GroupResource} {
		for name := range s.img.Resources(kind) {
			fmt.Fprintf(&b, "%s %q%s\n", kind, name, showConfig(s.img.Config(kind, name)))
		}
	}
	fmt.Fprintf(&b, "%d partition records\n", s.count("part/"))
	return b.String()
}

func (s *script) count(prefix string) (n int) {
	for key := range s.kvs {
		if strings.HasPrefix(key, prefix) {
			n++
		}
	}
	return n
}

func showIDs(name string, ids []int32) string {
	if len(ids) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %v", name, ids)
}

func showConfig(config map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(config)) {
		fmt.Fprintf(&b, " %s=%s", k, config[k])
	}
	return b.String()
}
