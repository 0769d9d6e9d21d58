package draw

import "memtide/engine"

// mostArcs and fewArcs are how many arcs are drawn, and how many where there is
// little width, beside that of what is selected.
const (
	mostArcs = 24
	fewArcs  = 3
)

// drawn are the arcs that are shown in a frame, the selected one last, and how many
// are not: beside those of blocks, and within them.
func (st *structure) drawn(f *frame, selected engine.ValueID, open int32) (arcs []arc, more, folded int) {
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
