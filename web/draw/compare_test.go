package draw

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest/golden"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
	"memtide/web/lookup/tracetest"
)

// otherModel returns another schedule of the small problem. It offloads nothing, runs nothing twice, and has a
// shorter step.
func otherModel() *Index {
	p := tracetest.Problem()
	g := p.Chain
	run := func(k sim.SpanKind, op engine.OpID, from, to time.Duration) sim.Span {
		return sim.Span{Lane: sim.Compute, Kind: k, Op: op, Value: engine.NoValue, Start: from, End: to,
			Cause: sim.NoSpan}
	}
	t := &sim.Trace{Makespan: 150 * ms, ComputeTime: 150 * ms, Peak: 950 * engine.MiB, PeakAt: 50 * ms,
		Decisions: []sim.Decision{sim.Keep, sim.Recompute, sim.Keep}}
	t.Spans = []sim.Span{
		run(sim.SpanForward, g.Fwd(1), 0, 20*ms), run(sim.SpanForward, g.Fwd(2), 20*ms, 50*ms),
		run(sim.SpanBackward, g.Bwd(2), 50*ms, 110*ms), run(sim.SpanBackward, g.Bwd(1), 110*ms, 150*ms),
	}
	use := func(at time.Duration, mib int64) sim.Sample {
		return sim.Sample{At: at, Used: [sim.NumCategories]engine.Bytes{sim.Fixed: 200 * engine.MiB,
			sim.Activation: engine.Bytes(mib) * engine.MiB}}
	}
	t.Memory = []sim.Sample{use(0, 100), use(0, 400), use(20*ms, 400), use(20*ms, 700), use(50*ms, 700),
		use(50*ms, 750), use(110*ms, 750), use(110*ms, 450), use(150*ms, 450), use(150*ms, 100)}
	return NewIndex(p, t)
}

// TestCompareScenes draws the pictures of A and of B on the same axes, with either side first.
func TestCompareScenes(t *testing.T) {
	a, b := smallModel(), otherModel()
	light := display.Light
	for _, c := range []struct {
		file string
		pic  Picture
		m, o *Index
		l, r string
		over bool
	}{
		{"compare-strip.svg", Strip, a, b, "A", "B", false},
		{"compare-timeline.svg", Timeline, b, a, "B", "A", false},
		{"compare-memory.svg", Memory, a, b, "A", "B", false},
		{"compare-both.svg", Memory, a, b, "A", "B", true},
	} {
		var s Scene
		var out bytes.Buffer
		c.m.Draw(&s, c.pic, View{Width: 640, Beside: &Beside{Model: c.o, Letter: c.l, Other: c.r, Over: c.over}})
		if err := s.WriteSVG(&out, display.SVGOptions{Standalone: true, Theme: &light, Surface: true}); err != nil {
			t.Fatal(err)
		}
		golden.File(t, "testdata/"+c.file, out.Bytes())
	}
}

// TestCompareSharesAxes checks that the same moments, sizes and layers have the same places on both sides.
func TestCompareSharesAxes(t *testing.T) {
	a, b := smallModel(), otherModel()
	va := View{Width: 640, Budget: 700 * engine.MiB,
		Beside: &Beside{Model: b, Budget: 1100 * engine.MiB, Letter: "A", Other: "B"}}
	vb := View{Width: 640, Budget: 1100 * engine.MiB,
		Beside: &Beside{Model: a, Budget: 700 * engine.MiB, Letter: "B", Other: "A"}}
	for _, x := range []float64{80, 200.5, 441, 629} {
		if ta, tb := a.TimeAt(va, x), b.TimeAt(vb, x); ta != tb {
			t.Errorf("at %g px A is at %v, B at %v; want the same", x, ta, tb)
		}
	}
	for _, y := range []float64{50, 111, 200} {
		if ba, bb := a.BudgetAt(va, y), b.BudgetAt(vb, y); ba != bb {
			t.Errorf("at height %g A is at %d bytes, B at %d; want the same", y, ba, bb)
		}
	}
	fa, fb := a.frame(Strip, va), b.frame(Strip, vb)
	ba, bb := a.bars(&fa), b.bars(&fb)
	for i := range ba {
		if ba[i].x != bb[i].x || ba[i].w != bb[i].w {
			t.Errorf("bar %d: A at %g, B at %g; want the same", i, ba[i].x, bb[i].x)
		}
	}
}

// TestCompareFewerLayers checks that the layers of a network with fewer layers have the places of the same layers
// of the other network, and that nothing can be hit after its last layer.
func TestCompareFewerLayers(t *testing.T) {
	small, large := smallModel(), randomModel(400, 1)
	v := View{Width: 640, Beside: &Beside{Model: large, Letter: "A", Other: "B"}}
	f := small.frame(Strip, v)
	bars := small.bars(&f)
	if len(bars) != 3 || bars[2].at != 3 {
		t.Fatalf("bars are %+v; want three, one for each layer", bars)
	}
	mid := bars[1].x + bars[1].w/2
	if got, _ := small.Hit(Strip, v, mid, 40); got != (lookup.Target{Kind: lookup.OnStage, Index: 2}) {
		t.Errorf("at %g there is %+v; want layer 2", mid, got)
	}
	if got, _ := small.Hit(Strip, v, 400, 40); got.Kind != lookup.Nothing {
		t.Errorf("behind the last layer there is %+v; want nothing", got)
	}
	if got := large.NumDiffering(small, Align(large, small)); got < large.Stages()-3 || got > large.Stages() {
		t.Errorf("%d of %d layers differ; want about all, which the other network does not have", got, large.Stages())
	}
	if got := small.NumDiffering(large, Align(small, large)); got > small.Stages() {
		t.Errorf("%d of %d layers differ; want only its own to be counted", got, small.Stages())
	}
	var s Scene
	for pic := range NumPictures { // must not panic
		small.Draw(&s, pic, v)
		large.Draw(&s, pic, View{Width: 640, Beside: &Beside{Model: small, Letter: "B", Other: "A"}})
	}
}

