package draw

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest/golden"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
)

// smallPlacement returns a placement of a few buffers by best fit in a pool of 1 GiB. There is no room for the
// last buffer.
func smallPlacement() Placement {
	const mib = engine.MiB
	names := [][2]string{{"s1", "conv1"}, {"s2", "layer1.0"}, {"s3", "layer1.1"}, {"d3", ""}, {"s4", "fc"}}
	p := Placement{
		Blocks: []Block{
			{0, 0, 90 * ms, 0, 300 * mib, 300 * mib, sim.Activation},
			{1, 10 * ms, 60 * ms, 300 * mib, 200 * mib, 200 * mib, sim.InTransfer},
			{2, 20 * ms, 100 * ms, 500 * mib, 250 * mib, 249 * mib, sim.Recomputed},
			{3, 60 * ms, 75 * ms, 300 * mib, 90 * mib, 90 * mib, sim.Gradient},
		},
		End: 100 * ms, Pool: 1024 * mib, PeakAt: 30 * ms,
		Failed: &FailedRequest{At: 80 * ms, Buffer: 4, Bytes: 400 * mib, Largest: 274 * mib, Free: 474 * mib,
			HoleAt: 750 * mib},
		Name: func(i int) (string, string) { return names[i][0], names[i][1] },
		Host: []sim.Point{{At: 10 * ms, Used: 200 * mib}, {At: 30 * ms, Used: 350 * mib}, {At: 90 * ms}},
	}
	level := func(at time.Duration, used, largest engine.Bytes) {
		p.Levels = append(p.Levels, Level{At: at, Used: used * mib, Reserved: 1024 * mib,
			Largest: largest * mib})
	}
	level(0, 300, 724)
	level(10*ms, 500, 524)
	level(20*ms, 750, 274)
	level(60*ms, 640, 274)
	level(75*ms, 550, 274)
	return p
}

// TestAddressScenes draws the small placement wide, narrow and zoomed, and the map at a moment, at the failure,
// and without a failure.
func TestAddressScenes(t *testing.T) {
	x := NewPlaces(smallPlacement())
	fits := smallPlacement()
	fits.Failed, fits.Host, fits.Tick = nil, nil, time.Microsecond
	y := NewPlaces(fits)
	light := display.Light
	for _, c := range []struct {
		file  string
		model *Places
		pic   Picture
		view  View
	}{
		{"address.svg", x, AddressTime, View{Width: 640, Cursor: NoCursor,
			Selected: lookup.Target{Kind: lookup.OnBuffer, Index: 1}}},
		{"address-zoom.svg", x, AddressTime, View{Width: 360, From: 55 * ms, To: 95 * ms, Cursor: NoCursor}},
		{"address-events.svg", y, AddressTime, View{Width: 640, Cursor: NoCursor}},
		{"map-fails.svg", x, AddressMap, View{Width: 640, Cursor: NoCursor}},
		{"map-cursor.svg", x, AddressMap, View{Width: 360, Cursor: 70 * ms}},
		{"holes.svg", x, Holes, View{Width: 640, Cursor: NoCursor}},
		{"host.svg", x, Host, View{Width: 640, Cursor: NoCursor}},
		{"host-none.svg", y, Host, View{Width: 640, Cursor: NoCursor}},
	} {
		var s Scene
		var b bytes.Buffer
		c.model.Draw(&s, c.pic, c.view)
		if s.Height != c.pic.Height() || s.Title == "" || s.Desc == "" {
			t.Errorf("%s: %v high, title %q, description %q; want %v and both", c.file, s.Height, s.Title, s.Desc,
				c.pic.Height())
		}
		if err := s.WriteSVG(&b, display.SVGOptions{Standalone: true, Theme: &light, Surface: true}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			t.Errorf("%s: a coordinate is no number", c.file)
		}
		golden.File(t, "testdata/"+c.file, b.Bytes())
	}
}

