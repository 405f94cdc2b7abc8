package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"moldau/registry/catalog"
)

// chance makes a topic as a cluster does for a client that asks for one which is not there, or with more partitions.
func chance(ctx context.Context, t *testing.T, c *kfake.Cluster, name string, partitions int32, policy string) {
	t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.ReplicationFactor, rt.NumPartitions = name, 1, partitions
	config := kmsg.NewCreateTopicsRequestTopicConfig()
	config.Name, config.Value = policyConfig, kmsg.StringPtr(policy)
	rt.Configs = append(rt.Configs, config)
	req.Topics = append(req.Topics, rt)
	if _, err := req.RequestWith(ctx, client(t, c.ListenAddrs())); err != nil {
		t.Fatal(err)
	}
}

// policyOf is the cleanup policy of a topic.
func policyOf(ctx context.Context, t *testing.T, s *Store, topic string) string {
	t.Helper()
	configs, err := s.admin.configs(ctx, topic, policyConfig)
	if err != nil {
		t.Fatal(err)
	}
	return configs[policyConfig]
}

func openNamed(t *testing.T, c *kfake.Cluster, topic, ledger string) *Store {
	t.Helper()
	s, err := Open(Options{
		Bootstrap: c.ListenAddrs(), Topic: topic, LedgerTopic: ledger, KeyTopic: "k", Group: "g-" + topic, Instance: "a", URL: "http://x", ReplicationFactor: 1,
		SessionTimeout: 6 * time.Second, WriteTimeout: 10 * time.Second, KeyLifetime: time.Hour,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestTopicsMadeByChance: a consumer that looks for the topics before the registry has written has the cluster make them, without
// compaction. They are as good as none, and the first write makes them fit. A write to such a topic was found to time out.
func TestTopicsMadeByChance(t *testing.T) {
	for _, early := range []bool{true, false} {
		c := cluster(t)
		ctx := within(t, 60*time.Second)
		if early {
			chance(ctx, t, c, "s", 1, "delete")
			chance(ctx, t, c, "l", 1, "delete")
		}
		s := openNamed(t, c, "s", "l")
		if err := errors.Join(s.Wait(ctx), s.WaitLedger(ctx, 0), s.Ready(ctx)); err != nil {
			t.Fatal(err)
		}
		if !early {
			chance(ctx, t, c, "s", 1, "delete")
			chance(ctx, t, c, "l", 1, "delete")
		}
		if got := policyOf(ctx, t, s, "s"); got != "delete" {
			t.Fatalf("a start changed the topic: %s", got)
		}
		if _, err := s.Owner(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := s.CommitBoth(ctx, entry("one", "key")); err != nil {
			t.Fatal(err)
		}
		if s.Catalog().Latest("one") == nil || s.Ledger().Size() != 2 || policyOf(ctx, t, s, "s") != compact || policyOf(ctx, t, s, "l") != compact {
			t.Errorf("early %t: %v %d %s %s", early, s.Catalog().Latest("one"), s.Ledger().Size(), policyOf(ctx, t, s, "s"), policyOf(ctx, t, s, "l"))
		}
	}
}

// TestUnfitTopics: what an operator must mend is told at once, to readers and writers, with what he must do.
func TestUnfitTopics(t *testing.T) {
	for _, u := range []struct {
		name, want string
		make       func(ctx context.Context, c *kfake.Cluster)
	}{
		{"two", "2 partitions", func(ctx context.Context, c *kfake.Cluster) { chance(ctx, t, c, "two", 2, compact) }},
		{"forgetful", "set cleanup.policy=compact for it", func(ctx context.Context, c *kfake.Cluster) {
			chance(ctx, t, c, "forgetful", 1, "delete")
			ch := catalog.PutMode("s", catalog.ReadOnly)
			r := &kgo.Record{Topic: "forgetful", Key: ch.Key, Value: ch.Value}
			if err := client(t, c.ListenAddrs()).ProduceSync(ctx, r).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		c := cluster(t)
		ctx := within(t, 60*time.Second)
		u.make(ctx, c)
		s := openNamed(t, c, u.name, "l")
		start := time.Now()
		if err := s.Wait(ctx); !errors.Is(err, ErrTopic) || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), u.want) {
			t.Errorf("%s: a reader is told %v", u.name, err)
		}
		if err := s.Ready(ctx); !errors.Is(err, ErrTopic) {
			t.Errorf("%s: ready says %v", u.name, err)
		}
		if _, err := s.Owner(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Commit(ctx, register("one")); !errors.Is(err, ErrTopic) || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("%s: a writer is told %v", u.name, err)
		}
		if took := time.Since(start); took > 9*time.Second {
			t.Errorf("%s: it took %v to tell", u.name, took)
		}
		if u.name != "forgetful" {
			continue
		}
		// The operator does what he is told.
		if err := s.admin.adopt(ctx, u.name); err != nil {
			t.Fatal(err)
		}
		for s.Ready(ctx) != nil {
			s.tail.wake()
			if ctx.Err() != nil {
				t.Fatal("it does not notice that the topic is mended")
			}
		}
		if _, err := s.Commit(ctx, register("one")); err != nil || s.Catalog().Mode("s") != catalog.ReadOnly {
			t.Errorf("%v, mode %s", err, s.Catalog().Mode("s"))
		}
	}
}

// A topic of another cluster's making that does not tell its configs is trusted.
func TestSilentClusterIsTrusted(t *testing.T) {
	c := cluster(t)
	ctx := within(t, 60*time.Second)
	c.ControlKey(int16(kmsg.DescribeConfigs), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
		for _, r := range req.(*kmsg.DescribeConfigsRequest).Resources {
			out := kmsg.NewDescribeConfigsResponseResource()
			out.ResourceType, out.ResourceName, out.ErrorCode = r.ResourceType, r.ResourceName, kerr.ClusterAuthorizationFailed.Code
			resp.Resources = append(resp.Resources, out)
		}
		return resp, nil, true
	})
	chance(ctx, t, c, "s", 1, "delete")
	if err := openNamed(t, c, "s", "l").Wait(ctx); err != nil {
		t.Error(err)
	}
}
