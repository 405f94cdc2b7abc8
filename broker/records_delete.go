package broker

// RecordsBefore asks for the deletion of the first records of a partition.
type RecordsBefore struct {
	Topic     TopicRef
	Partition int32
	// Offset is the first offset that stays; -1 deletes everything below the high watermark.
	Offset int64
}

// DeletedRecords answers one RecordsBefore.
type DeletedRecords struct {
	Err error
	// LogStartOffset is the first offset that is left, -1 with an error.
	LogStartOffset int64
}

// DeleteRecords deletes the first records of partitions that this node leads, and answers every partition in the order of
// the request. The records are out of reach when it returns; their segments go later.
func (n *Node) DeleteRecords(_ *Caller, partitions []RecordsBefore) []DeletedRecords {
	answers := make([]DeletedRecords, len(partitions))
	for i, p := range partitions {
		start, err := n.deleteRecords(p)
		if err != nil {
			start = -1
		}
		answers[i] = DeletedRecords{Err: err, LogStartOffset: start}
	}
	return answers
}

func (n *Node) deleteRecords(r RecordsBefore) (int64, error) {
	t, p, err := n.find(r.Topic, r.Partition)
	if err != nil {
		return -1, err
	}
	// What counts is the policy of now, not the one the topic was made with.
	switch c := t.Config(); {
	case t.Internal:
		return -1, refuse(ErrInvalidTopic, "Cannot delete records of internal topic %s", t.Name)
	case c.Log.Compact && !c.Log.Delete:
		return -1, refuse(ErrPolicyViolation, "Records of partition %s-%d can not be deleted due to the configured policy", t.Name, r.Partition)
	}
	start, err := p.DeleteBefore(r.Offset)
	return start, n.dataError(t, r.Partition, err)
}