func TestAddressHits(t *testing.T) {
	x := NewPlaces(smallPlacement())
	v := View{Width: 640, Cursor: 30 * ms}
	f := newFrame(AddressTime, v, x.p.End)
	sc := x.scale(&f)
	at := func(mib float64) float64 { return sc.y(mib * float64(engine.MiB)) }
	px := f.x(int64(30 * ms))
	for _, c := range []struct {
		y    float64
		want lookup.Target
	}{{at(100), lookup.Target{Kind: lookup.OnBuffer, Index: 0}},
		{at(400), lookup.Target{Kind: lookup.OnBuffer, Index: 1}},
		{at(700), lookup.Target{Kind: lookup.OnBuffer, Index: 2}}, {at(900), lookup.Target{}}, {5, lookup.Target{}}} {
		if got, when := x.Hit(AddressTime, v, px, c.y); got != c.want || (when-30*ms).Abs() > ms/100 {
			t.Errorf("at y %v: got %+v at %v, want %+v at 30 ms", c.y, got, when, c.want)
		}
	}
	per := x.mapScale(&f)
	for mib, want := range map[float64]lookup.Target{10: {Kind: lookup.OnBuffer, Index: 0},
		490: {Kind: lookup.OnBuffer, Index: 1}, 600: {Kind: lookup.OnBuffer, Index: 2}, 900: {}} {
		if got, when := x.Hit(AddressMap, v, 1+mib*float64(engine.MiB)*per, mapBar+5); got != want || when != NoCursor {
			t.Errorf("map at %v MiB: got %+v at %v, want %+v and no moment", mib, got, when, want)
		}
	}
}

func TestAddressWords(t *testing.T) {
	x := NewPlaces(smallPlacement())
	for want, got := range map[string]string{
		"s4 of fc needs 400 MiB, largest hole 274 MiB, free 474 MiB":                                 x.FailureSentence(),
		"At 80.0 ms: s4 of fc needs 400 MiB, largest hole 274 MiB, free 474 MiB.":                    x.MapSentence(x.Moment()),
		"At 30.0 ms: 750 MiB in 3 blocks · free 274 MiB · largest hole 274 MiB · fragmentation 0 %.": x.MapSentence(30 * ms),
		"s3, recomputed, 249 MiB, layer1.1, takes 250 MiB, at 500 MiB, 20.0 ms to 100.0 ms":          x.Sentence(lookup.Target{Kind: lookup.OnBuffer, Index: 2}),
		"": x.Sentence(lookup.Target{Kind: lookup.OnStage, Index: 2}),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := x.AliveAt(x.Moment(), BySize); len(got) != 2 || got[0].Name != "s1" || got[1].Name != "s3" ||
		got[1].Layer != "layer1.1" || got[1].Since != "20.0 ms" {
		t.Errorf("by size: got %+v; want s1, then s3 of layer1.1 since 20.0 ms", got)
	}
	if got := x.AliveAt(30*ms, ByAddress); got[1].Name != "s2" || got[2].Name != "s3" {
		t.Errorf("by address: got %+v", got)
	}
}

// packed returns n blocks that do not overlap. They form rows of random heights, in which lifetimes are random.
func packed(n int, seed uint64) Placement {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := Placement{End: time.Second, Pool: 16 * engine.GiB}
	shelves := max(n/200, 1)
	for i := range shelves {
		lo := p.Pool * engine.Bytes(i) / engine.Bytes(shelves)
		hi := p.Pool * engine.Bytes(i+1) / engine.Bytes(shelves)
		at := time.Duration(0)
		for len(p.Blocks) < n*(i+1)/shelves {
			life := time.Duration(rng.ExpFloat64() * float64(p.End) / 220)
			end := min(at+life, p.End)
			size := hi - lo - engine.Bytes(rng.Int64N(int64(hi-lo)/2+1))
			p.Blocks = append(p.Blocks, Block{len(p.Blocks), at, end, lo, size, size, sim.Category(1 + rng.IntN(5))})
			at = end
		}
	}
	for i := range 2 * n {
		used := engine.Bytes(rng.Int64N(int64(p.Pool)))
		p.Levels = append(p.Levels, Level{At: p.End * time.Duration(i) / time.Duration(2*n), Used: used,
			Reserved: p.Pool, Largest: (p.Pool - used) / 3})
	}
	return p
}

// TestAddressIsBounded checks that the size of a scene is bounded by the pixels of the plot, whatever the number
// of blocks.
func TestAddressIsBounded(t *testing.T) {
	for _, n := range []int{100, 10_000, 300_000} {
		x := NewPlaces(packed(n, 3))
		for _, v := range []View{{Width: 1040}, {Width: 366}, {Width: 1040, From: 400 * ms, To: 410 * ms}} {
			v.Cursor = NoCursor
			var s Scene
			for pic := AddressTime; pic < Flames; pic++ {
				x.Draw(&s, pic, v)
				f := newFrame(pic, v, x.p.End)
				most := int((f.right-f.left)/cell*(f.Height/cell)) + 400
				if pic != AddressTime {
					most = int(f.Width)*6 + 100
				}
				if got := s.Items(); got > most {
					t.Errorf("%d blocks, %v wide, %s: %d items, want at most %d", n, v.Width, pic.Title(), got, most)
				}
			}
		}
	}
}

// TestCellsKeepArea checks that the area that the cells cover equals the area of the blocks that were added.
func TestCellsKeepArea(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		var c cells
		c.reset(50, 20, 50+cell*40, 20+cell*30)
		want := 0.0
		for range 1 + rng.IntN(30) {
			x, y := 50+rng.Float64()*cell*30, 20+rng.Float64()*cell*20
			w, h := rng.Float64()*cell, rng.Float64()*cell*8
			if rng.IntN(2) == 0 {
				w, h = h, w
			}
			c.add(sim.Category(rng.IntN(int(sim.NumCategories))), x, y, w, h)
			want += w * h
		}
		got := 0.0
		for _, of := range c.cover {
			for _, v := range of {
				got += float64(v) * cell * cell
			}
		}
		if diff := got - want; diff > 0.01*want+0.01 || -diff > 0.01*want+0.01 {
			t.Errorf("cells cover %v, want %v", got, want)
		}
	}
}

