package kafka

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestAPIVersionsListsTheTable(t *testing.T) {
	d := open(t)
	w := d.wire()
	q := kmsg.NewPtrApiVersionsRequest()
	q.Version, q.ClientSoftwareName, q.ClientSoftwareVersion = 5, "test", "1"
	resp := ask[*kmsg.ApiVersionsResponse](w, q)
	if len(resp.ApiKeys) != len(apiTable()) || len(resp.SupportedFeatures) != len(features) || len(resp.FinalizedFeatures) != len(features) {
		t.Errorf("%+v", resp)
	}
	q.ClusterID = kmsg.StringPtr("another")
	if resp = ask[*kmsg.ApiVersionsResponse](w, q); resp.ErrorCode != 42 {
		t.Errorf("a cluster without a node: %+v", resp)
	}
	q.NodeID = d.node.Config().NodeID
	if resp = ask[*kmsg.ApiVersionsResponse](w, q); resp.ErrorCode != 129 {
		t.Errorf("another cluster: %+v", resp)
	}
	*q.ClusterID = string(d.node.Image().ClusterID())
	if resp = ask[*kmsg.ApiVersionsResponse](w, q); resp.ErrorCode != 0 {
		t.Errorf("this cluster: %+v", resp)
	}
}

func TestUnknownAPIVersionsIsAnsweredInVersionZero(t *testing.T) {
	h := newHarness(t, nil, echo)
	defer h.close()
	p := h.dialTCP()
	defer p.Close()
	for _, version := range []int16{6, 99, -1} {
		if _, err := p.Write(frameOf(18, version, 7, "new-client", []byte{0, 3, 'a', 'b'})); err != nil {
			t.Fatal(err)
		}
		correlation, body := p.read()
		resp := kmsg.NewPtrApiVersionsResponse()
		if err := resp.ReadFrom([]byte(body)); err != nil || correlation != 7 {
			t.Fatalf("version %d: correlation %d, %v", version, correlation, err)
		}
		if resp.ErrorCode != 35 || len(resp.ApiKeys) != 4 || resp.ApiKeys[0].MaxVersion != 13 || resp.ApiKeys[3].ApiKey != 18 {
			t.Errorf("version %d: %+v", version, resp)
		}
	}
	p.ask(8, "still open")
	p.expect(8, "still open")
}

// The response header of ApiVersions has no tags, in any version (KIP-511).
func TestAPIVersionsResponseHeader(t *testing.T) {
	h := newHarness(t, nil, echo)
	defer h.close()
	p := h.dialTCP()
	defer p.Close()
	for version := int16(0); version <= 5; version++ {
		q := kmsg.NewPtrApiVersionsRequest()
		q.Version, q.ClientSoftwareName, q.ClientSoftwareVersion = version, "test-client", "1.2.3"
		b := kmsg.NewRequestFormatter(kmsg.FormatterClientID("t")).AppendRequest(nil, q, 5)
		if _, err := p.Write(b); err != nil {
			t.Fatal(err)
		}
		_, body := p.read()
		resp := kmsg.NewPtrApiVersionsResponse()
		resp.Version = version
		if err := resp.ReadFrom([]byte(body)); err != nil || resp.ErrorCode != 0 || len(resp.ApiKeys) != 4 {
			t.Errorf("version %d: %v, %+v", version, err, resp)
		}
	}
}

func TestClientSoftwareIsValidated(t *testing.T) {
	for name, want := range map[string]bool{
		"apache-kafka-java": true, "librdkafka": true, "1.2.3": true, "a": true, "v1.0-rc.1": true,
		"": false, "-a": false, "a-": false, ".": false, "a b": false, "a\nb": false, "ü": false, strings.Repeat("a", 200): false,
	} {
		if got := validSoftware(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	h := newHarness(t, nil, echo)
	defer h.close()
	p := h.dialTCP()
	defer p.Close()
	q := kmsg.NewPtrApiVersionsRequest()
	q.Version, q.ClientSoftwareName, q.ClientSoftwareVersion = 3, "bad name", "1"
	if _, err := p.Write(kmsg.NewRequestFormatter().AppendRequest(nil, q, 5)); err != nil {
		t.Fatal(err)
	}
	_, body := p.read()
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.Version = 3
	if err := resp.ReadFrom([]byte(body)); err != nil || resp.ErrorCode != 42 {
		t.Errorf("%v, %+v", err, resp)
	}
}
