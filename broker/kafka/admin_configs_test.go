package kafka

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// configOf describes one config of one resource.
func (w *wire) configOf(version int16, t kmsg.ConfigResourceType, name, key string) (kmsg.DescribeConfigsResponseResourceConfig, int16) {
	w.Helper()
	q := at(kmsg.NewPtrDescribeConfigsRequest(), version)
	q.IncludeSynonyms, q.IncludeDocumentation = true, true
	q.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: t, ResourceName: name, ConfigNames: []string{key}}}
	resources := ask[*kmsg.DescribeConfigsResponse](w, q).Resources
	if len(resources) != 1 || resources[0].ResourceType != t || resources[0].ResourceName != name {
		w.Fatalf("version %d: %+v", version, resources)
	}
	if len(resources[0].Configs) == 0 {
		return kmsg.DescribeConfigsResponseResourceConfig{}, resources[0].ErrorCode
	}
	return resources[0].Configs[0], resources[0].ErrorCode
}

func TestDescribeConfigsVersions(t *testing.T) {
	w := open(t).wire()
	w.mustCreate("ok", 1, "retention.ms", "5")
	for _, v := range versions(t, kmsg.DescribeConfigs) {
		set, code := w.configOf(v, kmsg.ConfigResourceTypeTopic, "ok", "retention.ms")
		w.wantCode("topic", code, nil)
		unset, _ := w.configOf(v, kmsg.ConfigResourceTypeTopic, "ok", "max.message.bytes")
		fixed, _ := w.configOf(v, kmsg.ConfigResourceTypeBroker, "1", "num.partitions")
		switch {
		case *set.Value != "5" || *unset.Value != "1048588" || set.ReadOnly || !fixed.ReadOnly:
			t.Errorf("version %d: %+v %+v %+v", v, set, unset, fixed)
		case v == 0 && (set.IsDefault || !unset.IsDefault):
			t.Errorf("version 0: %+v %+v", set, unset)
		case v >= 1 && (set.Source != kmsg.ConfigSourceDynamicTopicConfig || unset.Source != kmsg.ConfigSourceDefaultConfig):
			t.Errorf("version %d: sources %v and %v", v, set.Source, unset.Source)
		case v >= 1 && (len(set.ConfigSynonyms) != 2 || set.ConfigSynonyms[0].Name != "retention.ms" || set.ConfigSynonyms[1].Name != "log.retention.hours"):
			t.Errorf("version %d: synonyms %+v", v, set.ConfigSynonyms)
		case v >= 3 && (set.ConfigType != kmsg.ConfigTypeLong || set.Documentation == nil):
			t.Errorf("version %d: type %v, documentation %v", v, set.ConfigType, set.Documentation)
		}
		_, code = w.configOf(v, kmsg.ConfigResourceTypeTopic, "nope", "x")
		w.wantCode("no such topic", code, kerr.UnknownTopicOrPartition)
		_, code = w.configOf(v, 77, "x", "x")
		w.wantCode("type 77", code, kerr.InvalidRequest)
	}
	all := kmsg.NewPtrDescribeConfigsRequest()
	all.Version = 4
	all.Resources = []kmsg.DescribeConfigsRequestResource{
		{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "ok"},
		{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "ok", ConfigNames: []string{}},
	}
	for _, res := range ask[*kmsg.DescribeConfigsResponse](w, all).Resources {
		if len(res.Configs) != 37+17 || res.ErrorMessage == nil || *res.ErrorMessage != "" { // as many as Kafka 4.4 has, and ours of validation
			t.Errorf("%d configs, message %v", len(res.Configs), res.ErrorMessage)
		}
		for _, c := range res.Configs {
			if c.ConfigSynonyms != nil || c.Documentation != nil {
				t.Errorf("%s: synonyms or documentation that nobody asked for", c.Name)
			}
		}
	}
}

func TestAlterConfigsVersions(t *testing.T) {
	w := open(t).wire()
	w.mustCreate("ok", 1)
	for _, v := range versions(t, kmsg.AlterConfigs) {
		q := at(kmsg.NewPtrAlterConfigsRequest(), v)
		value, bad := "9", "x"
		q.Resources = []kmsg.AlterConfigsRequestResource{
			{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "ok", Configs: []kmsg.AlterConfigsRequestResourceConfig{{Name: "segment.ms", Value: &value}}},
			{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "nope"},
			{ResourceType: kmsg.ConfigResourceTypeBroker, ResourceName: "1", Configs: []kmsg.AlterConfigsRequestResourceConfig{{Name: "log.roll.ms", Value: &bad}}},
		}
		got := ask[*kmsg.AlterConfigsResponse](w, q).Resources
		w.wantCode("ok", got[0].ErrorCode, nil)
		w.wantCode("nope", got[1].ErrorCode, kerr.UnknownTopicOrPartition)
		w.wantCode("broker", got[2].ErrorCode, kerr.InvalidRequest)
		if got[0].ErrorMessage != nil || got[2].ErrorMessage == nil || got[2].ResourceName != "1" {
			t.Errorf("version %d: %+v", v, got)
		}
	}
	if c, _ := w.configOf(4, kmsg.ConfigResourceTypeTopic, "ok", "segment.ms"); *c.Value != "9" {
		t.Errorf("%s", *c.Value)
	}
}

