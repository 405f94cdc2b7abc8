package kafka

import (
	"math/bits"
	"sync"
)

// Buffers come in sizes that double, from 4.5 KiB to 18 MiB: an eighth above a power of two, because batches tend to be
// filled up to a power of two, and their frames are a little larger. Larger buffers are left to the garbage collector.
const (
	smallestBuffer = 4<<10 + 4<<10/8
	bufferClasses  = 13
)

// buffer is a byte slice on loan from buffers. Growing b by append is fine: put files it by what it became.
type buffer struct{ b []byte }

// buffers lends byte slices, so that frames and answers make no garbage.
type buffers struct {
	classes [bufferClasses]sync.Pool
}

// classOf is the smallest class whose buffers hold n bytes; bufferClasses if none does.
func classOf(n int) int {
	if n <= smallestBuffer {
		return 0
	}
	return min(bits.Len(uint((n-1)/smallestBuffer)), bufferClasses)
}

// sizeOf is the size of a class's buffers.
func sizeOf(class int) int { return smallestBuffer << class }

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
	return &buffer{make([]byte, 0, sizeOf(class))}
}

// put takes a buffer back. Nobody may use its bytes afterwards.
func (p *buffers) put(b *buffer) {
	size := cap(b.b)
	class := classOf(size)
	if class < bufferClasses && size < sizeOf(class) {
		class-- // grown by append to something between two classes
	}
	if class < 0 || class == bufferClasses {
		return
	}
	p.classes[class].Put(b)
}