func TestDiffers(t *testing.T) {
	a, b := smallModel(), otherModel()
	var got []int
	for k := 1; k <= 3; k++ {
		if a.Differs(b, k, k) {
			got = append(got, k)
		}
	}
	if len(got) != 1 || got[0] != 1 {
		t.Errorf("layers %v differ; want 1: it is offloaded on one side only", got)
	}
	if b.Problem.Chain.Chain.Stages[2].Again = 1; !a.Differs(b, 3, 3) {
		t.Error("layer 3 does not differ, which a framework computes again on one side only")
	}
	if got := a.Across(lookup.Target{Kind: lookup.OnSpan, Index: 6},
		Align(a, b)); got != (lookup.Target{Kind: lookup.OnStage, Index: 2}) {
		t.Errorf("B2 stands for %+v on the other side; want layer 2", got)
	}
	if got := a.Across(lookup.Target{}, align([]string{"x"}, []string{"w", "x"})); got.Kind != lookup.Nothing {
		t.Errorf("no layer stands for %+v on the other side; want nothing", got)
	}
}

// TestAlign checks that layers of the same name share a column, even if the layers between them differ.
func TestAlign(t *testing.T) {
	for _, c := range []struct {
		a, b []string
		want string
	}{
		{[]string{"x", "y"}, []string{"x", "y"}, "11 22"},
		{[]string{"x", "y", "loss"}, []string{"x", "p", "q", "y", "loss"}, "11 02 03 24 35"},
		{[]string{"a", "b"}, []string{"b", "a", "c"}, "10 21 02 03"},
		{[]string{"a", "b", "c"}, []string{"d"}, "11 20 30"},
		{[]string{"", "", ""}, []string{"", ""}, "11 22 30"},
		{[]string{"r", "r"}, []string{"r", "r", "r", "end"}, "11 22 03 04"},
		{nil, []string{"d"}, "01"},
	} {
		al, got := align(c.a, c.b), []string{}
		for i, column := range al {
			k, j := column[0], column[1]
			got = append(got, fmt.Sprint(k)+fmt.Sprint(j))
			if turned := al.Turned()[i]; turned != ([2]int{j, k}) {
				t.Errorf("%q, %q, turned: column %d is %d; want %d, %d", c.a, c.b, i, turned, j, k)
			}
		}
		if strings.Join(got, " ") != c.want && !(c.want == "10 21 02 03" && strings.Join(got, " ") == "01 12 20 03") {
			t.Errorf("%q beside %q: columns %v; want %s", c.a, c.b, got, c.want)
		}
	}
}

func TestFigureOfBoth(t *testing.T) {
	a, b := smallModel(), otherModel()
	var s Scene
	va := View{Width: 640, Cursor: NoCursor, Beside: &Beside{Model: b, Letter: "A", Other: "B"}}
	vb := View{Width: 640, Cursor: NoCursor, Beside: &Beside{Model: a, Letter: "B", Other: "A"}}
	FigureOfBoth(&s, a, b, va, vb)
	var out bytes.Buffer
	light := display.Light
	if err := s.WriteSVG(&out, display.SVGOptions{Standalone: true, Theme: &light, Surface: true}); err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/compare-figure.svg", out.Bytes())
	for _, want := range []string{"A: Peak 850 MiB", "B: Peak 950 MiB", "A Blocks", "B Device memory"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the figure does not contain %q", want)
		}
	}
}

// TestCompareHasOneScale checks that the fixed memory has a scale of its own only if it is the same on both
// sides. Otherwise a height would mean different sizes in A and in B.
func TestCompareHasOneScale(t *testing.T) {
	a, b := smallModel(), otherModel()
	same := a.Trace.Peak / 2
	a.Memory.Fixed = same
	for _, c := range []struct{ fixed, want engine.Bytes }{{same, same}, {same / 2, 0}} {
		b.Memory.Fixed = c.fixed
		f := a.frame(Memory, View{Width: 640, Height: 300, Beside: &Beside{Model: b, Letter: "A", Other: "B"}})
		if sc := a.memoryScale(&f); sc.fixed != c.want {
			t.Errorf("A has %d bytes fixed and B %d: %d stand in a band of their own; want %d", same, c.fixed,
				sc.fixed, c.want)
		}
	}
}

// TestCompareLonger draws a shorter step with the line of a longer one: the fixed memory goes on to the end of the
// longer one, and the card that both are on has its line.
func TestCompareLonger(t *testing.T) {
	a, b := smallModel(), otherModel()
	const more = 200 * engine.MiB
	for _, m := range []*Index{a, b} {
		for i := range m.Trace.Memory {
			m.Trace.Memory[i].Used[sim.Fixed] += more
		}
		m.Trace.Peak += more
		*m = *NewIndex(m.Problem, m.Trace)
	}
	var s Scene
	var out bytes.Buffer
	v := View{Width: 640, Height: 300, Capacity: b.Trace.Peak * 11 / 10, Device: "one card",
		Beside: &Beside{Model: a, Letter: "A", Other: "B", Over: true}}
	b.Draw(&s, Memory, v)
	light := display.Light
	if err := s.WriteSVG(&out, display.SVGOptions{Standalone: true, Theme: &light, Surface: true}); err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/compare-longer.svg", out.Bytes())
}
