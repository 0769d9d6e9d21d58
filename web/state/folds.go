package state

import "slices"

// Fold is a part of the page that is unfolded by hand.
type Fold struct {
	Name string // in links, as link.Folds has it
	open *bool
}

// folds are the parts in the order of link.Folds.
func (v *View) folds() []Fold {
	return []Fold{{"lines", &v.LineList}, {"questions", &v.Questions}, {"layers", &v.Layers.Open}, {"table", &v.Table}, {"sides", &v.Sides}}
}

// Unfolded names what a person has unfolded, beyond what the link shows anyway.
func (s *State) Unfolded() (out []string) {
	for _, f := range s.View.folds() {
		shown := f.Name == "table" && s.View.Frame.Show != nil && s.View.Frame.Shows(f.Name)
		if *f.open && !shown {
			out = append(out, f.Name)
		}
	}
	return out
}

// unfold takes over what a link says is open. It follows frame, which opens what
// the link shows.
func (v *View) unfold(m Start) {
	v.Chain, v.Slowdown = m.Chain, m.Slowdown
	for _, f := range v.folds() {
		shown := f.Name == "table" && m.Frame.Show != nil && m.Frame.Shows(f.Name)
		*f.open = shown || slices.Contains(m.Open, f.Name)
	}
}
