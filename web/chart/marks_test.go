package chart

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/tradeoff"
)

// TestSlowLinesAreCut checks that the axis of throughputs begins at 65 % of the best one. An arrow marks each
// line that goes on below it. The schedule on screen always stays inside the plot, even if the axis has to begin
// lower.
func TestSlowLinesAreCut(t *testing.T) {
	for _, c := range []struct {
		name   string
		now    time.Duration
		lowest float64 // throughput at the lower edge, as a share of the best one
		arrows int
	}{
		{"a slow line", 112 * ms, 0.65, 1},
		{"what is shown is slow", 250 * ms, 1 / (2.5 * 1.02), 1},
		{"all fit", 300 * ms, 1 / 3.24, 0},
	} {
		p := example() // its slowest point takes 290 ms, its fastest 100 ms
		p.Axis, p.Now.StepTime = tradeoff.Throughput, c.now
		p.layAxis()
		if got := p.Low / p.onAxis(1); math.Abs(got-c.lowest) > 0.005 {
			t.Errorf("%s: the axis begins at %.3f of the best rate; want %.3f", c.name, got, c.lowest)
		}
		raw, err := p.Option(Look{Colours: display.Palette(display.Light)})
		var o struct {
			Series []struct {
				Name string
				Data []struct{ Value []float64 }
			}
		}
		if err == nil {
			err = json.Unmarshal(raw, &o)
		}
		got := 0
		for _, s := range o.Series {
			if s.Name != "goes on" {
				continue
			}
			for _, at := range s.Data {
				if got++; math.Abs(at.Value[1]-p.Low) > 1e-6 {
					t.Errorf("%s: an arrow at %v; want it at the edge, %v", c.name, at.Value, p.Low)
				}
			}
		}
		if err != nil || got != c.arrows {
			t.Errorf("%s: %v, %d arrows; want %d", c.name, err, got, c.arrows)
		}
	}
}

// TestNamesAtUprights checks that the names at the vertical lines of the budget and of the device do not overlap
// and stay inside the picture, and that the device's name is on the outer side of its line.
func TestNamesAtUprights(t *testing.T) {
	for _, c := range []struct {
		width          float64
		budget, device engine.Bytes // GiB
		aligned, other string       // alignment of the device's and the budget's name; empty means centred
	}{
		{1000, 60, 90, "left", ""},
		{1000, 60, 104, "right", ""}, // no room to the right
		{1000, 60, 62, "left", "right"},
		{356, 73, 79, "left", "right"},
		{356, 90, 102, "left", "right"},   // pushed back into the picture
		{1000, 103, 104, "left", "right"}, // the budget's name gives way as well
		{1000, 80, 76, "right", "left"},
	} {
		p := example()
		p.Width, p.Fits, p.KeepAll.Budget, p.Budget, p.Now.Budget = c.width, 28*engine.GiB, 100*engine.GiB,
			c.budget*engine.GiB, c.budget*engine.GiB
		p.Device, p.Name = c.device*engine.GiB, "one H100"
		p.layBudgets(tradeoff.Range{From: 28 * engine.GiB, To: 101 * engine.GiB, Step: engine.GiB})
		raw, err := p.Option(Look{Colours: display.Palette(display.Light)})
		var o struct{ Series []struct{ MarkLine node } }
		if err == nil {
			err = json.Unmarshal(raw, &o)
		}
		if err != nil {
			t.Fatal(err)
		}
		line := o.Series[0].MarkLine
		label := line["data"].([]any)[1].(node)["label"].(node)
		other, _ := line["label"].(node)["align"].(string)
		at := p.X(p.Device)
		if off, ok := label["offset"].([]any); ok {
			at += off[0].(float64)
		}
		width := nameWidth(p.Name)
		if label["align"] == "right" {
			at -= width
		}
		if off, ok := line["label"].(node)["offset"].([]any); ok && other == "right" &&
			p.X(p.Budget)+off[0].(float64) >= at {
			t.Errorf("%.0f wide, budget %d, device %d: the budget's name ends at %.0f, the device's begins at %.0f",
				c.width, c.budget, c.device, p.X(p.Budget)+off[0].(float64), at)
		}
		if label["align"] != c.aligned || other != c.other || at < 0 || at+width > p.Width+1 {
			t.Errorf("%.0f wide, budget %d, device %d: aligned %v and %q, from %.0f to %.0f; want %q and %q, within the picture", c.width, c.budget, c.device, label["align"], other, at, at+width, c.aligned, c.other)
		}
	}
}

