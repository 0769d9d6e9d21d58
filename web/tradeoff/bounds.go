package tradeoff

import (
	"time"

	"memtide/engine"
)

// Bound returns the step time that no schedule of a class can beat in a budget, as far as
// the methods of the curve have proven one; 0 if they have not. What bounds a budget bounds
// every smaller one.
func (c *Curve) Bound(class engine.Class, budget engine.Bytes) (most time.Duration) {
	for i, m := range c.Methods {
		if st := engine.Lookup(m.Strategy); st == nil || st.Class != class {
			continue
		}
		for _, p := range c.Points[i] {
			if p != nil && p.Budget >= budget {
				most = max(most, p.Bound)
			}
		}
	}
	return most
}
