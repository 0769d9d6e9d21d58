package chart

import (
	"fmt"
	"math"
	"testing"
	"time"

	"memtide/engine"
	"memtide/web/tradeoff"
)

// at returns a point of a line. The budget is in MiB, the step time in milliseconds.
func at(mib, millis int) tradeoff.LinePoint {
	return tradeoff.LinePoint{Budget: engine.Bytes(mib) * engine.MiB, StepTime: ms * time.Duration(millis)}
}

// crowded returns a chart like that of ResNet-101, whose lines end close to each other: two end at the same
// budget, one above the other, and one ends a little to the right. Two lines of strategies that offload cover
// each other and leave the plot at the upper edge.
func crowded(width float64, axis string, chosen string) *Plot {
	p := &Plot{
		Width: width, Height: 260, Axis: axis, Batch: 32, Chosen: chosen, KeepAll: at(4440, 164),
		Budget: 2640 * engine.MiB, From: 680 * engine.MiB, To: 4580 * engine.MiB, Fits: 1220 * engine.MiB,
		Lines: []tradeoff.Line{
			line("greedy", "Greedy offload", at(1480, 521), at(1600, 495), at(1780, 450), at(2000, 410),
				at(2640, 322), at(3200, 240), at(4000, 170), at(4440, 164)),
			line("dynprog", "Optimal set for streamed transfers", at(1480, 521), at(1600, 495), at(1780, 450),
				at(2000, 406), at(2640, 318), at(3200, 220), at(3800, 168), at(4440, 164)),
			line("pofo", "Recompute and offload", at(1220, 205), at(1460, 195), at(2640, 176), at(3600, 165),
				at(4440, 164)),
			line("rotor", "Optimal recomputation", at(1220, 219), at(1300, 216), at(1460, 208), at(2640, 183),
				at(4000, 167), at(4440, 164)),
			line("sequential", "Equal segments", at(1540, 215), at(1700, 209), at(2640, 197), at(4440, 164)),
		},
	}
	p.layAxis()
	return p
}

// distances returns the distance of the rectangle r from the line l. It samples the line every half pixel.
func distances(r rect, p *Plot, l *tradeoff.Line) float64 {
	best := math.Inf(1)
	look := func(x0, y0, x1, y1 float64) {
		n := math.Ceil(2*math.Hypot(x1-x0, y1-y0)) + 1
		for k := 0.0; k <= n; k++ {
			x, y := x0+(x1-x0)*k/n, y0+(y1-y0)*k/n
			best = min(best, math.Hypot(max(r.x0-x, 0, x-r.x1), max(r.y0-y, 0, y-r.y1)))
		}
	}
	pts := p.inside(l)
	for k := 1; k < len(pts); k++ {
		x0, y0, x1, y1 := p.X(pts[k-1].Budget), p.Y(pts[k-1].StepTime), p.X(pts[k].Budget), p.Y(pts[k].StepTime)
		look(x0, y0, x0, y1)
		look(x0, y1, x1, y1)
	}
	return best
}

// boxOf returns the rectangle of a label.
func boxOf(e named, l label) rect {
	x, y, width := e.x+l.x, e.y-l.y, nameWidth(e.name)-6
	if l.left {
		x -= width
	}
	return rect{x, y - labelHeight/2, x + width, y + labelHeight/2}
}

// TestLabelsStandAtTheirOwnLines checks that the name of a line stands beside it, nearer to it than to any other
// line, and that names are stacked in the order of their lines. A name for which there is no such place is left
// out.
func TestLabelsStandAtTheirOwnLines(t *testing.T) {
	for _, axis := range []string{tradeoff.Slowdown, tradeoff.StepTime, tradeoff.Throughput} {
		for _, width := range []float64{356, 516, 760, 1062} {
			for _, chosen := range []string{"greedy", "rotor", "sequential"} {
				p := crowded(width, axis, chosen)
				name := fmt.Sprintf("axis %q, %.0f wide, %s", axis, width, chosen)
				ends, labels := p.ends(), p.labels()
				lineOf := func(i int) *tradeoff.Line {
					return &p.Lines[i]
				}
				for i, l := range labels {
					if !l.shown {
						continue
					}
					box := boxOf(ends[i], l)
					for _, b := range p.uprights() {
						if x := p.X(b); x > box.x0 && x < box.x1 {
							t.Errorf("%s: %q at %+v lies across the line at %.1f; want it off the budget's and the device's", name, ends[i].name, box, x)
						}
					}
					own := lineOf(i)
					mine := distances(box, p, own)
					if mine > 7 {
						t.Errorf("%s: %q at %+v is %.1f px from its line; want it beside", name, ends[i].name,
							box, mine)
					}
					for j := range ends {
						other := lineOf(j)
						if d := distances(box, p, other); j != i && (d < mine-0.3 || d < 1) {
							t.Errorf("%s: %q at %+v is %.1f px from its line and %.1f px from %q; want it nearest to its own, and off the others", name, ends[i].name, box, mine, d, ends[j].name)
						}
						o := boxOf(ends[j], labels[j])
						if labels[j].shown && box.x0 < o.x1 && o.x0 < box.x1 && math.Abs(ends[i].x-ends[j].x) < 10 &&
							(ends[i].y-ends[j].y)*(box.y0-o.y0) < 0 {
							t.Errorf("%s: %q ends at %.1f and %q at %.1f, but the names stand at %.1f and %.1f; want the same order", name, ends[i].name, ends[i].y, ends[j].name, ends[j].y, box.y0, o.y0)
						}
					}
				}
				if width > roomForLabels && !labels[2].shown && !labels[3].shown {
					t.Errorf("%s: neither %q nor %q has its name; want one, there is room", name, p.Lines[2].Title,
						p.Lines[3].Title)
				}
			}
		}
	}
}

// TestMostLabelsAreShown checks that a wide chart has at least five names, among them that of the chosen line.
func TestMostLabelsAreShown(t *testing.T) {
	for _, chosen := range []string{"greedy", "rotor", "pofo", "sequential"} {
		p, shown := crowded(1062, tradeoff.Slowdown, chosen), 0
		for i, l := range p.labels() {
			if l.shown {
				shown++
			} else if p.ends()[i].chosen {
				t.Errorf("the name of %s, which is chosen, is left out", chosen)
			}
		}
		if shown < 5 {
			t.Errorf("%s: %d of 6 names are shown; want at least 5", chosen, shown)
		}
	}
}

func TestGap(t *testing.T) {
	r := rect{10, 10, 20, 30}
	for _, c := range []struct {
		stroke rect
		want   float64
	}{
		{rect{0, 20, 40, 20}, 0},
		{rect{25, 0, 25, 100}, 5},
		{rect{0, 4, 40, 4}, 6},
		{rect{23, 34, 40, 34}, 5}, // from a corner of r to the end of the stroke
		{rect{26, 20, 26, 20}, 6}, // a point
		{rect{15, 20, 15, 20}, 0},
	} {
		if got := r.gap(c.stroke); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v is %.3f from %+v; want %.3f", r, got, c.stroke, c.want)
		}
	}
}
