package proto

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/sim"
)

func randomPlaced(rng *rand.Rand) *Placed {
	p := &Placed{Allocator: "best-fit", Pool: 9, Fixed: true, PeakAt: time.Second,
		Failed: &alloc.Failure{Event: 3, Buffer: 2, Bytes: 7, Largest: 5, Free: 6}, FailAt: 4, Verdict: Verdict{Verified: true}}
	fill(rng, reflect.ValueOf(&p.Pieces).Elem())
	fill(rng, reflect.ValueOf(&p.Moments).Elem())
	return p
}

// buffersOf have lives over the whole width of their columns; names repeat.
func buffersOf(rng *rand.Rand) *Buffers {
	b := &Buffers{Tick: time.Microsecond, Zero: rng.Int() - rng.Int()}
	for range rng.IntN(9) {
		b.List = append(b.List, alloc.Buffer{
			Name: []string{"", "conv1", "größte", "conv1"}[rng.IntN(4)], Bytes: engine.Bytes(rng.Int64()), Start: rng.Int(), End: -rng.Int(),
			High: rng.IntN(2) == 1, Kind: sim.Category(rng.IntN(256)),
		})
	}
	return b
}

// Every field of a placement comes back, and a cut message is an error.
func TestPlaceRoundTrip(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 9))
		for _, c := range []struct {
			to   Request
			want *Reply
		}{
			{new(Place), &Reply{Final: true, Value: randomPlaced(rng)}},
			{new(Place), &Reply{Final: true, Value: randomPlaced(rng), Failure: Fail(Deadline, "stopped")}},
			{new(Open), &Reply{Final: true, Value: &Opened{Format: "snapshot", Memory: &Memory{Name: "x", Buffers: buffersOf(rng), Recorded: randomPlaced(rng), Capacity: 3}}}},
			{new(Open), &Reply{Final: true, Value: &Opened{Format: "minimalloc", Memory: &Memory{Buffers: buffersOf(rng), Count: 4}}}},
		} {
			if b := roundTrip(t, c.to, c.want); seed <= 3 {
				cut(t, b, func(b []byte) error { _, err := DecodeReply(c.to, b); return err })
			}
		}
		q := &Place{Budget: 5, Pool: 3, Allocator: "va", Args: engine.Args{"chunk": "2"}, Limit: time.Second, Schedule: randomSchedule(rng)}
		if seed%2 == 1 {
			q.Schedule, q.Buffers = nil, buffersOf(rng)
			for i := range q.Buffers.List { // allocators know no names
				q.Buffers.List[i].Name = ""
			}
		}
		sent(t, q)
	}
}

// normal has nil where reading makes nil of an empty list.
func normal(r *Reply) *Reply {
	p, _ := r.Value.(*Placed)
	if o, ok := r.Value.(*Opened); ok && o.Memory != nil {
		p = o.Memory.Recorded
	}
	if p != nil && len(p.Pieces) == 0 {
		p.Pieces = nil
	}
	if p != nil && len(p.Moments) == 0 {
		p.Moments = nil
	}
	return r
}

// A name that points outside of all names is an error and no panic.
func TestBuffersWithBadNames(t *testing.T) {
	named := func(c *codec, b *Buffers) { c.buffers(b, true) }
	b := written(named, &Buffers{List: []alloc.Buffer{{Name: "conv1", Bytes: 1, End: 1}}})
	for i := range b {
		for _, v := range []byte{0, 1, 127, 255} {
			damaged := append([]byte(nil), b...)
			damaged[i] = v
			c, got := &codec{buf: damaged, reading: true}, new(Buffers)
			if named(c, got); c.end("buffers") == nil && len(got.List) != 1 {
				t.Errorf("byte %d set to %d: %d buffers, want 1 or an error", i, v, len(got.List))
			}
		}
	}
}

// BenchmarkDecodeMemory is what the page does with a recording that was read.
func BenchmarkDecodeMemory(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	m := &Memory{Buffers: &Buffers{}, Recorded: &Placed{}}
	for i := range 100_000 {
		m.Buffers.List = append(m.Buffers.List, alloc.Buffer{Name: "buffer" + string(rune('a'+i%26)), Bytes: engine.Bytes(rng.Int64()), Start: i, End: i + 9})
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
