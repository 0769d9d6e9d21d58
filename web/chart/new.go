package chart

import (
	"maps"

	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/tradeoff"
)

// New lays the curve of a state out. It returns nil if there is none yet.
func New(s *state.State, width, height float64) *Plot {
	c := s.Curve
	if c == nil || s.Network == nil {
		return nil
	}
	lines := s.Lines()
	p := &Plot{Width: width, Height: height, Axis: s.View.Axis, KeepAll: keepAll(s),
		Chosen: s.Choice.Strategy, Budget: s.Budget(), Lines: lines}
	if v := s.Visible(); v != nil && v.Network == s.Network {
		p.Now = tradeoff.LinePoint{Budget: v.Solved.Budget, StepTime: v.Solved.Trace.Makespan}
	}
	for i := range p.Lines { // what is shown is a point of its line
		if l := &p.Lines[i]; p.Now.StepTime > 0 && s.Preview == nil && l.Method.Strategy == p.Chosen &&
			maps.Equal(l.Method.Args, s.Choice.Args) {
			*l = l.With(p.Now)
		}
	}
	p.Unit, p.Batch = known.Trained(s.Choice, s.Network)
	if d := state.DeviceOf(s.Choice); d != nil {
		p.Card, p.Device, p.Name = true, unreserved(d.Memory), "one "+d.Short()
	}
	for _, x := range s.Policies() {
		p.Spots = append(p.Spots, Spot{Index: x.Index, Name: format.Capital(x.Names[0]), Words: x.Words,
			Fits: x.Lacks == 0, Needs: x.Needs,
			At: tradeoff.LinePoint{Budget: unreserved(x.Needs), StepTime: x.Time}})
	}
	if c.Complete() {
		p.Fits = c.Smallest()
	}
	p.layBudgets(s.BudgetRange())
	p.compare(s)
	p.layAxis()
	return p
}
