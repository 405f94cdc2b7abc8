package broker

import (
	"cmp"
	"slices"
)

// LogDir is a log directory of this node with the replicas in it.
type LogDir struct {
	Path string
	// Err says why the directory is offline, nil if it isn't.
	Err error
	// TotalBytes and UsableBytes are those of the file system, -1 if unknown (KIP-827).
	TotalBytes, UsableBytes int64
	// Replicas are sorted by topic and number.
	Replicas []LogDirReplica
}

// LogDirReplica is a replica in a log directory.
type LogDirReplica struct {
	TopicPartition
	// Size is the sum of the sizes of its segment files.
	Size int64
	// OffsetLag is how far the end of the log lies behind the high watermark, 0 if it doesn't.
	OffsetLag int64
}

// DescribeLogDirs returns the log directories of this node with the replicas among those given; nil stands for all. Those
// that this node doesn't hold are left out.
func (n *Node) DescribeLogDirs(_ *Caller, partitions []TopicPartition) []LogDir {
	asked := make(map[TopicPartition]bool, len(partitions))
	for _, p := range partitions {
		asked[p] = true
	}
	replicas := map[string][]LogDirReplica{}
	for t := range n.partitions.Topics() {
		for _, p := range t.Partitions() {
			if p == nil || p.Log() == nil {
				continue
			}
			tp := TopicPartition{t.Name, p.Index()}
			if partitions != nil && !asked[tp] {
				continue
			}
			l := p.Log()
			lag := max(0, p.HighWatermark()-l.End())
			replicas[l.Dir()] = append(replicas[l.Dir()], LogDirReplica{TopicPartition: tp, Size: l.Size(), OffsetLag: lag})
		}
	}
	infos := n.engine.Dirs()
	dirs := make([]LogDir, len(infos))
	for i, info := range infos {
		in := replicas[info.Path]
		slices.SortFunc(in, func(a, b LogDirReplica) int {
			return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
		})
		dirs[i] = LogDir{Path: info.Path, Err: info.Err, TotalBytes: info.Total, UsableBytes: info.Usable, Replicas: in}
	}
	return dirs
}
