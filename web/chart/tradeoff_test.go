package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/enginetest/golden"
	"memtide/wasm/proto"
	"memtide/web/display"
	"memtide/web/tradeoff"
)

const ms = time.Millisecond

func line(strategy, title string, points ...tradeoff.LinePoint) tradeoff.Line {
	return tradeoff.Line{Method: proto.Method{Strategy: strategy}, Title: title, Points: points}
}

// example returns a plot of three strategies, with a region of budgets in which no plan fits.
func example() *Plot {
	g := engine.GiB
	p := &Plot{
		Axis: tradeoff.Slowdown, Width: 516, Height: 248, Chosen: "rotor", Budget: 5 * g / 2, From: g / 2,
		To: 9 * g / 2, Fits: g,
		KeepAll: tradeoff.LinePoint{Budget: 4 * g, StepTime: 100 * ms},
		Now:     tradeoff.LinePoint{Budget: 5 * g / 2, StepTime: 112 * ms},
		Lines: []tradeoff.Line{
			line("greedy", "Greedy offload", tradeoff.LinePoint{Budget: 3 * g / 2, StepTime: 290 * ms},
				tradeoff.LinePoint{Budget: 3 * g, StepTime: 150 * ms},
				tradeoff.LinePoint{Budget: 4 * g, StepTime: 100 * ms}),
			line("rotor", "Optimal recomputation", tradeoff.LinePoint{Budget: g, StepTime: 130 * ms},
				tradeoff.LinePoint{Budget: 5 * g / 2, StepTime: 112 * ms},
				tradeoff.LinePoint{Budget: 4 * g, StepTime: 100 * ms}),
			line("sequential", "Equal segments", tradeoff.LinePoint{Budget: g, StepTime: 131 * ms},
				tradeoff.LinePoint{Budget: 4 * g, StepTime: 120 * ms}),
		},
	}
	p.layAxis()
	return p
}

func TestOptionGolden(t *testing.T) {
	raw, err := example().Option(Look{Colours: display.Palette(display.Light), Font: "sans-serif"})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, raw, "", " "); err != nil {
		t.Fatalf("the option is no JSON: %v", err)
	}
	got.WriteByte('\n')
	golden.File(t, filepath.Join("testdata", "tradeoff.json"), got.Bytes())
}

// TestDashesDiffer checks that no two strategies of one class have the same dash. They share a colour, so only
// the dash distinguishes them.
func TestDashesDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, st := range engine.Strategies() {
		d, _ := json.Marshal(Dash(st.Name))
		key := fmt.Sprint(st.Class, " ", string(d))
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s (Mark %d of %d) both have the dash %s; want a Mark that is free in their class",
				other, st.Name, st.Mark, engine.Marks, d)
		}
		seen[key] = st.Name
	}
}

// init registers one more strategy, which is the first in the order of names. The tests of this package check
// that it changes only charts that draw it.
func init() {
	engine.Register(&engine.Strategy{Name: "aaa", Title: "Further", Class: engine.MayOffload, Mark: len(dashes) - 1})
}

// TestDashesStay checks that the dash of a line does not depend on which other strategies are registered.
func TestDashesStay(t *testing.T) {
	for name, want := range map[string]string{
		"keepall": "null", "pofo": "null",
		"nonpersistent": "null", "revolve": "[7,3]", "rotor": "[3,3]", "sequential": "[10,3,3,3]",
		"autoswap": "null", "dynprog": "[7,3]", "greedy": "[3,3]", "lms": "[10,3,3,3]", "offloadexact": "[14,4]",
		"offloadsearch": "[10,3,3,3,3,3]",
		"tflms":         "[5,2]", "vdnn": "[12,6]", "vdnnpp": "[16,3,6,3]", "vdnnthreshold": "[4,7]", "window": "[8,2,2,2]",
	} {
		if d, _ := json.Marshal(Dash(name)); string(d) != want {
			t.Errorf("%s has the dash %s; want %s", name, d, want)
		}
	}
}

