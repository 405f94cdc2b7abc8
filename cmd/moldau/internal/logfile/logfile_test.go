package logfile

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"moldau/broker/record"
)

// segment builds a segment of batches with n records each.
func segment(t testing.TB, codec record.Codec, base int64, sizes ...int) (raw []byte, positions []int64) {
	t.Helper()
	c := record.NewCompressor()
	for _, n := range sizes {
		o := record.NewOptions(codec)
		o.BaseOffset = base
		b := record.NewBuilder(o)
		for i := range n {
			b.Append(&record.Record{Timestamp: 1000 + base + int64(i), Key: []byte("k"), Value: []byte(strings.Repeat("v", 50))})
		}
		positions = append(positions, int64(len(raw)))
		batch, err := b.Build(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, batch...)
		base += int64(n)
	}
	return raw, positions
}

type partition struct{ log, index, times []byte }

// good is a partition of one segment with indexes.
func good(t testing.TB) partition {
	raw, pos := segment(t, record.LZ4, 0, 3, 1, 5)
	var p partition
	p.log = raw
	p.index = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 3), uint32(pos[1]))
	p.index = append(p.index, make([]byte, 16)...) // the tail a running broker keeps
	p.times = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, 1003), 3)
	return p
}

func (p partition) write(t testing.TB) string {
	dir := filepath.Join(t.TempDir(), "orders-0")
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for ext, raw := range map[string][]byte{"log": p.log, "index": p.index, "timeindex": p.times} {
		if raw == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, "00000000000000000000."+ext), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestVerifyGood(t *testing.T) {
	p := good(t)
	r, err := Verify(p.write(t))
	if err != nil {
		t.Fatal(err)
	}
	if r.Segments != 1 || r.Batches != 3 || r.Records != 9 || r.Bytes != int64(len(p.log)) || len(r.Findings) != 0 {
		t.Errorf("report is %+v", r)
	}
	p.index, p.times = nil, nil
	if r, err := Verify(p.write(t)); err != nil || len(r.Findings) != 0 {
		t.Errorf("without indexes: %+v, %v", r, err)
	}
}

func TestVerifyFindsDamage(t *testing.T) {
	for name, tt := range map[string]struct {
		damage func(*partition)
		want   string
	}{
		"a flipped bit":        {func(p *partition) { p.log[len(p.log)-1] ^= 1 }, "checksum"},
		"cut off":              {func(p *partition) { p.log = p.log[:len(p.log)-1] }, ErrTruncated.Error()},
		"cut inside a header":  {func(p *partition) { p.log = p.log[:10] }, ErrTruncated.Error()},
		"an absurd length":     {func(p *partition) { binary.BigEndian.PutUint32(p.log[8:], 1<<31-1) }, ErrTruncated.Error()},
		"a negative length":    {func(p *partition) { binary.BigEndian.PutUint32(p.log[8:], 1<<31) }, "corrupt"},
		"an old format":        {func(p *partition) { p.log[16] = 1 }, "magic"},
		"offsets going back":   {func(p *partition) { binary.BigEndian.PutUint64(p.log, 7) }, "expected at least"},
		"index to nowhere":     {func(p *partition) { p.index[7]++ }, "where no batch begins"},
		"index to another":     {func(p *partition) { p.index[3] = 8 }, "to the batch of"},
		"index of odd length":  {func(p *partition) { p.index = p.index[:5] }, "no index"},
		"time index past end":  {func(p *partition) { p.times[11] = 200 }, "behind the end"},
		"time index backwards": {func(p *partition) { p.times = append(p.times, p.times...) }, "stand behind"},
	} {
		t.Run(name, func(t *testing.T) {
			p := good(t)
			tt.damage(&p)
			r, err := Verify(p.write(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				if strings.Contains(f.Problem, tt.want) {
					return
				}
			}
			t.Errorf("findings are %+v, want one with %q", r.Findings, tt.want)
		})
	}
}

func TestVerifySegmentsOverlap(t *testing.T) {
	dir := good(t).write(t)
	raw, _ := segment(t, record.None, 8, 1)
	if err := os.WriteFile(filepath.Join(dir, "00000000000000000008.log"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Verify(filepath.Dir(dir)) // the directory above finds it too
	if err != nil || len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Problem, "begins at offset 8") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestVerifyNothing(t *testing.T) {
	if _, err := Verify(t.TempDir()); err == nil {
		t.Error("an empty directory: no error")
	}
	if _, err := Verify(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}

// FuzzVerify checks that no bytes make the reader fail in another way than by
// a finding.
func FuzzVerify(f *testing.F) {
	p := good(f)
	f.Add(p.log, p.index, p.times)
	f.Add([]byte{}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, log, index, times []byte) {
		if _, err := Verify(partition{log, index, times}.write(t)); err != nil {
			t.Fatal(err)
		}
	})
}
