//go:build peers

package peers

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestKafkaStartsAndAnswers(t *testing.T) {
	k := StartKafka(t, KafkaOptions{})
	cl, err := kgo.NewClient(kgo.SeedBrokers(k.Addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	resp, err := kmsg.NewPtrApiVersionsRequest().RequestWith(context.Background(), cl)
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.ApiKeys) < 50 {
		t.Fatalf("only %d APIs", len(resp.ApiKeys))
	}
	for _, a := range resp.ApiKeys {
		t.Logf("%d %s %d-%d", a.ApiKey, kmsg.NameForKey(a.ApiKey), a.MinVersion, a.MaxVersion)
	}
	for _, f := range resp.SupportedFeatures {
		t.Logf("supported %s %d-%d", f.Name, f.MinVersion, f.MaxVersion)
	}
	for _, f := range resp.FinalizedFeatures {
		t.Logf("finalized %s %d-%d", f.Name, f.MinVersionLevel, f.MaxVersionLevel)
	}
}
