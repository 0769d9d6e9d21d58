package draw

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"memtide/engine"
)

// Zooming keeps the moment under the pointer, and zooming out again comes back.
func TestZoom(t *testing.T) {
	m := smallModel()
	v := View{Width: 1000}
	const x = 500.0
	in := m.Zoom(v, x, 4)
	if a, b := m.TimeAt(v, x), m.TimeAt(in, x); a-b > time.Microsecond || b-a > time.Microsecond {
		t.Errorf("the moment under the pointer went from %v to %v", a, b)
	}
	if got, want := in.To-in.From, m.Makespan()/4; got != want {
		t.Errorf("%v are shown, want %v", got, want)
	}
	if out := m.Zoom(in, x, 100); out.To-out.From < minStretch {
		t.Errorf("zoomed in to %v", out.To-out.From)
	}
	if out := m.Zoom(in, x, 0.1); out.From != 0 || out.To != 0 {
		t.Errorf("zoomed out to %v..%v, want everything", out.From, out.To)
	}
	if v := m.Pan(in, 1e6); v.To != m.Makespan() || v.To-v.From != in.To-in.From {
		t.Errorf("panned to %v..%v, want the end of the step at the same scale", v.From, v.To)
	}
	if v := m.Pan(in, -1e6); v.From != 0 {
		t.Errorf("panned to %v, want 0", v.From)
	}
	if v := m.Fit(in, Target{OnGap, 0}); v.From != 125*ms || v.To != 170*ms {
		t.Errorf("fit shows %v..%v, want 125ms..170ms", v.From, v.To)
	}
	if v := m.Fit(in, Target{}); v.From != 0 || v.To != 0 {
		t.Errorf("fit of nothing shows %v..%v, want everything", v.From, v.To)
	}
}

func TestBetween(t *testing.T) {
	m := smallModel()
	want := Range{From: 60 * ms, To: 160 * ms, Compute: 65 * ms, Again: 20 * ms, Waiting: 15 * ms, ToHost: 10 * ms, ToDev: 50 * ms, Peak: 850 * engine.MiB}
	if got := m.Between(60*ms, 160*ms); got != want {
		t.Errorf("Between(60ms, 160ms) = %+v, want %+v", got, want)
	}
	r := rand.New(rand.NewPCG(15, 16))
	m = randomModel(3000, 6)
	for range 300 {
		a := time.Duration(r.Int64N(int64(m.Makespan())))
		b := a + time.Duration(r.Int64N(int64(m.Makespan()-a)+1))
		got, waiting := m.Between(a, b), time.Duration(0)
		for _, g := range m.trace.Gaps {
			waiting += max(min(g.End, b)-max(g.Start, a), 0)
		}
		if got.Waiting != waiting {
			t.Fatalf("Between(%d, %d).Waiting = %d, want %d", a, b, got.Waiting, waiting)
		}
	}
}

// An empty trace can be looked at in every way.
func TestEmpty(t *testing.T) {
	m := emptyModel()
	v := View{Width: 500}
	for pic := range NumPictures {
		for _, x := range []float64{-1, 0, 250, 499, math.Inf(1)} {
			if got, _ := m.Hit(pic, v, x, 60); got.Kind != Nothing {
				t.Errorf("Hit(%s, %v) = %+v", pic.Title(), x, got)
			}
		}
	}
	m.Zoom(v, 250, 2)
	m.Pan(v, 20)
	m.HeldAt(0, 3)
	m.Between(0, 10)
	if m.NumRows() != 0 || m.Step(Target{}, 1).Kind != Nothing || m.NextGap(0, 1).Kind != Nothing {
		t.Errorf("the empty trace has something in it")
	}
}
