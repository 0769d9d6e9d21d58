package draw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/lookup"
	"memtide/web/lookup/tracetest"
)

// randomView returns a view whose length lies between the whole trace and a millionth of it.
func randomView(r *rand.Rand, m *Index) View {
	length := time.Duration(float64(m.Makespan())*math.Pow(10, -6*r.Float64())) + 1
	from := time.Duration(r.Float64() * float64(m.Makespan()-length))
	return View{From: from, To: from + length, Width: 300 + r.Float64()*1500, Cursor: NoCursor}
}

// TestMarks checks that marks lie within the plot, from left to right, without overlap, at most two per column of
// pixels, and that they cover as much of a lane as its slices do.
func TestMarks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 10, 100, 3000, 50000} {
		m := randomModel(n, uint64(n))
		for round := range 60 {
			v := randomView(r, m)
			if round == 0 {
				v.From, v.To = 0, 0
			}
			f := m.frame(Timeline, v)
			for l := range m.Lanes {
				checkMarks(t, fmt.Sprintf("n=%d lane=%d view %d..%d width %v", n, l, f.From, f.To, f.Width),
					&m.Lanes[l], &f)
			}
		}
	}
}

func checkMarks(t *testing.T, name string, ln *lookup.Lane, f *frame) {
	t.Helper()
	count, painted, lonely, last := 0, 0.0, 0.0, math.Inf(-1)
	marks(ln, f, func(k mark) {
		count++
		if k.x0 < f.left-1e-6 || k.x1 > f.right+1e-6 || k.x0 < last-1e-6 || k.x1 <= k.x0 {
			t.Fatalf("%s: mark %+v after %v, plot %v..%v", name, k, last, f.left, f.right)
		}
		if k.slice < 0 && k.x1-k.x0 == 1 {
			lonely++ // may have been widened to be visible, by at most a pixel
		}
		painted += k.x1 - k.x0
		last = k.x1
	})
	covered := 0.0
	for i := range ln.From {
		covered += f.clip(f.x(ln.To[i])) - f.clip(f.x(ln.From[i]))
	}
	if count > 2*int(f.right-f.left)+2 {
		t.Fatalf("%s: %d marks for %v pixels", name, count, f.right-f.left)
	}
	if painted < covered-1 || painted > covered+lonely+1 {
		t.Fatalf("%s: %v pixels painted, %v are covered by slices (%v lonely marks)", name, painted, covered, lonely)
	}
}

// laneOf returns the compute lane of a trace with the given spans.
func laneOf(spans ...sim.Span) *lookup.Lane {
	for i := range spans {
		spans[i].Op, spans[i].Value = engine.NoOp, engine.NoValue
	}
	return &NewIndex(tracetest.Problem(),
		&sim.Trace{Spans: spans, Makespan: spans[len(spans)-1].End}).Lanes[sim.Compute]
}

// TestMergedKind checks that a merged mark has the kind that takes most of its time.
func TestMergedKind(t *testing.T) {
	var spans []sim.Span
	for i := range time.Duration(1000) { // 2 ns forward, 1 ns backward, ...
		spans = append(spans, sim.Span{Kind: sim.SpanForward, Start: 3 * i, End: 3*i + 2},
			sim.Span{Kind: sim.SpanBackward, Start: 3*i + 2, End: 3*i + 3})
	}
	l := laneOf(spans...)
	f := frame{View: View{From: 0, To: 3000}, left: 0, right: 100, scale: 100.0 / 3000}
	var got []mark
	marks(l, &f, func(k mark) { got = append(got, k) })
	if len(got) != 1 || got[0].kind != uint8(sim.SpanForward) || got[0].x0 != 0 || math.Abs(got[0].x1-100) > 0.1 {
		t.Errorf("got %+v, want one mark of kind forward from 0 to 100", got)
	}
}

// TestMergedKindOfView checks that the part of a slice outside of the view does not count for the kind of a
// merged mark.
func TestMergedKindOfView(t *testing.T) {
	l := laneOf(sim.Span{Kind: sim.SpanBackward, End: 1010}, sim.Span{Kind: sim.SpanForward, Start: 1010, End: 1040},
		sim.Span{Kind: sim.SpanRecompute, Start: 1040, End: 9000})
	f := frame{View: View{From: 1000, To: 6000}, left: 0, right: 100, scale: 0.02}
	var got []mark
	marks(l, &f, func(k mark) { got = append(got, k) })
	if len(got) != 2 || got[0].kind != uint8(sim.SpanForward) || got[1].kind != uint8(sim.SpanRecompute) {
		t.Errorf("got %+v, want a merged mark of kind forward and one of kind recompute", got)
	}
}

