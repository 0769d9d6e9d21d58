package chart

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"memtide/web/display"
	"memtide/web/tradeoff"
)

// TestAxes checks that the values, the labels and the direction of the vertical axis follow its unit: slowdown,
// step time or throughput.
func TestAxes(t *testing.T) {
	for _, c := range []struct {
		axis     string
		batch    int
		at, want string // at is the value of keeping everything, want the format of the labels
		fastUp   bool
	}{
		{tradeoff.Slowdown, 32, "1", "×{value}", false},
		{tradeoff.StepTime, 32, "100", "{value} ms", false},
		{tradeoff.Throughput, 32, "320", "{value}/s", true},
		{tradeoff.Throughput, 0, "10", "{value}/s", true},
	} {
		p := example()
		p.Axis, p.Batch = c.axis, c.batch
		p.layAxis()
		name := fmt.Sprintf("axis %q, batch %d", c.axis, c.batch)
		if got := fmt.Sprint(math.Round(1e6*p.onAxis(1)) / 1e6); got != c.at || p.format() != c.want {
			t.Errorf("%s: keeping everything is at %s, labels %q; want %s and %q", name, got, p.format(), c.at, c.want)
		}
		fast, slow := p.Y(100*ms), p.Y(130*ms)
		if (fast < slow) != c.fastUp || fast < top || fast > p.Height-bottom || slow < top || slow > p.Height-bottom {
			t.Errorf("%s: 100 ms are at %.1f and 130 ms at %.1f; want both in the plot, fast above: %v", name, fast,
				slow, c.fastUp)
		}
		if pt, ok := p.Nearest(p.X(p.Lines[1].Points[0].Budget), slow); !ok || pt.Strategy != "rotor" {
			t.Errorf("%s: nearest to rotor's first point is %+v, %v", name, pt, ok)
		}
		raw, err := p.Option(Look{Colours: display.Palette(display.Light), Font: "sans-serif"})
		var o struct {
			YAxis []struct{ Min, Max float64 }
		}
		if err == nil {
			err = json.Unmarshal(raw, &o)
		}
		if err != nil || len(o.YAxis) != 1 || !(o.YAxis[0].Min < p.onAxis(1) && p.onAxis(1) < o.YAxis[0].Max) {
			t.Errorf("%s: %v, axis %+v; want it to hold keeping everything", name, err, o.YAxis)
		}
	}
}

// TestAxisWithoutReference checks that the axis shows slowdowns if the step time of keeping everything is not
// known.
func TestAxisWithoutReference(t *testing.T) {
	p := example()
	p.KeepAll, p.Axis = tradeoff.LinePoint{}, tradeoff.Throughput
	if p.layAxis(); p.Axis != tradeoff.Slowdown || math.IsNaN(p.Low) || p.Low >= p.Top {
		t.Errorf("axis %q from %v to %v; want slowdowns", p.Axis, p.Low, p.Top)
	}
}

// TestRoomForAxisLabels checks that the plot begins to the right of the longest axis label, both in the Plot and
// in the option.
func TestRoomForAxisLabels(t *testing.T) {
	for _, c := range []struct {
		axis    string
		step    int // step time of keeping everything, in milliseconds
		batch   int
		longest string
	}{
		{tradeoff.Slowdown, 100, 32, "×1.5"},
		{tradeoff.StepTime, 100, 32, "250 ms"},
		{tradeoff.StepTime, 900, 32, "2,000 ms"},
		{tradeoff.Throughput, 100, 32, "300/s"},
		{tradeoff.Throughput, 1, 512, "500,000/s"},
	} {
		p := example()
		p.Axis, p.Batch = c.axis, c.batch
		p.KeepAll.StepTime = ms * time.Duration(c.step)
		p.layAxis()
		raw, err := p.Option(Look{Colours: display.Palette(display.Light), Font: "sans-serif"})
		var o struct{ Grid []struct{ Left string } }
		if err == nil {
			err = json.Unmarshal(raw, &o)
		}
		want := 8 + 6.2*float64(len([]rune(c.longest)))
		if err != nil || len(o.Grid) != 1 || o.Grid[0].Left != px(p.left()) || p.X(p.From) != p.left() ||
			p.left() < want || p.left() > max(left, want+30) {
			t.Errorf("axis %q, %d ms: %v, the plot begins at %v, the chart's at %+v; want both at %.0f or a little more, for %q", c.axis, c.step, err, p.left(), o.Grid, want, c.longest)
		}
	}
}
