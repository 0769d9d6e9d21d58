package play

import (
	"slices"
	"strings"

	"memtide/engine"
)

// Worth returns the operators of units whose results may be kept while the other operators run again, the most time
// per byte first. It leaves out views, which hold no bytes, results that are written in place, and operators that
// draw random numbers, because operators that run again would draw other numbers.
func (t *Trace) Worth(units []string) []Saved {
	written, of := map[int]bool{}, map[string]bool{}
	for i := range t.Ops {
		for _, n := range t.Ops[i].Write {
			written[n] = true
		}
	}
	for _, u := range units {
		of[u] = true
	}
	type result struct {
		saved Saved
		time  uint64
		bytes engine.Bytes
	}
	var found []result
	counts, random, attentions := map[string]int{}, false, 0
	for _, c := range t.Calls {
		for i := c.Op; i < c.End && of[c.Path]; i++ {
			op := &t.Ops[i]
			counts[op.Name]++
			r := result{Saved{op.Name, counts[op.Name] - 1}, uint64(op.Time), 0}
			for _, n := range op.New {
				r.bytes += t.Storages[n]
			}
			random = random || draws(op.Name)
			if attends(op.Name) {
				attentions++
			}
			if r.bytes > 0 && !draws(op.Name) && !slices.ContainsFunc(op.New, func(n int) bool { return written[n] }) {
				found = append(found, r)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b result) int {
		return engine.CompareRatios(b.time, uint64(b.bytes), a.time, uint64(a.bytes))
	})
	var out []Saved
	for _, r := range found {
		if !attends(r.saved.Op) || !random && attentions == 1 {
			out = append(out, r.saved)
		}
	}
	return out
}

// draws reports whether an operator draws random numbers.
func draws(name string) bool {
	return slices.ContainsFunc([]string{"rand", "bernoulli", "dropout", "normal_", "uniform", "exponential",
		"multinomial", "poisson"}, func(word string) bool { return strings.Contains(name, word) })
}

// attends reports whether an operator is an attention, which may draw random numbers for its dropout.
func attends(name string) bool { return strings.Contains(name, "attention") }
