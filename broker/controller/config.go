package controller

import (
	"maps"

	"moldau/broker/metadata"
)

// ConfigSpec is a change of the dynamic configuration of one resource.
type ConfigSpec struct {
	Resource metadata.Resource
	// Edit gets a copy of the overrides as they are, which it may change, and returns them as they shall be; nothing is
	// left when it returns none. It checks the values, and may be called several times when others write at the same
	// time. An error of it ends the change and is returned as it is.
	Edit func(overrides map[string]string) (map[string]string, error)
}

// AlterConfig decides about a change of dynamic configuration. A change that changes nothing needs no transaction.
func AlterConfig(img *metadata.Image, spec ConfigSpec) (Plan, error) {
	if spec.Resource.Type == metadata.TopicResource {
		return alterTopicConfig(img, spec)
	}
	r := spec.Resource
	before := img.Config(r.Type, r.Name)
	after, err := edit(before, spec)
	if err != nil || maps.Equal(before, after) {
		return nil, err
	}
	key := metadata.ConfigKey(r)
	op := metadata.Delete(key)
	if len(after) > 0 {
		value := metadata.Encode(&metadata.ConfigRecord{Config: after})
		if err := checkConfigSize(r, value); err != nil {
			return nil, err
		}
		op = metadata.Put(key, value)
	}
	unchanged := metadata.ModifiedAt(key, img.ConfigRev(r.Type, r.Name))
	return Plan{{Cmps: []metadata.Cmp{unchanged}, Ops: []metadata.Op{op}}}, nil
}

func alterTopicConfig(img *metadata.Image, spec ConfigSpec) (Plan, error) {
	t, err := TopicRef{Name: spec.Resource.Name}.find(img)
	if err != nil {
		return nil, err
	}
	after, err := edit(t.Config, spec)
	if err != nil || maps.Equal(t.Config, after) {
		return nil, err
	}
	record := topicRecord(t)
	record.Config = after
	value := metadata.Encode(record)
	if err := checkConfigSize(spec.Resource, value); err != nil {
		return nil, err
	}
	key := metadata.TopicKey(t.ID)
	return Plan{{
		Cmps: []metadata.Cmp{metadata.ModifiedAt(key, t.ModRev)},
		Ops:  []metadata.Op{metadata.Put(key, value)},
	}}, nil
}

func edit(before map[string]string, spec ConfigSpec) (map[string]string, error) {
	overrides := maps.Clone(before)
	if overrides == nil {
		overrides = map[string]string{}
	}
	return spec.Edit(overrides)
}

func checkConfigSize(r metadata.Resource, value []byte) error {
	if len(value) > metadata.MaxValueBytes {
		return refuse(ErrPolicyViolation, "The configuration of %s '%s' takes %d bytes, more than %d.", r.Type, clip(r.Name), len(value), metadata.MaxValueBytes)
	}
	return nil
}
