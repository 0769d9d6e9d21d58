package chart

import (
	"encoding/json"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/web/choice"
	"memtide/web/display"
	"memtide/web/tradeoff"
)

// policed returns the example with eight policies, two of which lie outside of the plot.
func policed(width float64) *Plot {
	p := example()
	p.Width, p.Axis, p.Batch, p.Card = width, tradeoff.Throughput, 32, true
	for _, x := range []struct {
		name string
		at   tradeoff.LinePoint
		fits bool
	}{
		{"Full checkpointing", at(1200, 140), true}, {"All that blocks keep in host memory", at(1900, 125), true},
		{"What the compiler keeps", at(3600, 92), false},
		{"Four blocks in one checkpoint", at(1230, 140), true},
		{"Feed-forward net computed again", at(3000, 104), false},
		{"Every second product kept", at(3400, 118), false},
		{"Nothing", at(9000, 100), false}, {"Slow", at(2000, 500), true},
	} {
		p.Spots = append(p.Spots, Spot{Name: x.name, At: x.at, Fits: x.fits,
			Needs: choice.Reserved(x.at.Budget)})
	}
	p.layAxis()
	return p
}

// TestLeast checks that the region in which nothing fits ends where the first plan or policy is.
func TestLeast(t *testing.T) {
	const m = engine.MiB
	for plan, want := range map[engine.Bytes]engine.Bytes{1220 * m: 1200 * m, 1100 * m: 1100 * m, 0: 0} {
		if got := policed(760).least(plan); got != want {
			t.Errorf("with plans from %d on and a policy at %d: %d; want %d", plan, 1200*m, got, want)
		}
	}
}

// TestSpots checks that each policy in the plot is a circle, filled if the policy fits. At most four circles have
// a name, which lies in the plot and covers no line and no other name. A policy that is faster than keeping
// everything is in the plot, too.
func TestSpots(t *testing.T) {
	for _, width := range []float64{356, 516, 760, 1062} {
		p := policed(width)
		raw, err := p.Option(Look{Colours: display.Palette(display.Light)})
		var o struct {
			Series []struct {
				Name string
				Data []struct {
					ItemStyle struct{ Color string }
					Label     *struct{ Formatter string }
				}
			}
		}
		if err == nil {
			err = json.Unmarshal(raw, &o)
		}
		if err != nil {
			t.Fatal(err)
		}
		full, hollow, named := 0, 0, 0
		for _, s := range o.Series {
			if s.Name != "policies" {
				continue
			}
			for _, d := range s.Data {
				if d.ItemStyle.Color == display.Palette(display.Light)[display.Ink] {
					full++
				} else {
					hollow++
				}
				if d.Label != nil {
					named++
				}
			}
		}
		if wide := width >= 760; full != 3 || hollow != 3 || named > mostNamed || wide && named == 0 ||
			width < roomForLabels && named > 0 {
			t.Errorf("%.0f wide: %d full and %d hollow circles, %d of them named; want 3 and 3, and up to %d names where there is room", width, full, hollow, named, mostNamed)
		}
		lines := p.labels()
		taken := p.marked(nil)
		for _, l := range lines {
			if l.shown {
				taken = append(taken, l.box)
			}
		}
		for i, l := range p.spotLabels(lines) {
			if !l.shown {
				continue
			}
			for _, s := range p.strokes() {
				if got := l.box.holds(s.rect); got > 0 {
					t.Errorf("%.0f wide: %.1f px of a line are behind %q", width, got, p.Spots[i].Name)
				}
			}
			if slices.ContainsFunc(taken, l.box.meets) || l.box.x0 < p.left() || l.box.x1 > p.Width {
				t.Errorf("%.0f wide: %q at %+v lies on something else or leaves the plot", width, p.Spots[i].Name,
					l.box)
			}
			taken = append(taken, l.box)
		}
	}
}

// TestSpotAt checks that the pointer finds the circles in the plot, but none of those outside of it.
func TestSpotAt(t *testing.T) {
	p := policed(760)
	for i := range p.Spots {
		s := &p.Spots[i]
		got := p.SpotAt(p.X(s.At.Budget)+1, p.Y(s.At.StepTime)-1)
		if want := i < 6 && i != 3; want != (got == s) { // the fourth is covered by the first
			t.Errorf("at %q there is %+v; want it: %t", s.Name, got, want)
		}
	}
	if got := p.SpotAt(p.X(2*engine.GiB), p.Y(99*ms)); got != nil {
		t.Errorf("where no circle is there is %+v", got)
	}
}

// TestAxisOfTheCard checks that the axis of a card shows the memory that a card must have for a budget, and that
// unreserved is the inverse of choice.Reserved.
func TestAxisOfTheCard(t *testing.T) {
	for _, b := range []engine.Bytes{engine.GiB, 22 * engine.GiB, 74 * engine.GiB} {
		if got := (&Plot{Context: choice.Context}).unreserved(choice.Reserved(b)); got-b > 64 || b-got > 64 {
			t.Errorf("a card of %d bytes has just enough for %d; want %d", choice.Reserved(b), got, b)
		}
	}
	p := policed(760)
	p.Context = choice.Context
	if got, want := p.Memory(2*engine.GiB), choice.Reserved(2*engine.GiB); got != want {
		t.Errorf("2 GiB lie at %v; want %v", got, want)
	}
}

// TestOpenLines checks that the part of a line that is not final yet is thin and dashed and extends to the right
// edge, and that the final part is solid.
func TestOpenLines(t *testing.T) {
	p := example()
	p.Lines[1].Open = 2 * engine.GiB // of rotor, which leaves one point final
	raw, err := p.Option(Look{Colours: display.Palette(display.Light)})
	var o struct {
		Series []struct {
			Name      string
			Data      []struct{ Value []float64 }
			LineStyle struct{ Width float64 }
		}
	}
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	var parts [][2]float64 // number of points and line width of each part
	for _, s := range o.Series {
		if s.Name == "Optimal recomputation" {
			parts = append(parts, [2]float64{float64(len(s.Data)), s.LineStyle.Width})
		}
	}
	if want := [][2]float64{{4, 1}, {1, 2.6}}; !slices.Equal(parts, want) {
		t.Errorf("points and widths of its parts are %v; want %v: all and the right edge thin, the final one strong",
			parts, want)
	}
}

// TestKeepAllGivesWay checks that the name of keeping everything covers neither the label of the schedule on
// screen nor a vertical line.
func TestKeepAllGivesWay(t *testing.T) {
	for _, axis := range []string{tradeoff.Slowdown, tradeoff.StepTime, tradeoff.Throughput} {
		for _, mib := range []int{2000, 3300, 3600, 3800, 3900, 4000} {
			for _, device := range []int{0, 3500, 3700, 3990} {
				p := example()
				p.Axis, p.Batch = axis, 32
				p.Now, p.Budget, p.Device = at(mib, 101), engine.Bytes(mib)*engine.MiB, engine.Bytes(device)*engine.MiB
				p.layAxis()
				m := p.keepAllPlace()
				shown, _ := p.shownRect()
				if !m.shown {
					continue
				}
				if m.box.meets(shown) ||
					slices.ContainsFunc(p.uprights(),
						func(b engine.Bytes) bool { return p.X(b) > m.box.x0 && p.X(b) < m.box.x1 }) {
					t.Errorf("axis %q, shown at %d MiB, device %d MiB: %+v lies on %+v or on an upright", axis, mib,
						device, m.box, shown)
				}
			}
		}
	}
}
