package draw

import "memtide/engine"

// fewArcs is how many arcs are drawn where there is little width, in place of mostArcs.
const fewArcs = 3

// drawnArcs are the arcs that are shown in a frame, the selected one last, and how many
// are not: beside those of blocks, and within them.
func drawnArcs(st *structure, f *frame, selected engine.ValueID, open int32) (arcs []arc, more, folded int) {
	most, by := mostArcs, (*arc).weight
	if f.Width <= slimWidth {
		most, by = fewArcs, func(a *arc) float64 { return float64(a.to - a.from) }
	}
	var on *arc
	for i := range st.arcs {
		switch a := &st.arcs[i]; {
		case a.value == selected:
			on = a
		case a.block != 0 && a.block != open:
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
func lightest(arcs []arc, by func(*arc) float64) (least int) {
	for i := range arcs {
		if by(&arcs[i]) <= by(&arcs[least]) {
			least = i
		}
	}
	return least
}
