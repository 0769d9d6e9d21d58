package combined

import (
	"fmt"

	"memtide/engine"
)

// joined takes every stage whose output is unsaved together with those after it, up to
// the first whose output is saved, as one. What such stages save for their backward stays
// on the device from the beginning to the end of the step; what the last of them saves, or
// their input, is what a plan keeps, offloads or computes again. It suits networks whose
// layers save no more than their outputs.
type joined struct {
	p     *engine.Problem
	q     *engine.Problem
	first []int // of each stage of q, the first stage that it stands for
	last  []int
}

func newJoined(p *engine.Problem) recast {
	c := p.Chain.Chain
	j := &joined{p: p}
	d := *c
	d.Stages = nil
	for k := 1; k <= c.Len(); k++ {
		first := k
		for c.Unsaved(k) {
			d.Resident.Pinned += c.Saved(k)
			k++
		}
		j.first, j.last = append(j.first, first), append(j.last, k)
		d.Stages = append(d.Stages, merged(c, first, k))
	}
	j.q = engine.NewChainProblem(&d, p.Device, p.Transfers, p.Budget)
	return recast{q: j.q, schedule: j.schedule,
		note: fmt.Sprintf("the plan takes each together with the stage after it, %d stages in all, and leaves what it saves on the device", len(j.first))}
}

// merged is the stage that stands for stages a..b. The saved activations of a..b-1 are not
// in it.
func merged(c *engine.Chain, a, b int) engine.Stage {
	st := c.Stages[b-1]
	if a == b {
		return st
	}
	st.Name, st.Fast = fmt.Sprintf("%s to %s", c.Stages[a-1].Name, st.Name), nil
	st.Forward, st.Back, st.FwdTemp, st.BwdTemp = 0, 0, 0, 0
	held := c.Grad(a - 1) // of what the backward of the whole makes
	for k := a; k <= b; k++ {
		one := &c.Stages[k-1]
		st.Forward += one.Forward
		st.Back += one.Back
		var in engine.Bytes // a^{k-1}, if it is made in here
		if k > a {
			in = c.Act(k - 1)
		}
		full, back := in+one.Out+one.FwdTemp-st.Saved, c.Grad(k-1)+one.BwdTemp-held
		if k == b {
			full = in + one.FwdTemp
		} else { // abar^b and delta^b are gone
			back += one.Grad - st.Saved - st.Grad
		}
		st.FwdTemp = max(st.FwdTemp, full, in+one.Out+one.FwdTemp-st.Out)
		st.BwdTemp = max(st.BwdTemp, back)
	}
	return st
}

// value is what stands for a value of the other chain.
func (j *joined) value(v engine.ValueID) engine.ValueID {
	g, h := j.p.Chain, j.q.Chain
	at := func(k int) int {
		if k == 0 {
			return 0
		}
		return j.last[k-1]
	}
	n := h.Chain.Len()
	switch {
	case v >= h.Grad(0):
		return g.Grad(at(int(v - h.Grad(0))))
	case v > h.Act(n):
		return g.Saved(at(int(v - h.Act(n))))
	}
	return g.Act(at(int(v)))
}

// schedule is a schedule of the other chain in terms of this one.
func (j *joined) schedule(s engine.Schedule) (sched engine.Schedule) {
	g := j.p.Chain
	gone := map[engine.ValueID]bool{} // freed within a backward, and to be freed after it
	for _, st := range s {
		if st.Kind != engine.StepRun {
			st.Value = j.value(st.Value)
			if st.Kind == engine.StepFree && gone[st.Value] {
				delete(gone, st.Value)
				continue
			}
			sched = append(sched, st)
			continue
		}
		op := &j.q.Graph.Ops[st.Op]
		a, b := j.first[op.Stage-1], j.last[op.Stage-1]
		if op.Pass == engine.Forward {
			for k := a; k <= b; k++ {
				sched = append(sched, engine.Step{Kind: engine.StepRun, Op: g.Fwd(k), Value: engine.NoValue, OutputOnly: st.OutputOnly})
				if k > a {
					sched = append(sched, engine.Free(g.Act(k-1)))
				}
			}
			continue
		}
		for k := b; k >= a; k-- {
			sched = append(sched, engine.Run(g.Bwd(k)))
			if a < b {
				sched = append(sched, engine.Free(g.Grad(k)), engine.Free(g.Saved(k)))
			}
		}
		if a < b {
			gone[g.Grad(b)], gone[g.Saved(b)] = true, true
		}
	}
	return sched
}