// TestLabelsAreNotCutOff checks that a name that has no room on either side of the end of its line, as on a
// telephone, is left out and not cut off.
func TestLabelsAreNotCutOff(t *testing.T) {
	p := example()
	for _, width := range []float64{160, 240, 360, 440} {
		p.Width = width
		ends := p.ends()
		for i, l := range p.labels() {
			if box := boxOf(ends[i], l); l.shown && (box.x0 < p.left() || box.x1 > width) {
				t.Errorf("%.0f wide: label %q at %+v; want it inside", width, ends[i].name, box)
			}
		}
	}
}

func TestLabelsDoNotOverlap(t *testing.T) {
	p := example()
	var placed []string
	labels, ends := p.labels(), p.ends()
	for i, l := range labels {
		if !l.shown {
			continue
		}
		if l.box.y0 < top || l.box.y1 > p.Height-bottom {
			t.Errorf("label %q is at %+v; want it within the plot, %.1f to %.1f", ends[i].name, l.box, top,
				p.Height-bottom)
		}
		for j, o := range labels[:i] {
			if o.shown && o.box.meets(l.box) {
				t.Errorf("labels %q at %+v and %q at %+v overlap", ends[j].name, o.box, ends[i].name, l.box)
			}
		}
		placed = append(placed, ends[i].name)
	}
	if len(placed) < 3 {
		t.Errorf("%q are shown; want most of %d", placed, len(ends))
	}
}

// TestLabelAtTheRightEdge checks that a line whose only point is near the right edge has its name on the left.
func TestLabelAtTheRightEdge(t *testing.T) {
	p := example()
	p.Lines = append(p.Lines[1:], line("pofo", "Recompute + offload",
		tradeoff.LinePoint{Budget: 17 * engine.GiB / 4, StepTime: 145 * ms}))
	l := p.labels()[len(p.Lines)-1]
	if !l.shown || !l.left {
		t.Errorf("label %+v; want it shown, on the left", l)
	}
}

// TestNoNameOfALineBesideThePlot checks that a line outside of the plot has no name.
func TestNoNameOfALineBesideThePlot(t *testing.T) {
	p := example()
	p.Lines = append(p.Lines, line("pofo", "Recompute and offload",
		tradeoff.LinePoint{Budget: engine.GiB, StepTime: 500 * ms}))
	if l := p.labels()[len(p.Lines)-1]; l.shown {
		t.Errorf("label %+v; want none", l)
	}
}

// TestLinesEndAtTheEdge checks that a line that becomes too slow for the plot leaves it at the upper edge.
func TestLinesEndAtTheEdge(t *testing.T) {
	p := example()
	l := line("greedy", "slow", tradeoff.LinePoint{Budget: engine.GiB, StepTime: 5000 * ms},
		tradeoff.LinePoint{Budget: 2 * engine.GiB, StepTime: 150 * ms})
	pts := p.inside(&l)
	if len(pts) != 2 || pts[1].Budget != 2*engine.GiB || math.Abs(p.Y(pts[1].StepTime)-top) > 0.5 {
		t.Errorf("points %+v, the last at %.1f; want two, the last above the first at the edge, %.1f", pts,
			p.Y(pts[len(pts)-1].StepTime), top)
	}
}

func TestNearest(t *testing.T) {
	p := example()
	for _, c := range []struct {
		name     string
		x, y     float64
		strategy string
		budget   engine.Bytes
	}{
		{"on a point", p.X(engine.GiB), p.Y(130 * ms), "rotor", engine.GiB},
		{"above the others", p.X(3 * engine.GiB), p.Y(150*ms) - 3, "greedy", 3 * engine.GiB},
		{"all three meet: the chosen one", p.X(4 * engine.GiB), p.Y(100 * ms), "rotor", 4 * engine.GiB},
		{"beside the plot", 2, p.Y(100 * ms), "", 0},
		{"far from every line", p.X(4 * engine.GiB), top + 4, "", 0},
	} {
		got, ok := p.Nearest(c.x, c.y)
		if ok != (c.strategy != "") || ok && (got.Strategy != c.strategy || got.Budget != c.budget) {
			t.Errorf("%s: nearest is %+v, %v; want %s at %d", c.name, got, ok, c.strategy, c.budget)
		}
	}
}

