package offload

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// compress is zero-value compression itself, of elements of four bytes: what
// Size only counts. It has no branch that depends on the values.
func compress(dst, src []uint32) []uint32 {
	dst = slices.Grow(dst[:0], len(src)+len(src)/maskBits+2)
	dst = dst[:cap(dst)]
	k := 0
	for len(src) > 0 {
		part := src[:min(maskBits, len(src))]
		src = src[len(part):]
		at := k
		k++
		var mask uint32
		for i, v := range part {
			dst[k] = v
			some := (v | -v) >> 31
			mask |= some << i
			k += int(some)
		}
		dst[at] = mask
	}
	return dst[:k]
}

func decompress(packed []uint32, n int) (out []uint32) {
	out = []uint32{}
	for len(out) < n {
		mask := packed[0]
		packed = packed[1:]
		for i := range min(maskBits, n-len(out)) {
			if mask>>i&1 == 0 {
				out = append(out, 0)
				continue
			}
			out = append(out, packed[0])
			packed = packed[1:]
		}
	}
	return out
}

// values are n elements of which the given number is not zero.
func values(rng *rand.Rand, n, dense int) []uint32 {
	out := make([]uint32, n)
	for i := range dense {
		out[i] = rng.Uint32() | 1
	}
	rng.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// Size counts exactly what compressing yields, and never more than the original.
func TestSizeIsWhatCompressionYields(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n, density := 1+rng.IntN(3000), rng.IntN(101)
		dense := (n*density + 99) / 100
		src := values(rng, n, dense)
		packed := compress(nil, src)
		if back := decompress(packed, n); !reflect.DeepEqual(back, src) {
			t.Fatalf("%d elements, %d not zero: not the same after decompression", n, dense)
		}
		want := engine.Bytes(min(4*len(packed), 4*n))
		if got := (ZeroValue{Density: density}).Size(engine.Bytes(4 * n)); got != want {
			t.Errorf("%d elements, %d %% not zero: got %d bytes, want %d", n, density, got, want)
		}
	}
}

func TestSizeByHand(t *testing.T) {
	for _, tc := range []struct {
		z       ZeroValue
		b, want engine.Bytes
	}{
		{ZeroValue{Density: 50}, 0, 0},
		{ZeroValue{Density: 0}, 4096, 4 * 32},          // 1024 elements: 32 words of mask
		{ZeroValue{Density: 50}, 4096, 4 * (32 + 512)}, // and every second element
		{ZeroValue{Density: 100}, 4096, 4096},          // kept as it is
		{ZeroValue{Density: 50}, 4095, 4 * (32 + 512)}, // the last element is not whole
	} {
		if got := tc.z.Size(tc.b); got != tc.want {
			t.Errorf("%+v: %d bytes become %d, want %d", tc.z, tc.b, got, tc.want)
		}
	}
}

// More non-zeros never take less room, and none more than the original.
func TestSizeGrows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		b, density := engine.Bytes(rng.IntN(1<<20)), rng.IntN(100)
		less, more := ZeroValue{Density: density}, ZeroValue{Density: density + 1}
		if x, y := less.Size(b), more.Size(b); x > y || y > b {
			t.Errorf("%d bytes at %d %%: %d; at %d %%: %d; want no less, and at most the original", b, density, x, density+1, y)
		}
	}
}

func TestOf(t *testing.T) {
	tr := &sim.Trace{
		HostPeak: 8192,
		Host:     []sim.Point{{At: 1, Used: 4096}, {At: 5, Used: 8192}, {At: 9, Used: 4096}, {At: 12}},
		Spans: []sim.Span{
			{Kind: sim.SpanForward, Value: engine.NoValue, End: 1},
			{Kind: sim.SpanOffload, Value: 0, Start: 1, End: 3},
			{Kind: sim.SpanOffload, Value: 1, Start: 5, End: 7},
		},
	}
	z := ZeroValue{Density: 50}
	got := z.Of(tr, func(engine.ValueID) engine.Bytes { return 4096 })
	want := Compression{Peak: 8192, Compressed: 2 * 2176, Offloaded: 8192, Transfer: 4, Core: 4096}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s := got.Saved(); s != 8192-4352 {
		t.Errorf("%d bytes are saved, want %d", s, 8192-4352)
	}
	if c := got.Cores(); c != 1024 {
		t.Errorf("%d cores keep up with the link, want 1024", c)
	}
	held := z.Held(tr.Host)
	if last := held[len(held)-1]; last != (sim.Point{At: 12}) {
		t.Errorf("in the end %+v is held, want nothing", last)
	}
	if c := (&Compression{Core: time.Second}).Cores(); c != 0 {
		t.Errorf("without transfers %d cores, want 0", c)
	}
}

// BenchmarkCompress is what one core compresses: see coreRate.
func BenchmarkCompress(b *testing.B) {
	for _, density := range []int{10, 33, 66, 100} {
		b.Run(fmt.Sprintf("density=%d", density), func(b *testing.B) {
			const n = 1 << 20
			src := values(rand.New(rand.NewPCG(5, 6)), n, n*density/100)
			dst := make([]uint32, 0, 2*n)
			b.SetBytes(4 * n)
			for b.Loop() {
				dst = compress(dst[:0], src)
			}
			if got := bits.OnesCount32(dst[0]); got > maskBits {
				b.Fatal(got)
			}
		})
	}
}