// TestBudgetsOfTheAxis checks that the axis of budgets begins below the smallest plan and ends 6 % above the peak
// of keeping everything. The budget and the schedule on screen extend it, unless they exceed that peak by more
// than half.
func TestBudgetsOfTheAxis(t *testing.T) {
	g := engine.GiB
	for _, c := range []struct {
		name        string
		budget, now engine.Bytes
		from, to    engine.Bytes
	}{
		{"between", 60 * g, 60 * g, 46 * g, 106 * g},
		{"a small budget", 30 * g, 60 * g, 28 * g, 106 * g},
		{"a large budget", 140 * g, 140 * g, 46 * g, 142 * g},
		{"far more than everything takes", 200 * g, 200 * g, 46 * g, 106 * g},
	} {
		p := example()
		p.Fits, p.KeepAll.Budget, p.Budget, p.Now.Budget = 50*g, 100*g, c.budget, c.now
		p.layBudgets(tradeoff.Range{From: 20 * g, To: 101 * g, Step: g})
		if d, e := p.From-c.from, p.To-c.to; d < -g || d > g || e < -g || e > g {
			t.Errorf("%s: from %.1f to %.1f GiB; want about %d to %d", c.name, float64(p.From)/float64(g),
				float64(p.To)/float64(g), c.from/g, c.to/g)
		}
	}
}

// TestDeviceInTheCurve checks that the memory of the device has a line, and a region beyond it, if it lies inside
// the plot. Its name and that of the budget are on different sides.
func TestDeviceInTheCurve(t *testing.T) {
	g := engine.GiB
	for _, c := range []struct {
		name   string
		device engine.Bytes
		lines  int
		sides  [2]string // alignment of the budget's and of the device's name
	}{
		{"none", 0, 1, [2]string{"", ""}},
		{"beside the plot", 9 * g, 1, [2]string{"", ""}},
		{"behind the budget", 11 * g / 4, 2, [2]string{"right", "left"}},
		{"before it", 2 * g, 2, [2]string{"left", "right"}},
		{"at the right edge", 17 * g / 4, 2, [2]string{"", "right"}},
	} {
		p := example()
		p.Device, p.Name = c.device, "one GTX 1080 Ti"
		raw, err := p.Option(Look{Colours: display.Palette(display.Light)})
		var o struct {
			Series []struct {
				MarkLine struct {
					Label struct{ Align string }
					Data  []struct {
						Label struct{ Formatter, Align string }
					}
				}
				MarkArea struct{ Data []any }
			}
		}
		if err == nil {
			err = json.Unmarshal(raw, &o)
		}
		if err != nil || len(o.Series) == 0 || len(o.Series[0].MarkLine.Data) != c.lines ||
			len(o.Series[0].MarkArea.Data) != c.lines {
			t.Errorf("%s: %v, marks %+v; want %d lines and as many regions", c.name, err, o.Series[0], c.lines)
			continue
		}
		m := o.Series[0].MarkLine
		if got := [2]string{m.Label.Align, m.Data[c.lines-1].Label.Align}; c.lines == 2 && got != c.sides {
			t.Errorf("%s: the names are aligned %q; want %q", c.name, got, c.sides)
		}
	}
}

// TestShownBesideItsLine checks that the label of what is shown lies above a line that falls to its left, and below one
// that rises to its right, and that no name of a line covers the name of the region beyond the card.
func TestShownBesideItsLine(t *testing.T) {
	p := policed(760)
	p.Now, p.Device = p.Spots[2].At, 2*engine.GiB
	for _, right := range []bool{false, true} {
		if right {
			p.Now.Budget = p.From
		}
		r, ok := p.shownRect()
		if y := p.Y(p.Now.StepTime); !ok || p.shownRight() != right || (r.y0 > y-8) != right {
			t.Errorf("on the right %t: the label is at %v, the dot at %v; want it below only on the right", right, r, y)
		}
	}
	p.Now.StepTime = time.Duration(float64(p.KeepAll.StepTime) * p.Most) // at the foot of the plot
	if r, _ := p.shownRect(); r.y1 > p.Height-bottom {
		t.Errorf("at the foot of the plot the label is at %v; want it above %v", r, p.Height-bottom)
	}
	x := (p.X(p.Device) + p.X(p.To)) / 2
	name := rect{x - beyondWidth/2, p.Height - bottom - labelHeight, x + beyondWidth/2, p.Height - bottom}
	if !p.beyond() || !slices.ContainsFunc(p.marked(nil), name.meets) {
		t.Errorf("the region beyond the card has no place for its name; want %v", name)
	}
}
