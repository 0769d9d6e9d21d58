package chart

import (
	"slices"

	"memtide/web/draw"
)

// label is where the name of a line stands, relative to the line's end, in CSS
// pixels. Up is positive.
type label struct{ x, y float64 }

// labelHeight is the least distance between two labels.
const labelHeight = 13.0

// labels places the names of the lines: above the end at the smallest budget,
// moved up where they would stand on each other.
func (p *Plot) labels() []label {
	out := make([]label, len(p.Lines))
	order := make([]int, len(p.Lines))
	for i := range order {
		order[i] = i
	}
	y := func(i int) float64 { return max(p.Y(p.Lines[i].Points[0].StepTime), top) }
	slices.SortStableFunc(order, func(a, b int) int { // from the bottom to the top
		switch {
		case y(a) > y(b):
			return -1
		case y(a) < y(b):
			return 1
		}
		return 0
	})
	var placed []float64
	for _, i := range order {
		want := y(i) - labelHeight/2 - 1
		for clash := true; clash; {
			clash = false
			for _, other := range placed {
				if want > other-labelHeight && want < other+labelHeight {
					want, clash = other-labelHeight-0.1, true
				}
			}
		}
		placed = append(placed, want)
		out[i] = label{2, y(i) - want}
	}
	return out
}

func (p *Plot) endLabel(at label, name string, look Look) map[string]any {
	return map[string]any{
		"show": true, "formatter": name, "color": look.Colours[draw.Ink], "fontSize": 11, "fontFamily": look.Font,
		"align": "left", "verticalAlign": "middle", "distance": 0, "offset": []float64{at.x, -at.y},
		"textBorderColor": look.Colours[draw.Surface], "textBorderWidth": 3,
	}
}
