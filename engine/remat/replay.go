package remat

import (
	"time"

	"memtide/engine"
)

// Replay walks a valid sequence of Table 1, or the beginning of one, and
// returns its time and its peak, resident memory included: what an operation
// needs is everything in memory, its outputs and its temporaries.
func Replay(c *engine.Chain, seq []engine.ChainOp) (total time.Duration, peak engine.Bytes) {
	n := c.Len()
	held := c.Resident.Total() + c.Input + c.HeldGrad(n)
	peak = held
	alone := make([]bool, n+1) // a^k lies beside, not within, abar^k
	alone[0] = true
	saved := make([]bool, n+1)
	grad := n // k of the one delta^k that is alive
	drop := func(k int) {
		if alone[k] {
			held -= c.Act(k)
			alone[k] = false
		}
	}
	for _, op := range seq {
		k := op.Stage
		st := &c.Stages[k-1]
		switch op.Kind {
		case engine.FAll:
			peak = max(peak, held+st.Saved+c.Beside(k)+st.FwdTemp)
			held += st.Saved
			drop(k) // merged into abar^k, or an older copy
			saved[k] = true
			if c.Unsaved(k) && grad != k && !saved[k+1] {
				held += st.Out
				alone[k] = true
			}
			if c.Unsaved(k - 1) {
				drop(k - 1)
			}
			total += st.Forward
		case engine.FCk, engine.FNone:
			peak = max(peak, held+st.Out+st.FwdTemp)
			held += st.Out
			alone[k] = true
			if op.Kind == engine.FNone {
				drop(k - 1)
			}
			total += st.Forward
		case engine.BStep:
			held += c.Grad(k) - c.HeldGrad(k) // a seed that is born
			peak = max(peak, held+c.Grad(k-1)+st.BwdTemp)
			held += c.Grad(k-1) - c.Grad(k) - st.Saved
			drop(k - 1)
			grad, saved[k] = k-1, false
			total += st.Back
		}
	}
	return total, peak
}

// solution compiles a sequence and claims what Replay finds.
func solution(p *engine.Problem, seq []engine.ChainOp) *engine.Solution {
	schedule, _, err := p.Chain.CompileSequence(seq)
	if err != nil {
		panic("remat: the sequence is not valid: " + err.Error())
	}
	total, peak := Replay(p.Chain.Chain, seq)
	return &engine.Solution{Schedule: schedule, Makespan: total, Peak: peak}
}

// stageName is how messages call stage k.
func stageName(c *engine.Chain, k int) string {
	if name := c.Stages[k-1].Name; name != "" {
		return name
	}
	return "a stage without a name"
}
