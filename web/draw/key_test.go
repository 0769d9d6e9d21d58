package draw

import (
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
	"memtide/web/lookup/tracetest"
)

// TestNearLines checks that the labels of two lines that are close to each other are on different sides of them.
func TestNearLines(t *testing.T) {
	m := smallModel()
	at := func(capacity engine.Bytes) (device, budget float64) {
		var s Scene
		m.Draw(&s, Memory, View{Width: 640, Budget: 900 * engine.MiB, Capacity: capacity, Device: "one card"})
		for _, g := range s.Groups {
			for i := g.First; i < g.Last; i++ {
				y := float64(s.Nums[g.From+2*(i-g.First)+1])
				if strings.HasPrefix(s.Texts[i].S, "one card") {
					device = y
				} else if strings.HasPrefix(s.Texts[i].S, "plan may use") {
					budget = y
				}
			}
		}
		return device, budget
	}
	if device, budget := at(910 * engine.MiB); device == 0 || budget-device < 14 {
		t.Errorf("the labels of two near lines are at %v and %v; want the lower one 14 pixels lower", device, budget)
	}
	v := View{Width: 640, Budget: 900 * engine.MiB, Capacity: 1100 * engine.MiB}
	if device, budget := at(v.Capacity); device > m.frameY(v, v.Capacity) || budget > m.frameY(v, v.Budget) {
		t.Errorf("far from each other the labels are at %v and %v; want both above their lines", device, budget)
	}
}

// TestLanesThatRun checks that a lane is drawn only if something runs on it.
func TestLanesThatRun(t *testing.T) {
	p := tracetest.Problem()
	tr := tracetest.Trace(p)
	tr.Spans = append(tr.Spans[:7:7], tr.Spans[8]) // removes the only fetch
	tr.Spans[7].Cause = sim.NoSpan
	tr.Gaps = nil
	m := NewIndex(p, tr)
	var s Scene
	m.Draw(&s, Timeline, View{Width: 640})
	words := strings.Join(s.words(), " ")
	if !strings.Contains(words, "to host") || strings.Contains(words, "to device") {
		t.Errorf("the lanes are in %q; want the one to the host and not the one to the device", words)
	}
	if got := m.CopyLanes(); got != 1 {
		t.Errorf("%d lanes of copies; want 1", got)
	}
}

// TestKey checks that the key lists exactly the fills that occur in the pictures.
func TestKey(t *testing.T) {
	words := func(m *Index) (out string) {
		for _, e := range Key(m) {
			out += e.Words + ", "
		}
		return out
	}
	if got, want := words(smallModel()),
		"forward, kept, computed again, backward, copied, leaving or arriving, scratch, waiting, "; got != want {
		t.Errorf("the key is %q; want %q", got, want)
	}
	if got := words(emptyModel()); got != "" {
		t.Errorf("the key of nothing is %q", got)
	}
}

// TestWaitIsNamed checks that the selected wait has a label beside it.
func TestWaitIsNamed(t *testing.T) {
	m := smallModel()
	var s Scene
	m.Draw(&s, Timeline, View{Width: 640, Selected: lookup.Target{Kind: lookup.OnGap, Index: 0}})
	if got, want := strings.Join(s.words(), "|"), "waits 15 ms for conv1 to arrive"; !strings.Contains(got, want) {
		t.Errorf("the timeline says %q; want %q in it", got, want)
	}
}

// TestTitleRowApart checks that no two texts overlap in the row of the timeline's title. It has the names of the
// phases and, on narrow screens, the label of the selected wait.
func TestTitleRowApart(t *testing.T) {
	m, waits := smallModel(), 0
	for width := 240.0; width <= 640; width += 10 {
		var s Scene
		m.Draw(&s, Timeline, View{Width: width, Selected: lookup.Target{Kind: lookup.OnGap, Index: 0}})
		var row []box
		for _, g := range s.Groups {
			for i := g.First; g.Op == display.OpTexts && i < g.Last; i++ {
				at := g.From + 2*(i-g.First)
				text, x, y := &s.Texts[i], float64(s.Nums[at]), s.Nums[at+1]
				if text.Anchor == display.End {
					x -= text.Width()
				}
				if y != 13 {
					continue
				}
				b := box{x, 0, x + text.Width(), 1}
				if strings.HasPrefix(text.S, "waits") {
					waits++
				}
				for _, other := range row {
					if b.meets(&other) {
						t.Errorf("%g pixels wide: %q, from %g to %g, covers a text from %g to %g", width, text.S, b.x0, b.x1, other.x0,
							other.x1)
					}
				}
				row = append(row, b)
			}
		}
	}
	if waits == 0 {
		t.Error("the wait is named in the row at no width: this tests nothing")
	}
}

// TestSeamsAreBounded checks that the number of seams is bounded by pixels, whatever the number of values.
func TestSeamsAreBounded(t *testing.T) {
	for _, n := range []int{100, 3000, 60_000} {
		m := NewIndex(manyLives(n))
		for _, to := range []time.Duration{0, m.Makespan() / 50} {
			var s Scene
			m.Draw(&s, Memory, View{To: to, Width: 1000})
			if most := 50_000; s.Items() > most {
				t.Errorf("%d values until %v: %d items; want at most %d", n, to, s.Items(), most)
			}
		}
	}
}

// TestSink checks that the selected layer lies directly on top of the fixed memory, and that this does not change
// the sum of all bands.
func TestSink(t *testing.T) {
	m := smallModel()
	f := m.frame(Memory, View{Width: 600, Selected: lookup.Target{Kind: lookup.OnStage, Index: 1}})
	sc := m.memoryScale(&f)
	pieces := m.sunkPieces(&f, &sc)
	plain := m.bandPoints(&f, nil)
	sunk := m.sink(&f, pieces, plain)
	const top = sim.NumCategories - 1
	for _, p := range sunk {
		below := p.sum[0] + p.sunk
		for b := 1; b <= int(top); b++ {
			if p.sum[b] < below {
				t.Errorf("at %v band %d ends at %d, below what lies under it, %d", p.x, b, p.sum[b], below)
			}
			below = p.sum[b]
		}
	}
	for at, want := range map[time.Duration]int64{10 * ms: 300, 40 * ms: 300, 90 * ms: 0, 120 * ms: 300,
		170 * ms: 300} {
		if _, got := m.sunkAt(&f, pieces, f.x(int64(at)), false); got>>20 != want {
			t.Errorf("at %v %d MiB of stage 1 lie at the bottom; want %d", at, got>>20, want)
		}
		if a, b := topAt(plain, f.x(int64(at))), topAt(sunk, f.x(int64(at))); a != b {
			t.Errorf("at %v the bands reach up to %d; want %d, as without a selection", at, b, a)
		}
	}
}

// topAt returns the upper end of all bands at x.
func topAt(pts []bandPoint, x float64) int64 {
	for i := 1; i < len(pts); i++ {
		if pts[i-1].x <= x && x < pts[i].x {
			return pts[i-1].sum[sim.NumCategories-1]
		}
	}
	return 0
}
