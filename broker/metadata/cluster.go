package metadata

import (
	"context"
	"errors"
	"fmt"
)

// ClusterID identifies a cluster for all time. It has the form of a Kafka uuid: 22 characters of URL-safe base64.
type ClusterID string

// EnsureClusterID returns the identity of the cluster that lives in the store and gives it one when it has none. A
// wanted id, when not empty, is used for a new cluster and must be equal to that of an existing one.
func EnsureClusterID(ctx context.Context, store Store, wanted ClusterID) (ClusterID, error) {
	for {
		kv, _, err := store.Get(ctx, clusterKey)
		switch {
		case err == nil:
			return existingClusterID(kv, wanted)
		case !errors.Is(err, ErrNotFound):
			return "", fmt.Errorf("read cluster id: %w", err)
		}
		id := wanted
		if id == "" {
			id = ClusterID(NewTopicID().String())
		}
		if _, err := ParseTopicID(string(id)); err != nil {
			return "", fmt.Errorf("cluster id %q is not a uuid in base64 (22 characters)", id)
		}
		res, err := store.Txn(ctx, Txn{
			Cmps: []Cmp{Absent(clusterKey)},
			Ops:  []Op{Put(clusterKey, Encode(&ClusterRecord{ID: id}))},
		})
		if err != nil {
			return "", fmt.Errorf("create cluster id: %w", err)
		}
		if res.Succeeded {
			return id, nil
		}
	}
}

func existingClusterID(kv KV, wanted ClusterID) (ClusterID, error) {
	var r ClusterRecord
	if err := Decode(kv.Value, &r); err != nil {
		return "", fmt.Errorf("key %s: %w", kv.Key, err)
	}
	if wanted != "" && wanted != r.ID {
		return "", fmt.Errorf("the store belongs to cluster %s, not to %s", r.ID, wanted)
	}
	return r.ID, nil
}
