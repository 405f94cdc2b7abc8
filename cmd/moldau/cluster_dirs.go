package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What is too little free space in a log directory: below the first number
// nothing can be written, or soon; the second is a part of the file system.
const (
	fullBelow = 16 << 20
	lowBelow  = 0.05
)

// logDirs asks a broker for its log directories, without the partitions in
// them. Brokers that do not tell, or not us, have none.
func logDirs(ctx context.Context, cl *kgo.Client, broker int32) ([]kmsg.DescribeLogDirsResponseDir, error) {
	req := kmsg.NewPtrDescribeLogDirsRequest()
	req.Topics = []kmsg.DescribeLogDirsRequestTopic{} // none; null would be all
	answer, err := cl.Broker(int(broker)).RetriableRequest(ctx, req)
	if err != nil {
		return nil, err
	}
	resp := answer.(*kmsg.DescribeLogDirsResponse)
	err = kerr.ErrorForCode(resp.ErrorCode)
	if errors.Is(err, kerr.ClusterAuthorizationFailed) || errors.Is(err, kerr.UnsupportedVersion) {
		return nil, nil
	}
	return resp.Dirs, err
}

// judgeDirs judges the log directories of a broker.
func (h *clusterHealth) judgeDirs(broker int32, dirs []kmsg.DescribeLogDirsResponseDir, err error) {
	add := func(to *[]problem, kind, format string, args ...any) {
		*to = append(*to, problem{Kind: kind, Detail: fmt.Sprintf("broker %d: ", broker) + fmt.Sprintf(format, args...)})
	}
	if err != nil {
		add(&h.Problems, "broker_silent", "it does not tell of its log directories: %v", err)
	}
	for _, d := range dirs {
		err := kerr.ErrorForCode(d.ErrorCode)
		free := float64(d.UsableBytes) / float64(max(d.TotalBytes, 1))
		switch {
		case err != nil:
			add(&h.Problems, "log_dir_error", "%s: %v", d.Dir, err)
		case d.TotalBytes <= 0 || d.UsableBytes < 0: // it does not tell
		case d.UsableBytes < fullBelow:
			add(&h.Problems, "disk_full", "%s has %d MiB free: records are refused, or soon will be", d.Dir, d.UsableBytes>>20)
		case free < lowBelow:
			add(&h.Risks, "disk_low", "%s has %d MiB free, %.1f %%", d.Dir, d.UsableBytes>>20, 100*free)
		}
	}
}
