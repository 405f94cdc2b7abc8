package node

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// TestAppendTimeIsTold produces over REST to a topic whose records get the time of their append: the answer has it, and not the
// producer's.
func TestAppendTimeIsTold(t *testing.T) {
	began := time.Now().Truncate(time.Millisecond)
	o, out := options(filepath.Join(t.TempDir(), "data"))
	s := start(t, o, out)
	kind := "LogAppendTime"
	configs := map[string]*string{"message.timestamp.type": &kind}
	if _, err := kadm.NewClient(s.client()).CreateTopic(t.Context(), 1, 1, configs, "t"); err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Post("http://"+s.addresses["http"]+"/v1/topics/t/records", "application/json",
		strings.NewReader(`{"records":[{"value":1,"timestamp":"2020-01-01T00:00:00Z"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	var got struct {
		Results []struct{ Timestamp time.Time }
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || len(got.Results) != 1 || got.Results[0].Timestamp.Before(began) {
		t.Errorf("%+v, %v", got, err)
	}
}
