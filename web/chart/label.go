package chart

import (
	"cmp"
	"math"
	"slices"

	"memtide/web/draw"
	"memtide/web/state"
)

// label is where the name of a line stands, relative to the line's end, in CSS
// pixels. Up is positive. Where too many lines end at one place, some have none:
// pointing at a line names it.
type label struct {
	x, y  float64
	shown bool
}

// labelHeight is the least distance between two labels.
const labelHeight = 13.0

// labelAway is how far from the end of its line a label may stand.
const labelAway = 3 * labelHeight

// labels places the names of the bounds and of the lines: above the end at the
// smallest budget, moved up where they would stand on each other, and down
// where they would leave the plot. The chosen strategy's has the first choice.
func (p *Plot) labels() []label {
	ends := make([]float64, 0, len(p.Bounds)+len(p.Lines))
	for _, lines := range [][]state.Line{p.Bounds, p.Lines} {
		for i := range lines {
			ends = append(ends, p.end(&lines[i]))
		}
	}
	order := make([]int, len(ends))
	for i := range order {
		order[i] = i
	}
	chosen := func(i int) bool {
		return i >= len(p.Bounds) && p.Lines[i-len(p.Bounds)].Method.Strategy == p.Chosen
	}
	slices.SortStableFunc(order, func(a, b int) int { // the chosen one first, then from the bottom up
		if chosen(a) != chosen(b) {
			if chosen(a) {
				return -1
			}
			return 1
		}
		return cmp.Compare(ends[b], ends[a])
	})
	out := make([]label, len(ends))
	var placed []float64
	for _, i := range order {
		want := free(placed, ends[i]-labelHeight/2-1, -1)
		if want < top+labelHeight/2 {
			want = free(placed, top+labelHeight/2, 1)
		}
		away := ends[i] - want
		if chosen(i) || math.Abs(away) <= labelAway {
			placed = append(placed, want)
			out[i] = label{3, away, true}
		}
	}
	return out
}

// free is the first height from want on, upwards (-1) or downwards (1), at which
// a label does not stand on another.
func free(placed []float64, want, direction float64) float64 {
	for clash := true; clash; {
		clash = false
		for _, other := range placed {
			if math.Abs(want-other) < labelHeight-0.01 {
				want, clash = other+direction*labelHeight, true
			}
		}
	}
	return want
}

func endLabel(at label, name string, look Look, r draw.Role) map[string]any {
	return map[string]any{
		"show": true, "formatter": name, "color": look.Colours[r], "fontSize": 11, "fontFamily": look.Font,
		"align": "left", "verticalAlign": "middle", "distance": 0, "offset": []float64{at.x, -at.y},
		"textBorderColor": look.Colours[draw.Surface], "textBorderWidth": 3,
	}
}
