package gateway

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// clusterID returns the id of the cluster, which is asked for once per client.
func (c *client) clusterID(ctx context.Context) (string, error) {
	if id := c.cluster.Load(); id != nil {
		return *id, nil
	}
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none, which is not the same as nil: all
	resp, err := req.RequestWith(ctx, c.kafka)
	if err != nil {
		return "", fmt.Errorf("ask for the id of the cluster: %w", err)
	}
	id := ""
	if resp.ClusterID != nil {
		id = *resp.ClusterID
	}
	c.cluster.Store(&id)
	return id, nil
}
