package store

import (
	"fmt"
	"testing"
)

// TestKeysOfManyReplicas: a topic of keys with more replicas than are kept was found to hide the keys of those that came last,
// which are the ones that run.
func TestKeysOfManyReplicas(t *testing.T) {
	keys := map[string][]key{}
	for i := range maxKeys + 10 {
		remember(keys, fmt.Sprint("r", i), key{Created: int64(i)})
	}
	last := fmt.Sprint("r", maxKeys+9)
	remember(keys, last, key{Created: maxKeys + 100})
	remember(keys, last, key{Created: maxKeys + 200})
	if len(keys) != maxKeys || keys["r9"] != nil || keys["r10"] == nil {
		t.Errorf("%d replicas are kept, the first among them: %t", len(keys), keys["r0"] != nil)
	}
	if got := keys[last]; len(got) != 2 || got[0].Created != maxKeys+200 || got[1].Created != maxKeys+100 {
		t.Errorf("the last one has %v", got)
	}
}
