package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/broker"
)

// ApiVersions (key 18), versions 0 to 5. The response header is version 0 always, so that every client can read it
// (KIP-511). An unknown version is answered in version 0 with UNSUPPORTED_VERSION and all keys; the connection stays.
//
// 1: throttle time. 3: flexible, client software (KIP-511), features (KIP-584). 5: the cluster and node that the client
// thinks it talks to (KIP-1242).
//
// Of Kafka's features transaction.version is listed: it decides how clients end their transactions (KIP-890). The others
// belong to what is not here, and to Kafka's own metadata.

// apiVersions tells what we speak.
func (c *conn) apiVersions(_ context.Context, r *request, q *kmsg.ApiVersionsRequest) reply {
	resp := q.ResponseKind().(*kmsg.ApiVersionsResponse)
	if q.Version >= 3 {
		if !validSoftware(q.ClientSoftwareName) || !validSoftware(q.ClientSoftwareVersion) {
			resp.ErrorCode = kerr.InvalidRequest.Code
			return answer(resp)
		}
		c.noteSoftware(q.ClientSoftwareName, q.ClientSoftwareVersion)
	}
	if q.Version >= 5 {
		if resp.ErrorCode = c.misrouted(q); resp.ErrorCode != 0 {
			return answer(resp)
		}
	}
	resp.ApiKeys = c.srv.apiKeys()
	if q.Version >= 3 {
		listFeatures(resp, q.Version)
	}
	return answer(resp)
}

// features are those of Kafka that are spoken here, from version min to max, and in force in version level.
var features = []struct {
	name            string
	min, max, level int16
}{
	{"group.version", 0, 1, 1},
	{"transaction.version", 0, 2, 2},
}

// listFeatures lists what is spoken and what is in force. What is in force never changes, so its epoch is 0. Clients that
// speak version 3 stumble over a feature that begins with version 0 (KAFKA-17011).
func listFeatures(resp *kmsg.ApiVersionsResponse, version int16) {
	resp.FinalizedFeaturesEpoch = 0
	for _, f := range features {
		supported := kmsg.NewApiVersionsResponseSupportedFeature()
		supported.Name, supported.MinVersion, supported.MaxVersion = f.name, f.min, f.max
		if f.min > 0 || version >= 4 {
			resp.SupportedFeatures = append(resp.SupportedFeatures, supported)
		}
		finalized := kmsg.NewApiVersionsResponseFinalizedFeature()
		finalized.Name, finalized.MinVersionLevel, finalized.MaxVersionLevel = f.name, f.level, f.level
		resp.FinalizedFeatures = append(resp.FinalizedFeatures, finalized)
	}
}

// misrouted finds out whether the client meant another cluster or node.
func (c *conn) misrouted(q *kmsg.ApiVersionsRequest) int16 {
	hasCluster, hasNode := q.ClusterID != nil, q.NodeID != -1
	switch {
	case hasCluster != hasNode:
		return kerr.InvalidRequest.Code
	case !hasCluster:
		return 0
	case *q.ClusterID != string(c.node.Image().ClusterID()) || q.NodeID != c.node.Config().NodeID:
		return kerr.RebootstrapRequired.Code
	default:
		return 0
	}
}

// versionMismatch is the answer to a version of ApiVersions that we don't speak.
func (c *conn) versionMismatch() reply {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.ErrorCode = kerr.UnsupportedVersion.Code
	resp.ApiKeys = c.srv.apiKeys()
	return answer(resp)
}

// apiKeys is the table as clients see it.
func (s *Server) apiKeys() []kmsg.ApiVersionsResponseApiKey {
	keys := make([]kmsg.ApiVersionsResponseApiKey, 0, len(s.rows))
	for i := range s.rows {
		a := &s.rows[i]
		if a.handle == nil {
			continue
		}
		key := kmsg.NewApiVersionsResponseApiKey()
		key.ApiKey, key.MinVersion, key.MaxVersion = a.key.Int16(), a.min, a.max
		keys = append(keys, key)
	}
	return keys
}

// maxSoftwareName bounds what a client may call itself.
const maxSoftwareName = 128

// validSoftware tells whether a client may call its software so: letters, digits, dots and dashes, the latter two within.
func validSoftware(name string) bool {
	if name == "" || len(name) > maxSoftwareName {
		return false
	}
	for i := range len(name) {
		ch := name[i]
		letterOrDigit := ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z' || ch >= '0' && ch <= '9'
		within := i > 0 && i < len(name)-1
		if !letterOrDigit && (!within || ch != '-' && ch != '.') {
			return false
		}
	}
	return true
}

// noteSoftware keeps what the client's software is called, for the metrics and for log lines.
func (c *conn) noteSoftware(name, version string) {
	if c.caller.SoftwareName == name && c.caller.SoftwareVersion == version {
		return
	}
	c.setCaller(func(caller *broker.Caller) { caller.SoftwareName, caller.SoftwareVersion = name, version })
	c.srv.metrics.noteSoftware(c)
}