// BenchmarkAddress draws one frame of the addresses over time and of the holes, for the whole step and for parts
// of it, and one frame of the map, which is drawn whenever the pointer moves.
func BenchmarkAddress(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		x := NewPlaces(packed(n, 1))
		for _, pic := range []Picture{AddressTime, AddressMap, Holes} {
			for _, part := range []time.Duration{1, 10, 100} {
				if pic == AddressMap && part > 1 {
					continue
				}
				v := View{Width: 1040, From: x.p.End / 3, Cursor: x.p.End / 2}
				v.To = v.From + x.p.End/part/2
				if part == 1 {
					v.From, v.To = 0, 0
				}
				b.Run(fmt.Sprintf("picture=%s/blocks=%d/part=%d", pic.Title(), n, part), func(b *testing.B) {
					var s Scene
					var buf []byte
					b.ReportAllocs()
					for b.Loop() {
						x.Draw(&s, pic, v)
						buf = s.AppendBuffer(buf[:0])
					}
					b.ReportMetric(float64(s.Items()), "items")
				})
			}
		}
	}
}

// TestStepsEnd checks that steps terminates at every width, even if a change lies at the edge of a column, and
// that it calls height at most n+1 times for n changes.
func TestStepsEnd(t *testing.T) {
	const n = 400
	const last = 20_934_127 * time.Nanosecond
	changes := make([]int, n)
	for i := range changes {
		changes[i] = i
	}
	at := func(i *int) time.Duration { return last * time.Duration(*i+1) / n }
	for width := 200.; width < 1600; width++ {
		f := newFrame(Memory, View{To: last, Width: width, Height: 200}, last)
		asked := 0
		steps(&f, nil, last, 0, changes, at, func(i *int) float64 {
			if asked++; asked > n+1 {
				t.Fatalf("%g pixels: more than %d heights are asked for", width, n+1)
			}
			return float64(*i % 7)
		})
	}
}
