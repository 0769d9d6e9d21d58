package draw

import (
	"memtide/engine"
	"memtide/web/lookup"
)

// fewArcs is how many arcs are drawn where there is little width, in place of MostArcs.
const fewArcs = 3

// drawnArcs are the arcs that are shown in a frame, the selected one last, and how many
// are not: beside those of blocks, and within them.
func drawnArcs(st *lookup.Structure, f *frame, selected engine.ValueID, open int32) (arcs []lookup.Arc, more, folded int) {
	most, by := lookup.MostArcs, (*lookup.Arc).Weight
	if f.Width <= slimWidth {
		most, by = fewArcs, func(a *lookup.Arc) float64 { return float64(a.To - a.From) }
	}
	var on *lookup.Arc
	for i := range st.Arcs {
		switch a := &st.Arcs[i]; {
		case a.Value == selected:
			on = a
		case a.Block != 0 && a.Block != open:
			folded++
		case len(arcs) < most:
			arcs = append(arcs, *a)
		default:
			more++
			if least := lightest(arcs, by); by(a) > by(&arcs[least]) {
				arcs[least] = *a
			}
		}
	}
	if on != nil {
		arcs = append(arcs, *on)
	}
	return arcs, more, folded
}

// lightest is the last of the arcs that weigh least.
func lightest(arcs []lookup.Arc, by func(*lookup.Arc) float64) (least int) {
	for i := range arcs {
		if by(&arcs[i]) <= by(&arcs[least]) {
			least = i
		}
	}
	return least
}
