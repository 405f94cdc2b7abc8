package kafka

import (
	"math/bits"
	"sync"
)

// Buffers come in powers of four between minBuffer and maxPooled. Larger ones are left to the garbage collector.
const (
	minBufferShift = 12 // 4 KiB
	maxPooledShift = 24 // 16 MiB
	bufferClasses  = (maxPooledShift-minBufferShift)/2 + 1
)

// buffer is a byte slice on loan from buffers. Growing b by append is fine: put files it by what it became.
type buffer struct{ b []byte }

// buffers lends byte slices, so that frames and answers make no garbage.
type buffers struct {
	classes [bufferClasses]sync.Pool
}

// classOf is the smallest class whose buffers hold n bytes; bufferClasses if none does.
func classOf(n int) int {
	if n <= 1<<minBufferShift {
		return 0
	}
	return min((bits.Len(uint(n-1))-minBufferShift+1)/2, bufferClasses)
}

// get lends a buffer of length 0 with room for n bytes.
func (p *buffers) get(n int) *buffer {
	class := classOf(n)
	if class == bufferClasses {
		return &buffer{make([]byte, 0, n)}
	}
	if b, ok := p.classes[class].Get().(*buffer); ok {
		b.b = b.b[:0]
		return b
	}
	return &buffer{make([]byte, 0, 1<<(minBufferShift+2*class))}
}

// put takes a buffer back. Nobody may use its bytes afterwards.
func (p *buffers) put(b *buffer) {
	size := cap(b.b)
	class := classOf(size)
	if class < bufferClasses && size < 1<<(minBufferShift+2*class) {
		class-- // grown by append to something between two classes
	}
	if class < 0 || class == bufferClasses {
		return
	}
	p.classes[class].Put(b)
}
