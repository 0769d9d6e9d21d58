package offload

import (
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// ZeroValue is zero-value compression (section IV-C of paper 003): for every 32
// elements of 4 bytes a word that says which are not zero, and then those that are
// not. The chunks in which the paper's threads take room are not in it.
type ZeroValue struct {
	Density int // elements that are not zero, in per cent: 0..100
}

// coreRate is what one core compresses in a second, in bytes before
// compression: a round estimate, to which BenchmarkCompress comes close where a
// third of the elements is not zero. Paper 003 shows its times in a figure only
// (figure 10, for several threads).
const coreRate engine.Rate = 2_000_000_000

// maskBits is how many elements a word of the mask stands for, element the bytes of one.
const (
	maskBits = 32
	element  = 4
)

// Size is what a value of b bytes takes in compressed form. A value that would
// not become smaller is kept as it is.
func (z ZeroValue) Size(b engine.Bytes) engine.Bytes {
	if b <= 0 {
		return 0
	}
	n := ceil(b, element)
	words := ceil(n, maskBits) + engine.Bytes(engine.MulDivUp(int64(n), int64(min(max(z.Density, 0), 100)), 100))
	return min(words*element, b)
}

func ceil(a, b engine.Bytes) engine.Bytes { return (a + b - 1) / b }

// Held is the host memory over time if every value in it is compressed. Each
// point of a trace's Host differs from the one before it by one value. The
// buffers that copies pass through on their way are not counted.
func (z ZeroValue) Held(points []sim.Point) []sim.Point {
	out := make([]sim.Point, len(points))
	var before, held engine.Bytes
	for i, p := range points {
		if d := p.Used - before; d >= 0 {
			held += z.Size(d)
		} else {
			held -= z.Size(-d)
		}
		before = p.Used
		out[i] = sim.Point{At: p.At, Used: held}
	}
	return out
}

// Compression is what compressing the offloaded values means to one training step. Outputs
// of rectifiers are full of zeros, and idle cores of the host leave them out of what was
// offloaded: paper 003, section IV-C.
type Compression struct {
	Peak, Compressed engine.Bytes  // the most host memory, without compression and with it
	Offloaded        engine.Bytes  // all that is copied to the host
	Transfer         time.Duration // the link is busy with that
	Core             time.Duration // one core compresses that; decompression takes about as long again
}

// Saved is how much less host memory is needed.
func (c *Compression) Saved() engine.Bytes { return c.Peak - c.Compressed }

// Cores is how many cores compress as fast as the link copies, at least 1; 0 if
// nothing is copied, or in no time.
func (c *Compression) Cores() int {
	if c.Offloaded == 0 || c.Transfer <= 0 {
		return 0
	}
	return int((c.Core + c.Transfer - 1) / c.Transfer)
}

// Of measures a trace; size is the size of a value.
func (z ZeroValue) Of(t *sim.Trace, size func(engine.ValueID) engine.Bytes) Compression {
	s := Compression{Peak: t.HostPeak}
	for _, p := range z.Held(t.Host) {
		s.Compressed = max(s.Compressed, p.Used)
	}
	for i := range t.Spans {
		if sp := &t.Spans[i]; sp.Kind == sim.SpanOffload {
			s.Offloaded += size(sp.Value)
			s.Transfer += sp.End - sp.Start
		}
	}
	s.Core = coreRate.Time(s.Offloaded)
	return s
}
