//go:build peers

package peers

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestKafkaReadsConsumerGroups has Kafka's own tool read the records of a group of the consumer protocol out of our log.
func TestKafkaReadsConsumerGroups(t *testing.T) {
	ours := StartMoldau(t, BuildMoldau(t), "--set", "offsets.topic.num.partitions=1")
	s := newSession(t, ours.Kafka(), 0)
	s.createVisible("records", 2)
	s.awaitCoordinator("records-group")
	join := consumerBeat("records-group", "member-one", 0, "records")
	join.SubscribedTopicRegex, join.InstanceID, join.RackID = kmsg.StringPtr("rec.*"), kmsg.StringPtr("one"), kmsg.StringPtr("rack")
	if r := s.quiet(join, 1).(*kmsg.ConsumerGroupHeartbeatResponse); r.ErrorCode != 0 {
		t.Fatalf("%+v", r)
	}
	second := consumerBeat("records-group", "member-two", 0, "records")
	second.ServerAssignor = kmsg.StringPtr("range")
	s.quiet(second, 1)
	s.quiet(consumerBeat("records-group", "member-two", -1), 1)
	// A member of the classic protocol is in the record, too.
	s.quiet(joinRequest("records-group", "", "range"), 3)
	logs, err := filepath.Glob(filepath.Join(ours.Dir, "log", "__consumer_offsets-0", "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no log of __consumer_offsets in %s: %v", ours.Dir, err)
	}
	out, errs, err := NewTools(t).Run(DumpLogSegments, "", "--offsets-decoder", "--files", strings.Join(logs, ","))
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	for _, want := range []string{
		`"subscribedTopicRegex":"rec.*"`, `"instanceId":"one","rackId":"rack"`, `"serverAssignor":"range"`, `"regularExpression":"rec.*"`,
		`"topics":["records"]`, `"assignmentEpoch":2`, `"memberEpoch":2,"previousMemberEpoch":0,"state":0`, `"assignmentEpochs":[2,2]`,
		`"metadataHash":`, `"classicMemberMetadata":{"sessionTimeoutMs":10000,"supportedProtocols":[{"name":"range"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the tool does not show %s", want)
		}
	}
	if t.Failed() || strings.Contains(out, "Unknown") || strings.Contains(out, "rror") {
		t.Errorf("the tool shows\n%s", out)
	}
}
