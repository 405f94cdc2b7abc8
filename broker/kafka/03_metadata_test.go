package kafka

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestMetadataInEveryVersion(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("shown")
	for version := int16(0); version <= 13; version++ {
		q := kmsg.NewPtrMetadataRequest()
		q.Version, q.IncludeTopicAuthorizedOperations, q.IncludeClusterAuthorizedOperations = version, true, true
		resp := ask[*kmsg.MetadataResponse](w, q)
		if len(resp.Brokers) != 1 || resp.Brokers[0].Host+fmt.Sprint(":", resp.Brokers[0].Port) != d.addr {
			t.Errorf("version %d: brokers %+v", version, resp.Brokers)
		}
		if version >= 1 && resp.ControllerID != resp.Brokers[0].NodeID || version >= 2 && (resp.ClusterID == nil || *resp.ClusterID == "") {
			t.Errorf("version %d: controller %d, cluster %v", version, resp.ControllerID, resp.ClusterID)
		}
		if len(resp.Topics) != 1 || *resp.Topics[0].Topic != "shown" || version >= 10 && resp.Topics[0].TopicID != id {
			t.Fatalf("version %d: topics %+v", version, resp.Topics)
		}
		if version >= 8 && resp.Topics[0].AuthorizedOperations != 0b110111111000 || version >= 8 && version <= 10 && resp.AuthorizedOperations != 0b1111110100000 {
			t.Errorf("version %d: operations %b, %b", version, resp.Topics[0].AuthorizedOperations, resp.AuthorizedOperations)
		}
		p := resp.Topics[0].Partitions[0]
		if p.ErrorCode != 0 || p.Leader != resp.Brokers[0].NodeID || len(p.Replicas) != 1 || len(p.ISR) != 1 || len(p.OfflineReplicas) != 0 || version >= 7 && p.LeaderEpoch < 0 {
			t.Errorf("version %d: partition %+v", version, p)
		}
	}
}

func TestMetadataOfTopics(t *testing.T) {
	d := open(t)
	w := d.wire()
	id := w.createTopic("there")
	topics := func(version int16, allow bool, asked ...kmsg.MetadataRequestTopic) []kmsg.MetadataResponseTopic {
		q := kmsg.NewPtrMetadataRequest()
		q.Version, q.AllowAutoTopicCreation, q.Topics = version, allow, asked
		if asked == nil {
			q.Topics = []kmsg.MetadataRequestTopic{}
		}
		return ask[*kmsg.MetadataResponse](w, q).Topics
	}
	named := func(name string) kmsg.MetadataRequestTopic { return kmsg.MetadataRequestTopic{Topic: &name} }
	for _, tc := range []struct {
		name    string
		version int16
		allow   bool
		asked   kmsg.MetadataRequestTopic
		want    int16
	}{
		{"there", 12, true, named("there"), 0},
		{"there, by id", 12, true, kmsg.MetadataRequestTopic{TopicID: id}, 0},
		{"there, by id with an empty name", 12, true, kmsg.MetadataRequestTopic{Topic: new(string), TopicID: id}, 0},
		{"unknown id with an empty name", 12, true, kmsg.MetadataRequestTopic{Topic: new(string), TopicID: [16]byte{9}}, 100},
		{"not there, not to be made", 12, false, named("not-made"), 3},
		{"made at once", 12, true, named("made"), 0},
		{"made by an old client", 1, false, named("made-too"), 0},
		{"impossible, not to be made", 12, false, named("im possible"), 17},
		{"impossible", 12, true, named("im/possible"), 17},
		{"empty", 12, true, named(""), 17},
		{"too long", 12, true, named(strings.Repeat("x", 250)), 17},
		{"unknown id", 12, true, kmsg.MetadataRequestTopic{TopicID: [16]byte{9}}, 100},
		{"zero id", 12, true, kmsg.MetadataRequestTopic{}, 100},
		{"an id before version 12", 11, true, kmsg.MetadataRequestTopic{TopicID: id}, 42},
	} {
		got := topics(tc.version, tc.allow, tc.asked)
		if len(got) != 1 || got[0].ErrorCode != tc.want || (tc.want == 0) != (len(got[0].Partitions) == 1) {
			t.Errorf("%s: %+v, want code %d", tc.name, got, tc.want)
		}
	}
	if got := topics(12, true); len(got) != 0 {
		t.Errorf("no topics: %+v", got)
	}
}
