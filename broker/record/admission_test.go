package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// sameAdmission holds an Admission against what Validate said of the same batch.
func sameAdmission(t *testing.T, b Batch, want Summary, wantErr error, c *Check, d *Decompressor) {
	t.Helper()
	copied := Batch(bytes.Clone(b))
	sum, err := admit(copied, c, d)
	if (err == nil) != (wantErr == nil) || err == nil && sum != want {
		t.Fatalf("the admission says %+v, %v; Validate %+v, %v", sum, err, want, wantErr)
	}
	for _, kind := range []error{ErrCorrupt, ErrUnsupportedMagic, ErrUnsupportedCodec, ErrTooLarge, ErrInvalidRecord, ErrInvalidTimestamp, ErrBomb} {
		if errors.Is(err, kind) != errors.Is(wantErr, kind) {
			t.Fatalf("the admission says %v, Validate %v", err, wantErr)
		}
	}
	got, _ := errors.AsType[*InvalidRecordError](err)
	refused, _ := errors.AsType[*InvalidRecordError](wantErr)
	if got != nil && refused != nil && !slices.Equal(got.Records, refused.Records) {
		t.Fatalf("the admission names %v, Validate %v", got.Records, refused.Records)
	}
	if err != nil && !bytes.Equal(copied, b) {
		t.Fatal("a batch that was refused has changed")
	}
	if err == nil {
		_, err = Batch(bytes.Clone(b)).Admit(c, d)
		if err != nil || copied.MaxTimestamp() != want.MaxTimestamp || copied.ComputeCRC() != copied.CRC() {
			t.Fatalf("after the admission: %v, maximum timestamp %d, want %d", err, copied.MaxTimestamp(), want.MaxTimestamp)
		}
	}
}

func admit(b Batch, c *Check, d *Decompressor) (Summary, error) {
	a, err := b.BeginAdmit(c, d)
	if err != nil {
		return Summary{}, err
	}
	defer a.Close()
	a.Next() // as a caller that stops early
	return a.End()
}

func TestAdmissionAgreesWithValidate(t *testing.T) {
	d := NewDecompressor(Limits{})
	compacted, late, stamped, small := openCheck(), openCheck(), openCheck(), openCheck()
	compacted.Compacted = true
	late.BeforeMaxMs, late.AfterMaxMs = 0, 0
	stamped.TimestampType = LogAppendTime
	small.MaxBytes = 80
	for _, codec := range allCodecs {
		good := Batch(oracle(t, codec, plainHead(), someRecords()))
		offset := build(t, NewOptions(codec), someRecords())
		offset.SetBaseOffset(5)
		more := Batch(bytes.Clone(good))
		binary.BigEndian.PutUint32(more[offCount:], uint32(more.Count()+1))
		binary.BigEndian.PutUint32(more[offLastDelta:], uint32(more.LastOffsetDelta()+1))
		for name, b := range map[string]Batch{
			"good": good, "base offset": offset, "count": reseal(more), "checksum": append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1),
			"short": good[:HeaderLen], "cut": raw(codec, 1, nil),
		} {
			for _, c := range []*Check{openCheck(), compacted, late, stamped, small} {
				sum, err := b.Validate(c, d)
				t.Run(codec.String()+"/"+name, func(t *testing.T) { sameAdmission(t, b, sum, err, c, d) })
			}
		}
	}
}

// TestAdmissionShowsTheRecords reads them all while they are checked.
func TestAdmissionShowsTheRecords(t *testing.T) {
	d := NewDecompressor(Limits{})
	for _, codec := range allCodecs {
		b := Batch(oracle(t, codec, plainHead(), someRecords()))
		a, err := b.BeginAdmit(openCheck(), d)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for a.Next() {
			if want := someRecords()[n]; !bytes.Equal(a.Record().Value, want.Value) {
				t.Errorf("%v: record %d is %q, want %q", codec, n, a.Record().Value, want.Value)
			}
			n++
		}
		if _, err := a.End(); err != nil || n != len(someRecords()) {
			t.Errorf("%v: %d records, %v", codec, n, err)
		}
		a.Close()
	}
}
