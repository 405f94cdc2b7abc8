package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeLogDirs (key 35), versions 0 to 5.
//
// 2: flexible. 3: an error of the whole answer, which there is none of without an authorizer. 4: the size of the file
// system (KIP-827). 5: cordoned directories (KIP-1066), of which this broker has none. No replica is ever a future one:
// nothing moves replicas between directories.

// describeLogDirs shows the log directories of this broker; a null list of topics asks for all.
func (c *conn) describeLogDirs(_ context.Context, r *request, q *kmsg.DescribeLogDirsRequest) reply {
	partitions := chosen(q.Topics, func(t kmsg.DescribeLogDirsRequestTopic) (string, []int32) { return t.Topic, t.Partitions })
	resp := q.ResponseKind().(*kmsg.DescribeLogDirsResponse)
	for _, d := range c.node.DescribeLogDirs(r.caller, partitions) {
		out := kmsg.NewDescribeLogDirsResponseDir()
		out.ErrorCode, out.Dir, out.TotalBytes, out.UsableBytes = code(d.Err), d.Path, d.TotalBytes, d.UsableBytes
		for _, replica := range d.Replicas {
			if n := len(out.Topics); n == 0 || out.Topics[n-1].Topic != replica.Topic {
				t := kmsg.NewDescribeLogDirsResponseDirTopic()
				t.Topic = replica.Topic
				out.Topics = append(out.Topics, t)
			}
			p := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
			p.Partition, p.Size, p.OffsetLag = replica.Partition, replica.Size, replica.OffsetLag
			last := &out.Topics[len(out.Topics)-1]
			last.Partitions = append(last.Partitions, p)
		}
		resp.Dirs = append(resp.Dirs, out)
	}
	return answer(resp)
}
