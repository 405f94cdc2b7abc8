package controller

import (
	"context"
	"fmt"

	"moldau/broker/metadata"
)

// Registration is what a broker says about itself.
type Registration struct {
	ID          int32
	Rack        string
	Endpoints   []metadata.Endpoint
	Incarnation string // differs every time the process starts
}

// Register makes a broker a member of the cluster for as long as its session lives, lets it be active, and returns its
// broker epoch once the image shows it. A broker of the same id whose session is still alive is ErrDuplicateBroker.
func (c *Controller) Register(ctx context.Context, session metadata.Session, r Registration) (epoch int64, err error) {
	key := metadata.BrokerKey(r.ID)
	value := metadata.Encode(&metadata.BrokerRecord{Rack: r.Rack, Endpoints: r.Endpoints, Incarnation: r.Incarnation})
	result, err := c.store.Txn(ctx, metadata.Txn{
		Cmps: []metadata.Cmp{metadata.Absent(key)},
		Ops:  []metadata.Op{metadata.PutSession(key, value, session.ID())},
	})
	if err != nil {
		return 0, fmt.Errorf("register broker %d: %w", r.ID, err)
	}
	if !result.Succeeded {
		return 0, refuse(ErrDuplicateBroker, "Another broker is registered with that broker id.")
	}
	epoch = int64(result.Rev)
	if err := c.SetBrokerStatus(ctx, r.ID, epoch, metadata.BrokerActive); err != nil {
		return 0, fmt.Errorf("register broker %d: %w", r.ID, err)
	}
	return epoch, nil
}

// SetBrokerStatus changes what a broker may do, while it is registered with an epoch, and returns once the image shows it.
// ErrUnknownBroker means that it has left or registered anew.
func (c *Controller) SetBrokerStatus(ctx context.Context, id int32, epoch int64, status metadata.BrokerStatus) error {
	record := metadata.BrokerStateRecord{Epoch: epoch, Status: status}
	result, err := c.store.Txn(ctx, metadata.Txn{
		Cmps: []metadata.Cmp{metadata.CreatedAt(metadata.BrokerKey(id), metadata.Rev(epoch))},
		Ops:  []metadata.Op{metadata.Put(metadata.BrokerStateKey(id), metadata.Encode(&record))},
	})
	if err != nil {
		return fmt.Errorf("set broker %d %s: %w", id, status, err)
	}
	if !result.Succeeded {
		return refuse(ErrUnknownBroker, "Broker %d is not registered with epoch %d.", id, epoch)
	}
	return c.loader.WaitFor(ctx, result.Rev)
}