func TestBudgetAtInvertsX(t *testing.T) {
	p := example()
	for b := p.From; b <= p.To; b += 77 * engine.MiB {
		if got := p.BudgetAt(p.X(b)); got-b > 1024 || b-got > 1024 {
			t.Errorf("budget at the place of %d is %d", b, got)
		}
	}
}

func TestWords(t *testing.T) {
	p := example()
	p.Lines[0].Points[1].Partial = 31 * ms
	for _, c := range []struct {
		at   tradeoff.Point
		want string
	}{
		{tradeoff.Point{Strategy: "rotor", Budget: engine.GiB},
			"Optimal recomputation\n130 ms per step in 1 GiB, ×1.3"},
		{tradeoff.Point{Strategy: "greedy", Budget: 3 * engine.GiB},
			"Greedy offload\n150 ms per step in 3 GiB, ×1.5\nBest found in 31 ms; click for a full search."},
		{tradeoff.Point{Strategy: "greedy", Budget: 1}, ""},
	} {
		if got := p.Words(c.at); got != c.want {
			t.Errorf("%+v: %q; want %q", c.at, got, c.want)
		}
	}
}

// TestLabelsKeepClearOfLines checks that no line crosses the name at the square of keeping everything, and that
// at most touchLimit pixels of lines lie behind any other name. The chosen line's name may cover more.
func TestLabelsKeepClearOfLines(t *testing.T) {
	for _, axis := range []string{tradeoff.Slowdown, tradeoff.StepTime, tradeoff.Throughput} {
		for _, width := range []float64{356, 516, 900} {
			p := example()
			p.Width, p.Axis, p.Batch = width, axis, 32
			p.layAxis()
			marks, behind := p.marked(nil), 0.0
			name := marks[2] // the first two are dots
			for _, s := range p.strokes() {
				behind += name.holds(s.rect)
			}
			if behind > 0 {
				t.Errorf("axis %q, %.0f wide: %.1f px of lines are behind %q at %+v; want none", axis, width, behind,
					keepAllName, name)
			}
			if name.y1 > p.Height-bottom || name.y0 < 0 {
				t.Errorf("axis %q: %q reaches from %.1f to %.1f; want it inside of %.1f", axis, keepAllName, name.y0,
					name.y1, p.Height-bottom)
			}
			labels := p.labels()
			for i, e := range p.ends() {
				behind := 0.0
				for _, s := range p.strokes() {
					behind += labels[i].box.holds(s.rect)
				}
				if labels[i].shown && !e.chosen && behind > touchLimit {
					t.Errorf("axis %q, %.0f wide: %.1f px of lines are behind %q at %+v; want at most %.0f", axis,
						width, behind, e.name, labels[i].box, touchLimit)
				}
			}
		}
	}
}

func TestHolds(t *testing.T) {
	r := rect{10, 10, 20, 30}
	for _, c := range []struct {
		stroke rect
		want   float64
	}{
		{rect{0, 20, 40, 20}, 10}, // through it
		{rect{40, 20, 0, 20}, 10}, // the other way
		{rect{15, 0, 15, 100}, 20},
		{rect{0, 10, 40, 10}, 0}, // along its edge
		{rect{0, 0, 9, 100}, 0},
		{rect{15, 20, 15, 20}, 0},
	} {
		if got := r.holds(c.stroke); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v holds %.3f of %+v; want %.3f", r, got, c.stroke, c.want)
		}
	}
}
