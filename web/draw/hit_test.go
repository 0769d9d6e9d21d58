package draw

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
)

// painted returns the style of the topmost area at x, y whose style satisfies means, and reports whether there is
// one.
func painted(s *Scene, x, y float64, means func(display.Style) bool) (st display.Style, ok bool) {
	for _, g := range s.Groups {
		if !means(g.Style) {
			continue
		}
		switch g.Op {
		case display.OpRects:
			for i := g.From; i < g.To; i += 4 {
				n := s.Nums[i : i+4]
				if x > float64(n[0]) && x < float64(n[0]+n[2]) && y > float64(n[1]) && y < float64(n[1]+n[3]) {
					st, ok = g.Style, true
				}
			}
		case display.OpArea:
			if inside(s.Nums[g.From:g.To], x, y) {
				st, ok = g.Style, true
			}
		}
	}
	return st, ok
}

// inside reports whether the point x, y is inside the polygon xy, by the even-odd rule.
func inside(xy []float32, x, y float64) bool {
	in := false
	for i, j := 0, len(xy)-2; i < len(xy); i, j = i+2, i {
		xi, yi, xj, yj := float64(xy[i]), float64(xy[i+1]), float64(xy[j]), float64(xy[j+1])
		if (yi > y) != (yj > y) && x < (xj-xi)*(y-yi)/(yj-yi)+xi {
			in = !in
		}
	}
	return in
}

// TestHitTimelineIsPainted checks that a random point of the timeline hits the slice that is painted there.
func TestHitTimelineIsPainted(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	isSlice := func(st display.Style) bool {
		for _, k := range kindStyles {
			if st.Fill == k.Fill && st.Pattern == k.Pattern && st.Fill != display.Surface {
				return true
			}
		}
		return st.Lines == display.Waiting || st.Fill == display.Waiting
	}
	hits := 0
	for _, m := range []*Index{smallModel(), randomModel(60, 4), randomModel(300, 5)} {
		for range 400 {
			v := View{Width: 900}
			if r.IntN(2) == 0 {
				v.From = time.Duration(r.Float64() * 0.8 * float64(m.Makespan()))
				v.To = v.From + m.Makespan()/10
			}
			var s Scene
			m.Draw(&s, Timeline, v)
			x, y := GutterWidth+r.Float64()*(v.Width-GutterWidth), r.Float64()*Timeline.Height()
			st, ok := painted(&s, x, y, isSlice)
			got, _ := m.Hit(Timeline, v, x, y)
			if !ok || isMerged(m, v, x) {
				continue
			}
			hits++
			want := kindStyles[lookup.KindWaiting]
			if got.Kind == lookup.OnSpan {
				want = kindStyles[m.Trace.Spans[got.Index].Kind]
			}
			sliver := got.Kind == lookup.OnGap && st == kindStyles[kindSliver]
			if got.Kind == lookup.Nothing || !sliver && (st.Fill != want.Fill || st.Pattern != want.Pattern) {
				t.Fatalf("view %+v at %v,%v: %+v (%s) is hit, painted is fill %d", v, x, y, got, m.Sentence(got),
					st.Fill)
			}
		}
	}
	if hits < 200 {
		t.Errorf("only %d points hit something", hits)
	}
}

// isMerged reports whether a merged mark, or the border of a mark, which is rounded to a pixel, is near x. There,
// the picture may show another slice than the one at that moment.
func isMerged(m *Index, v View, x float64) bool {
	f, found := m.frame(Timeline, v), false
	for l := range m.Lanes {
		marks(&m.Lanes[l], &f, func(k mark) {
			if k.slice < 0 && k.x0-2 < x && x < k.x1+2 || math.Abs(k.x0-x) < 1.6 || math.Abs(k.x1-x) < 1.6 {
				found = true
			}
		})
	}
	return found
}

