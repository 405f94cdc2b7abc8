package configdef

import (
	"testing"
	"time"

	"moldau/broker/storage"
)

func TestParseCleaner(t *testing.T) {
	for _, c := range []struct {
		broker map[string]string
		want   storage.CleanerConfig
	}{
		{nil, storage.DefaultCleanerConfig()},
		{
			map[string]string{
				"log.cleaner.threads": "3", "log.cleaner.dedupe.buffer.size": "1000", "log.cleaner.io.buffer.load.factor": "0.5",
				"log.cleaner.io.buffer.size": "2000", "log.cleaner.io.max.bytes.per.second": "1e6", "log.cleaner.backoff.ms": "7",
			},
			storage.CleanerConfig{
				Threads: 3, DedupeBufferBytes: 1000, LoadFactor: 0.5, IOBufferBytes: 2000, IOBytesPerSecond: 1e6, Backoff: 7 * time.Millisecond,
			},
		},
	} {
		got, err := ParseCleaner(c.broker)
		if err != nil || got != c.want {
			t.Errorf("%v: got %+v, %v, want %+v", c.broker, got, err, c.want)
		}
	}
	if got, err := ParseCleaner(map[string]string{"log.cleaner.enable": "false"}); err != nil || got.Threads != 0 {
		t.Errorf("turned off: %+v, %v", got, err)
	}
	if _, err := ParseCleaner(map[string]string{"log.cleaner.threads": "-1"}); err == nil {
		t.Error("-1 threads are taken")
	}
}
