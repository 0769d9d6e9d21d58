package choice

import "memtide/engine"

// PlanName returns the name of a strategy in lists of plans and beside their lines; the
// name itself if no strategy has it.
func PlanName(strategy string) string {
	if st := engine.Lookup(strategy); st != nil {
		return st.Label()
	}
	return strategy
}

// PlanClass returns the class of plans that runs what is chosen on an unmodified model, or
// comes nearest to it: without a link nothing is moved.
func (c Choice) PlanClass() string {
	st := engine.Lookup(c.Strategy)
	if st == nil || st.Class&engine.MayOffload != 0 && c.ToHost <= 0 {
		st = &engine.Strategy{}
	}
	return st.PlanClass()
}
