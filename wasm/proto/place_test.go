package proto

import (
	"math/rand/v2"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/sim"
)

// buffersOf returns random buffers whose values use the whole width of their columns. Names occur several times.
func buffersOf(rng *rand.Rand) *Buffers {
	b := &Buffers{Tick: time.Microsecond, Zero: rng.Int() - rng.Int()}
	for range rng.IntN(9) {
		b.List = append(b.List, alloc.Buffer{
			Name: []string{"", "conv1", "größte", "conv1"}[rng.IntN(4)], Bytes: engine.Bytes(rng.Int64()),
			Start: rng.Int(), End: -rng.Int(),
			High: rng.IntN(2) == 1, Kind: sim.Category(rng.IntN(256)),
		})
	}
	return b
}

// TestBuffersWithBadNames checks that an index outside the list of names gives an error and does not panic.
func TestBuffersWithBadNames(t *testing.T) {
	named := func(c *codec, b *Buffers) { c.buffers(b, true) }
	b := written(named, &Buffers{List: []alloc.Buffer{{Name: "conv1", Bytes: 1, End: 1}}})
	for i := range b {
		for _, v := range []byte{0, 1, 127, 255} {
			damaged := append([]byte(nil), b...)
			damaged[i] = v
			c, got := &codec{buf: damaged, reading: true}, new(Buffers)
			if named(c, got); c.end() == nil && len(got.List) != 1 {
				t.Errorf("byte %d set to %d: %d buffers, want 1 or an error", i, v, len(got.List))
			}
		}
	}
}

// BenchmarkDecodeMemory measures how long the page takes to decode a recording of memory.
func BenchmarkDecodeMemory(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	m := &Memory{Buffers: &Buffers{}, Recorded: &Placed{}}
	for i := range 100_000 {
		m.Buffers.List = append(m.Buffers.List,
			alloc.Buffer{Name: "buffer" + string(rune('a'+i%26)), Bytes: engine.Bytes(rng.Int64()), Start: i,
				End: i + 9})
		m.Recorded.Pieces = append(m.Recorded.Pieces, Piece{Buffer: i})
		m.Recorded.Moments = append(m.Recorded.Moments, Moment{At: time.Duration(i)}, Moment{})
	}
	data, err := EncodeReply(&Reply{Final: true, Value: &Opened{Memory: m}})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := DecodeReply(new(Open), data); err != nil {
			b.Fatal(err)
		}
	}
}
