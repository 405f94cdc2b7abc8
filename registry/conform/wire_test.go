package conform

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

func TestParsePrefix(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		id      int32
		rest    string
		ok      bool
	}{
		"id and data": {"\x00\x00\x00\x01\x02data", 258, "data", true},
		"no data":     {"\x00\x00\x00\x00\x07", 7, "", true},
		"largest":     {"\x00\x7f\xff\xff\xff", 1<<31 - 1, "", true},
		"negative":    {"\x00\x80\x00\x00\x00", 0, "", false},
		"magic 1":     {"\x01\x00\x00\x00\x07", 0, "", false},
		"short":       {"\x00\x00\x00\x00", 0, "", false},
		"empty":       {"", 0, "", false},
	} {
		id, rest, err := ParsePrefix([]byte(c.payload))
		if (err == nil) != c.ok || id != c.id || string(rest) != c.rest {
			t.Errorf("%s: %d, %q, %v", name, id, rest, err)
		}
		if !c.ok && !errors.Is(err, ErrNoPrefix) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseHeader(t *testing.T) {
	guid := [16]byte{1, 2, 3}
	header := append([]byte{1}, guid[:]...)
	got, rest, err := ParseHeader(append(header, 0))
	if err != nil || got != guid || string(rest) != "\x00" {
		t.Errorf("%v, %q, %v", got, rest, err)
	}
	for _, bad := range [][]byte{nil, header[:16], append([]byte{0}, guid[:]...)} {
		if _, _, err := ParseHeader(bad); !errors.Is(err, ErrHeader) {
			t.Errorf("%x: %v", bad, err)
		}
	}
}

func TestParseIndexes(t *testing.T) {
	many := binary.AppendVarint(nil, MaxIndexes+1)
	for name, c := range map[string]struct {
		b     []byte
		index []int32
		rest  string
		ok    bool
	}{
		"first":         {[]byte("\x00data"), []int32{0}, "data", true},
		"first, spelt":  {[]byte("\x02\x00data"), []int32{0}, "data", true},
		"nested":        {[]byte("\x04\x02\x06data"), []int32{1, 3}, "data", true},
		"ends early":    {[]byte("\x04\x02"), nil, "", false},
		"negative":      {[]byte("\x02\x01"), nil, "", false},
		"count below 0": {[]byte("\x01"), nil, "", false},
		"too many":      {many, nil, "", false},
		"too large":     {binary.AppendVarint([]byte{2}, 1<<31), nil, "", false},
		"empty":         {nil, nil, "", false},
		"long way":      {[]byte("\x82\x80\x80\x80\x00\x86\x80\x80\x80\x00data"), []int32{3}, "data", true},
		"overlong":      {[]byte("\x02\x86\x80\x80\x80\x80\x00data"), nil, "", false},
		"overlong 0":    {[]byte("\x80\x80\x80\x80\x80\x00data"), nil, "", false},
		"endless":       {bytes.Repeat([]byte{0x80}, 100), nil, "", false},
	} {
		var into [MaxIndexes]int32
		index, rest, err := ParseIndexes(c.b, &into)
		if (err == nil) != c.ok || !slices.Equal(index, c.index) || string(rest) != c.rest {
			t.Errorf("%s: %v, %q, %v", name, index, rest, err)
		}
		if !c.ok && !errors.Is(err, ErrIndexes) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWireAllocatesNothing(t *testing.T) {
	payload := []byte("\x00\x00\x00\x01\x02\x04\x02\x06data")
	allocs := testing.AllocsPerRun(100, func() {
		var into [MaxIndexes]int32
		_, rest, _ := ParsePrefix(payload)
		if _, _, err := ParseIndexes(rest, &into); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func FuzzWire(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01\x02\x04\x02\x06data"))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if id, rest, err := ParsePrefix(b); err == nil {
			again := append(AppendPrefix(nil, id), rest...)
			if !slices.Equal(again, b) {
				t.Errorf("%x became %x", b, again)
			}
		}
		if guid, rest, err := ParseHeader(b); err == nil {
			if again := append(append([]byte{1}, guid[:]...), rest...); !slices.Equal(again, b) {
				t.Errorf("%x became %x", b, again)
			}
		}
		var into [MaxIndexes]int32
		index, rest, err := ParseIndexes(b, &into)
		if err != nil {
			return
		}
		if len(index) == 0 || slices.Min(index) < 0 || len(rest) >= len(b) {
			t.Errorf("%x gives %v and %x", b, index, rest)
		}
		var again [MaxIndexes]int32
		if same, left, err := ParseIndexes(AppendIndexes(nil, index), &again); err != nil || len(left) > 0 || !slices.Equal(same, index) {
			t.Errorf("%v became %v, %x, %v", index, same, left, err)
		}
	})
}
