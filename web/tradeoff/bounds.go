package tradeoff

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// Bounds are the lower bounds by class of schedules, in the order of classes. What
// bounds a budget bounds every smaller one, so that no line rises with the budget.
func (c *Curve) Bounds() []Line {
	names := map[engine.Class]string{
		engine.MayRecompute:                     "bound for recompute",
		engine.MayOffload:                       "bound for offload",
		engine.MayRecompute | engine.MayOffload: "bound for both",
	}
	byClass := map[engine.Class]*Line{}
	var classes []engine.Class
	for i, m := range c.Methods {
		st := engine.Lookup(m.Strategy)
		if st == nil {
			continue
		}
		l := byClass[st.Class]
		if l == nil {
			l = &Line{Method: m, Title: names[st.Class]}
		}
		for _, p := range c.Points[i] {
			if p != nil && p.Bound > 0 {
				l.Points = append(l.Points, LinePoint{Budget: p.Budget, StepTime: p.Bound})
			}
		}
		if byClass[st.Class] == nil && len(l.Points) > 0 {
			byClass[st.Class] = l
			classes = append(classes, st.Class)
		}
	}
	for _, l := range byClass {
		l.lower()
	}
	slices.Sort(classes)
	var out []Line
	for _, class := range classes {
		out = append(out, *byClass[class])
	}
	return out
}

// lower makes one bound of those that several methods have proven: the largest at
// each budget, and at no budget less than at a larger one.
func (l *Line) lower() {
	slices.SortFunc(l.Points, func(a, b LinePoint) int {
		return cmp.Or(cmp.Compare(a.Budget, b.Budget), cmp.Compare(b.StepTime, a.StepTime))
	})
	l.Points = slices.CompactFunc(l.Points, func(a, b LinePoint) bool { return a.Budget == b.Budget })
	for i := len(l.Points) - 2; i >= 0; i-- {
		l.Points[i].StepTime = max(l.Points[i].StepTime, l.Points[i+1].StepTime)
	}
}
