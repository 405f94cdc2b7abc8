package metadata

import "fmt"

// Check reports whether a transaction obeys the rules and limits that every engine shares: ErrInvalidTxn or ErrTooLarge.
// Engines call it first.
func (t *Txn) Check() error {
	switch {
	case len(t.Ops) == 0:
		return fmt.Errorf("%w: no operation", ErrInvalidTxn)
	case len(t.Ops) > MaxOps:
		return fmt.Errorf("%w: %d operations, at most %d are allowed", ErrTooLarge, len(t.Ops), MaxOps)
	case len(t.Cmps) > MaxOps:
		return fmt.Errorf("%w: %d compares, at most %d are allowed", ErrTooLarge, len(t.Cmps), MaxOps)
	}
	for _, c := range t.Cmps {
		if err := checkKey(c.Key); err != nil {
			return err
		}
	}
	return t.checkOps()
}

func (t *Txn) checkOps() error {
	total := 0
	keys := make(map[string]struct{}, len(t.Ops))
	for _, op := range t.Ops {
		if err := checkKey(op.Key); err != nil {
			return err
		}
		if len(op.Value) > MaxValueBytes {
			return fmt.Errorf("%w: value of key %q has %d bytes, at most %d are allowed", ErrTooLarge, op.Key, len(op.Value), MaxValueBytes)
		}
		if _, twice := keys[op.Key]; twice {
			return fmt.Errorf("%w: key %q is named twice", ErrInvalidTxn, op.Key)
		}
		keys[op.Key] = struct{}{}
		total += len(op.Key) + len(op.Value)
	}
	if total > MaxTxnBytes {
		return fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrTooLarge, total, MaxTxnBytes)
	}
	return t.checkPrefixes(keys)
}

// checkPrefixes refuses a transaction that deletes a prefix and names a key below it.
func (t *Txn) checkPrefixes(keys map[string]struct{}) error {
	for _, op := range t.Ops {
		if op.Kind != OpDeletePrefix {
			continue
		}
		for key := range keys {
			if key != op.Key && len(key) > len(op.Key) && key[:len(op.Key)] == op.Key {
				return fmt.Errorf("%w: key %q lies below the deleted prefix %q", ErrInvalidTxn, key, op.Key)
			}
		}
	}
	return nil
}

func checkKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("%w: empty key", ErrInvalidTxn)
	case len(key) > MaxKeyBytes:
		return fmt.Errorf("%w: key of %d bytes, at most %d are allowed", ErrTooLarge, len(key), MaxKeyBytes)
	}
	return nil
}

// Deletes reports whether the transaction deletes something. Stores that are short of space let such transactions pass
// for longer than others.
func (t *Txn) Deletes() bool {
	for _, op := range t.Ops {
		if op.Kind != OpPut {
			return true
		}
	}
	return false
}
