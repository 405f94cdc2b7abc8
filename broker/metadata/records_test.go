package metadata

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestPartitionRecordEncoding holds the hand-written encoder to what encoding/json writes.
func TestPartitionRecordEncoding(t *testing.T) {
	for _, r := range []PartitionRecord{
		{Replicas: []int32{1}, ISR: []int32{1}, Leader: 1},
		{Replicas: []int32{1, 2, 3}, ISR: []int32{}, Leader: NoLeader, LeaderEpoch: 2147483647},
		{Replicas: []int32{3, 1}, ISR: []int32{3}, Adding: []int32{1}, Removing: []int32{4, 5}, ELR: []int32{6}, LastKnownELR: []int32{7}, Leader: 3, LeaderEpoch: 9},
	} {
		got := Encode(&r)
		want, err := json.Marshal(&r)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("encoded as\n%s, want\n%s", got, want)
		}
		var back PartitionRecord
		if err := Decode(got, &back); err != nil || !reflect.DeepEqual(back, r) {
			t.Errorf("came back as %+v %v, want %+v", back, err, r)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		value string
		want  error
	}{
		{``, ErrCorrupt},
		{`{`, ErrCorrupt},
		{`{"v":1,"replicas":7}`, ErrCorrupt},
		{`{"replicas":[1]}`, ErrCorrupt},
		{`{"v":0}`, ErrCorrupt},
		{`{"v":2}`, ErrNewerFormat},
		{`{"v":1,"unknown":"field"}`, nil},
	}
	for _, tt := range tests {
		if err := Decode([]byte(tt.value), &PartitionRecord{}); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.value, err, tt.want)
		}
	}
}

func TestTopicIDs(t *testing.T) {
	for range 2000 {
		id := NewTopicID()
		s := id.String()
		if len(s) != 22 || strings.HasPrefix(s, "-") || id.IsZero() {
			t.Fatalf("id %q", s)
		}
		back, err := ParseTopicID(s)
		if err != nil || back != id {
			t.Fatalf("%q came back as %v %v", s, back, err)
		}
	}
	for _, s := range []string{"", "x", strings.Repeat("A", 21), strings.Repeat("A", 23), strings.Repeat("*", 22)} {
		if _, err := ParseTopicID(s); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q: %v, want ErrCorrupt", s, err)
		}
	}
}

func TestKeys(t *testing.T) {
	id := TopicID{1}
	key := PartitionKey(id, 1234)
	if want := "part/" + id.String() + "/0000001234"; key != want {
		t.Errorf("partition key %q, want %q", key, want)
	}
	if !strings.HasPrefix(key, PartitionsPrefix(id)) || !strings.HasPrefix(key, PartitionsThousandPrefix(id, 1)) || strings.HasPrefix(key, PartitionsThousandPrefix(id, 0)) {
		t.Errorf("prefixes of %q: %q %q", key, PartitionsPrefix(id), PartitionsThousandPrefix(id, 1))
	}
	gotID, index, err := parsePartitionKey(strings.TrimPrefix(key, partPrefix))
	if gotID != id || index != 1234 || err != nil {
		t.Errorf("parsed as %v %d %v", gotID, index, err)
	}
	for _, bad := range []string{"", id.String(), id.String() + "/", id.String() + "/x", id.String() + "/-1", "short/0", id.String() + "/99999999999"} {
		if _, _, err := parsePartitionKey(bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("partition key %q: %v, want ErrCorrupt", bad, err)
		}
	}
	if TopicNameKey("a.b") != TopicNameKey("a_b") || TopicNameKey("a.b") == TopicNameKey("a-b") {
		t.Error("names that collide must share a key, and others must not")
	}
}

// FuzzImage applies arbitrary keys and values: nothing may panic, and an error must be one of the two known ones.
func FuzzImage(f *testing.F) {
	id := TopicID{1}
	f.Add("topic/"+id.String(), []byte(`{"v":1,"name":"a","partitions":1}`), "part/"+id.String()+"/0000000000", []byte(`{"v":1,"replicas":[1],"isr":[1],"leader":1}`))
	f.Add("topics/a", []byte(`{"v":1,"id":"`+id.String()+`"}`), "cluster", []byte(`{"v":1,"id":"x"}`))
	f.Add("brokers/1", []byte(`{"v":1,"endpoints":[{"name":"PLAINTEXT","host":"h","port":1}]}`), "state/1", []byte(`{"v":1,"epoch":1,"status":"active"}`))
	f.Add("cfg/broker/", []byte(`{"v":1,"config":{"a":"b"}}`), "epoch/a", []byte(`{"v":1,"leaderEpoch":3}`))
	f.Add("epochs", []byte(`{"v":2}`), "pid/next", []byte(`{`))
	f.Fuzz(func(t *testing.T, key1 string, value1 []byte, key2 string, value2 []byte) {
		img := NewImage()
		for rev := Rev(1); rev < 4; rev++ {
			events := []Event{
				{KV: KV{Key: key2, Value: value2, CreateRev: rev, ModRev: rev}},
				{KV: KV{Key: key1, Value: value1, CreateRev: rev, ModRev: rev}},
			}
			if rev == 3 {
				events[0].Kind = EventDelete
			}
			next, delta, err := img.Apply(rev, events)
			if err != nil {
				if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNewerFormat) {
					t.Fatalf("error %v", err)
				}
				return
			}
			if whole := diff(img, next); len(whole.Topics) != len(delta.Topics) || len(whole.Brokers) != len(delta.Brokers) {
				t.Fatalf("delta %+v, but the images differ by %+v", delta, whole)
			}
			img = next
		}
	})
}