// TestLonelySlice checks that even a short slice is visible if it is far from others.
func TestLonelySlice(t *testing.T) {
	far := sim.Span{Kind: sim.SpanRecompute, Start: 500, End: 501}
	l := laneOf(far)
	f := frame{View: View{From: 0, To: 1_000_000}, left: 0, right: 100, scale: 100.0 / 1_000_000}
	var got []mark
	marks(l, &f, func(k mark) { got = append(got, k) })
	if len(got) != 1 || got[0].x1-got[0].x0 != 1 {
		t.Errorf("got %+v, want one mark one pixel wide", got)
	}
	l = laneOf(far, sim.Span{Kind: sim.SpanRecompute, Start: 15_000, End: 15_001}) // 1.5 pixels further
	got = got[:0]
	marks(l, &f, func(k mark) { got = append(got, k) })
	if len(got) != 2 || got[0].x1-got[0].x0 > 0.01 || got[1].x1-got[1].x0 > 0.01 {
		t.Errorf("got %+v, want two marks as narrow as their slices", got)
	}
}

// TestMemoryEnvelope checks that the picture of the memory is nowhere below the true total, and nowhere above the
// largest total within a pixel.
func TestMemoryEnvelope(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{1, 30, 2000, 30000} {
		m := randomModel(n, uint64(n)+100)
		for range 20 {
			f := m.frame(Memory, randomView(r, m))
			pts := m.bandPoints(&f, nil)
			if limit := 12*int(f.right-f.left) + 20; len(pts) > limit {
				t.Fatalf("n=%d: %d corners for %v pixels", n, len(pts), f.right-f.left)
			}
			for range 50 {
				checkEnvelope(t, m, &f, pts, f.From+time.Duration(r.Float64()*float64(f.To-f.From)))
			}
		}
	}
}

func checkEnvelope(t *testing.T, m *Index, f *frame, pts []bandPoint, at time.Duration) {
	t.Helper()
	const top = sim.NumCategories - 1
	x, want := f.x(int64(at)), int64(0)
	for _, b := range m.Memory.Used(at) {
		want += int64(b)
	}
	got := int64(-1)
	for i := 1; i < len(pts); i++ {
		a, b := pts[i-1], pts[i]
		if a.x <= x+1e-6 && x <= b.x+1e-6 {
			y := b.sum[top]
			if b.x > a.x {
				y = a.sum[top] + int64((x-a.x)/(b.x-a.x)*float64(b.sum[top]-a.sum[top]))
			}
			got = max(got, y)
		}
	}
	near := int64(0)
	for i := range m.Memory.Samples {
		if s := &m.Memory.Samples[i]; math.Abs(f.x(int64(s.At))-x) <= 1.01 {
			near = max(near, int64(s.Total()))
		}
	}
	const slack = 1 << 12 // for interpolation in float64
	if got < want-slack || got > max(want, near)+slack {
		t.Fatalf("view %d..%d at %d: picture %d, want %d (largest within a pixel %d)", f.From, f.To, at, got,
			want, near)
	}
}

// TestMemoryCorners checks that, of several samples at one moment, only the first and the last are corners. In a
// long trace a column has two corners, or a few more if it differs from its neighbour.
func TestMemoryCorners(t *testing.T) {
	p := tracetest.Problem()
	tr := &sim.Trace{Makespan: 100, Peak: 9}
	for i, at := range []time.Duration{0, 50, 50, 50, 50, 100} {
		s := sim.Sample{At: at}
		s.Used[0] = engine.Bytes(i)
		tr.Memory = append(tr.Memory, s)
	}
	m := NewIndex(p, tr)
	f := m.frame(Memory, View{Width: 500})
	got := ""
	for _, c := range m.bandPoints(&f, nil) {
		got += fmt.Sprintf("%.4g:%d ", c.x, c.sum[0])
	}
	if want := "84:0 287:1 287:4 490:5 "; got != want {
		t.Errorf("corners %s, want %s", got, want)
	}
	m = randomModel(50000, 13)
	f = m.frame(Memory, View{Width: 500})
	if n, most := len(m.bandPoints(&f, nil)), 3*(500-84-10); n > most {
		t.Errorf("%d corners, want at most %d", n, most)
	}
}
