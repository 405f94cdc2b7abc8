package record

// Limits bound what a compressed payload may expand to. The zero value of a field means its default.
type Limits struct {
	// MaxBytes is how many bytes the records of one batch may take once expanded. Default 64 MiB.
	MaxBytes int64
	// MaxRatio is how many expanded bytes one compressed byte may stand for. Default 1000.
	MaxRatio int64
	// FreeBytes is what every payload may expand to, whatever the ratio: a batch of equal records compresses very well. Default
	// 1 MiB.
	FreeBytes int64
	// ZstdWindowBytes is the longest window a zstd frame may ask for, and so what decoding one costs in memory. Default 8 MiB,
	// which the format's specification recommends to support. Only the levels above 19 of the reference encoder ask for more.
	ZstdWindowBytes int64
}

// DefaultLimits are the limits with every default filled in.
func DefaultLimits() Limits {
	return Limits{MaxBytes: 64 << 20, MaxRatio: 1000, FreeBytes: 1 << 20, ZstdWindowBytes: 8 << 20}
}

func (l Limits) withDefaults() Limits {
	standard := DefaultLimits()
	set := func(field *int64, value int64) {
		if *field <= 0 {
			*field = value
		}
	}
	set(&l.MaxBytes, standard.MaxBytes)
	set(&l.MaxRatio, standard.MaxRatio)
	set(&l.FreeBytes, standard.FreeBytes)
	set(&l.ZstdWindowBytes, standard.ZstdWindowBytes)
	return l
}

// allowance is what a payload of n compressed bytes may expand to.
func (l Limits) allowance(n int) int64 {
	return min(l.MaxBytes, max(l.FreeBytes, l.MaxRatio*int64(n)))
}