func TestIncrementalAlterConfigsVersions(t *testing.T) {
	w := open(t).wire()
	w.mustCreate("ok", 1)
	for _, v := range versions(t, kmsg.IncrementalAlterConfigs) {
		change := func(validateOnly bool, op kmsg.IncrementalAlterConfigOp, name string, value *string) int16 {
			t.Helper()
			q := at(kmsg.NewPtrIncrementalAlterConfigsRequest(), v)
			q.ValidateOnly = validateOnly
			q.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{
				ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "ok",
				Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: name, Op: op, Value: value}},
			}}
			got := ask[*kmsg.IncrementalAlterConfigsResponse](w, q).Resources[0]
			if (got.ErrorCode == 0) != (got.ErrorMessage == nil) {
				t.Errorf("version %d: %+v", v, got)
			}
			return got.ErrorCode
		}
		policy := func() string {
			t.Helper()
			c, _ := w.configOf(4, kmsg.ConfigResourceTypeTopic, "ok", "cleanup.policy")
			return *c.Value
		}
		compact, del := "compact", "delete"
		w.wantCode("checked", change(true, kmsg.IncrementalAlterConfigOpSet, "cleanup.policy", &compact), nil)
		if policy() != "delete" {
			t.Error("changed by a check")
		}
		w.wantCode("append", change(false, kmsg.IncrementalAlterConfigOpAppend, "cleanup.policy", &compact), nil)
		if got := policy(); got != "delete,compact" {
			t.Errorf("after append: %s", got)
		}
		w.wantCode("subtract", change(false, kmsg.IncrementalAlterConfigOpSubtract, "cleanup.policy", &del), nil)
		if got := policy(); got != "compact" {
			t.Errorf("after subtract: %s", got)
		}
		w.wantCode("delete", change(false, kmsg.IncrementalAlterConfigOpDelete, "cleanup.policy", nil), nil)
		if got := policy(); got != "delete" {
			t.Errorf("after delete: %s", got)
		}
		w.wantCode("unknown operation", change(false, 9, "cleanup.policy", &del), kerr.InvalidRequest)
		w.wantCode("unknown config", change(false, kmsg.IncrementalAlterConfigOpSet, "foo", &del), kerr.InvalidConfig)
	}
}

func TestListConfigResourcesVersions(t *testing.T) {
	w := open(t).wire()
	w.mustCreate("ok", 1)
	q := at(kmsg.NewPtrIncrementalAlterConfigsRequest(), 1)
	all := "*"
	q.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{
		ResourceType: kmsg.ConfigResourceTypeClientMetrics, ResourceName: "sub",
		Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: "metrics", Value: &all}},
	}}
	w.wantCode("subscription", ask[*kmsg.IncrementalAlterConfigsResponse](w, q).Resources[0].ErrorCode, nil)
	list := func(version int16, types ...int8) (names []string, code int16) {
		t.Helper()
		q := at(kmsg.NewPtrListConfigResourcesRequest(), version)
		q.ResourceTypes = types
		resp := ask[*kmsg.ListConfigResourcesResponse](w, q)
		for _, r := range resp.ConfigResources {
			names = append(names, kmsg.ConfigResourceType(r.Type).String()+" "+r.Name)
		}
		return names, resp.ErrorCode
	}
	for _, c := range []struct {
		version int16
		types   []int8
		want    []string
	}{
		{0, nil, []string{"CLIENT_METRICS sub"}},
		{1, nil, []string{"CLIENT_METRICS sub", "BROKER_LOGGER 1", "BROKER 1", "TOPIC ok"}},
		{1, []int8{2}, []string{"TOPIC ok"}},
	} {
		got, code := list(c.version, c.types...)
		if w.wantCode("list", code, nil); !slices.Equal(got, c.want) {
			t.Errorf("version %d, types %v: %v", c.version, c.types, got)
		}
	}
	_, code := list(1, 99)
	w.wantCode("type 99", code, kerr.UnsupportedVersion)
}
