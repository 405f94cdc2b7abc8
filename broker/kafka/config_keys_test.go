package kafka

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"moldau/broker/configdef"
)

// The table of configs names every key that this edge has, with the same default: DescribeConfigs shows the table's.
func TestConfigKeysAreInTheTable(t *testing.T) {
	cfg := reflect.ValueOf(DefaultConfig())
	for i := range cfg.NumField() {
		name := cfg.Type().Field(i).Tag.Get("kafka")
		k, ok := configdef.BrokerKey(name)
		if !ok {
			t.Errorf("%s is not in the table", name)
			continue
		}
		got := fmt.Sprint(cfg.Field(i).Interface())
		if d, ok := cfg.Field(i).Interface().(time.Duration); ok {
			got = fmt.Sprint(d.Milliseconds())
		}
		if got != k.Default {
			t.Errorf("%s: default %s here, %s in the table", name, got, k.Default)
		}
	}
}
