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
		for _, want := range []*Reply{
			{Kind: KindResult, Placed: randomPlaced(rng)},
			{Kind: KindFailure, Placed: randomPlaced(rng), Failure: Fail(Deadline, "stopped")},
			{Kind: KindResult, Opened: &Opened{Format: "snapshot", Memory: &Memory{Name: "x", Buffers: buffersOf(rng), Recorded: randomPlaced(rng), Capacity: 3}}},
			{Kind: KindResult, Opened: &Opened{Format: "minimalloc", Memory: &Memory{Buffers: buffersOf(rng), Count: 4}}},
		} {
			b, err := EncodeReply(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := DecodeReply(b)
			if err != nil || !reflect.DeepEqual(normal(got), normal(want)) {
				t.Errorf("seed %d\n got %+v (%v)\nwant %+v", seed, got, err, want)
			}
			if seed > 3 {
				continue
			}
			for n := range b {
				if _, err := DecodeReply(b[:n]); err == nil {
					t.Fatalf("%d of %d bytes of a reply: got no error", n, len(b))
				}
			}
		}
		q := &Place{Budget: 5, Pool: 3, Allocator: "va", Args: engine.Args{"chunk": "2"}, Limit: time.Second, Schedule: randomSchedule(rng)}
		if seed%2 == 1 {
			q.Schedule, q.Buffers = nil, buffersOf(rng)
			for i := range q.Buffers.List { // allocators know no names
				q.Buffers.List[i].Name = ""
			}
		}
		want := &Request{Op: OpPlace, Place: q}
		b, err := EncodeRequest(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeRequest(b); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: request\n got %+v (%v)\nwant %+v", seed, got.Place, err, want.Place)
		}
	}
}

// normal has nil where reading makes nil of an empty list.
func normal(r *Reply) *Reply {
	for _, p := range []*Placed{r.Placed, recorded(r)} {
		if p != nil && len(p.Pieces) == 0 {
			p.Pieces = nil
		}
		if p != nil && len(p.Moments) == 0 {
			p.Moments = nil
		}
	}
	return r
}

func recorded(r *Reply) *Placed {
	if r.Opened == nil {
		return nil
	}
	return r.Opened.Memory.Recorded
}

// A name that points outside of all names is an error and no panic.
func TestBuffersWithBadNames(t *testing.T) {
	b := encodeBuffers(&Buffers{List: []alloc.Buffer{{Name: "conv1", Bytes: 1, End: 1}}}, true)
	for i := range b {
		for _, v := range []byte{0, 1, 127, 255} {
			damaged := append([]byte(nil), b...)
			damaged[i] = v
			if got, err := decodeBuffers(damaged); err == nil && len(got.List) != 1 {
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
	data, err := EncodeReply(&Reply{Opened: &Opened{Memory: m}})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := DecodeReply(data); err != nil {
			b.Fatal(err)
		}
	}
}