// TestHitMemoryIsPainted checks that a random point of the memory picture hits the band that is painted there.
func TestHitMemoryIsPainted(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	isBand := func(st display.Style) bool {
		return st.Stroke == display.Surface && st.Fill != display.Ink || st.Pattern == display.ThinHatch &&
			st.Stroke == display.Muted
	}
	hits := 0
	for _, m := range []*Index{smallModel(), randomModel(40, 8)} {
		var s Scene
		v := View{Width: 900}
		m.Draw(&s, Memory, v)
		for range 2000 {
			x, y := GutterWidth+r.Float64()*(v.Width-GutterWidth), r.Float64()*Memory.Height()
			st, ok := painted(&s, x, y, isBand)
			got, _ := m.Hit(Memory, v, x, y)
			if got.Kind == lookup.OnBudget {
				continue
			}
			if ok != (got.Kind == lookup.OnBand) {
				t.Fatalf("at %v,%v: hit %+v, painted %v", x, y, got, ok)
			}
			if !ok {
				continue
			}
			hits++
			if want := bandStyles[got.Index]; st.Fill != want.Fill || st.Pattern != want.Pattern {
				t.Fatalf("at %v,%v: hit %v, painted fill %d", x, y, sim.Category(got.Index), st.Fill)
			}
		}
	}
	if hits < 500 {
		t.Errorf("only %d points hit a band", hits)
	}
}

func TestHitStrip(t *testing.T) {
	m := smallModel()
	v := View{Width: 370} // 300 pixels of plot, 100 for each of three bars
	for _, c := range []struct {
		x, y float64
		want lookup.Target
	}{
		{64, 50, lookup.Target{Kind: lookup.OnStage, Index: 1}},
		{184, 70, lookup.Target{Kind: lookup.OnStage, Index: 2}},
		{354, 25, lookup.Target{Kind: lookup.OnStage, Index: 3}},
		{54, 50, lookup.Target{}}, {361, 50, lookup.Target{}}, {184, 5, lookup.Target{}},
	} {
		if got, _ := m.Hit(Strip, v, c.x, c.y); got != c.want {
			t.Errorf("Hit(Strip, %v, %v) = %+v, want %+v", c.x, c.y, got, c.want)
		}
	}
}

// TestStripOfMany checks that a bar that stands for several stages has the height of the largest one.
func TestStripOfMany(t *testing.T) {
	m := randomModel(4*300, 2)
	f := m.frame(Strip, View{Width: 400})
	bars := m.bars(&f)
	if len(bars) != 110 { // (400-60-10)/3
		t.Fatalf("%d bars", len(bars))
	}
	next := 1
	for _, b := range bars {
		if b.first != next || b.last < b.first || b.at < b.first || b.at > b.last {
			t.Fatalf("bar %+v, want one that begins with stage %d", b, next)
		}
		for k := b.first; k <= b.last; k++ {
			if m.Sizes[k-1] > m.Sizes[b.at-1] {
				t.Errorf("stage %d is larger than %d, which stands for bar %+v", k, b.at, b)
			}
		}
		next = b.last + 1
	}
	if next != 301 {
		t.Errorf("the bars end before stage %d, want 301", next)
	}
}

// TestBudgetLine checks that the line of the budget can be hit, and that BudgetAt returns the budget at its
// height.
func TestBudgetLine(t *testing.T) {
	m := smallModel()
	v := View{Width: 640}
	f := m.frame(Memory, v)
	sc := m.memoryScale(&f)
	y := sc.y(int64(m.Problem.Budget))
	if got, _ := m.Hit(Memory, v, 300, y+2); got.Kind != lookup.OnBudget {
		t.Errorf("Hit at the budget line = %+v", got)
	}
	if got := m.BudgetAt(v, y); math.Abs(float64(got-m.Problem.Budget)) > 2 {
		t.Errorf("BudgetAt(line) = %d, want %d", got, m.Problem.Budget)
	}
}

// TestHitBeside checks that a point near a slice hits it, and that a point farther away does not.
func TestHitBeside(t *testing.T) {
	m := smallModel()
	v := View{Width: 260, To: 190 * ms} // a pixel is a millisecond
	f := m.frame(Timeline, v)
	y, h := m.laneBox(&f, int(sim.ToHost))
	for x, want := range map[float64]lookup.Target{
		SlimGutter + 72: {Kind: lookup.OnSpan, Index: 2}, SlimGutter + 18: {Kind: lookup.OnSpan, Index: 2},
		SlimGutter + 76: {}, SlimGutter + 12: {},
	} {
		if got, _ := m.Hit(Timeline, v, x, y+h/2); got != want {
			t.Errorf("Hit at %v ms = %+v, want %+v", x-SlimGutter, got, want)
		}
	}
}
