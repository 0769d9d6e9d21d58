package enginetest

import (
	"math/rand/v2"
	"slices"
	"time"

	"memtide/engine"
)

// TightTransfers draws a problem of whole transfers on a chain of 1 to 4 stages in which values have to be moved.
// The budget is at least LeastTransfers and below KeepAllPeak. Times and sizes are small and often zero or equal,
// so that much depends on the order of transfers. ok is false if there is no such budget.
func TightTransfers(r *rand.Rand) (p *engine.Problem, ok bool) {
	one := func(of ...int) int { return of[r.IntN(len(of))] }
	bytes := func(most int) engine.Bytes { return engine.Bytes(r.IntN(most + 1)) }
	some := func(rare, most int) engine.Bytes {
		if r.IntN(rare) > 0 {
			return 0
		}
		return bytes(most)
	}
	outs, grads, temps := one(1, 3, 3, 8), one(0, 1, 3), one(0, 4, 10)
	fwd, back, equal := one(0, 0, 1, 4), one(0, 1, 3, 8), r.IntN(6) == 0
	c := &engine.Chain{Name: "tight", Input: bytes(outs), InputGrad: bytes(grads), LossGradAllocated: r.IntN(2) == 0,
		Resident: engine.Resident{Weights: some(4, 5)}}
	for range one(1, 2, 2, 3, 3, 3, 4, 4) {
		out := bytes(outs)
		st := engine.Stage{Forward: time.Duration(r.IntN(fwd + 1)), Back: time.Duration(r.IntN(back + 1)),
			Out: out, Saved: out + some(3, outs), Grad: bytes(grads), FwdTemp: some(3, temps), BwdTemp: some(3, temps)}
		if equal {
			st.Forward, st.Back = time.Duration(fwd), time.Duration(back)
		}
		c.Stages = append(c.Stages, st)
	}
	if r.IntN(4) == 0 {
		GiveUnsaved(r, c)
	}
	dev := Device(engine.Duplex(r.IntN(2)))
	if r.IntN(2) == 0 {
		rates := []engine.Rate{1e9, 5e8, 333_333_333, 2e9}
		dev.ToHost, dev.ToDev = rates[r.IntN(4)], rates[r.IntN(4)]
	}
	p = engine.NewChainProblem(c, dev, engine.Whole, 0)
	least, most := LeastTransfers(p), c.KeepAllPeak()
	if least >= most {
		return nil, false
	}
	return p.WithBudget(least + engine.Bytes(r.Int64N(int64(most-least)))), true
}

// LeastTransfers returns the smallest budget of any schedule on a chain that runs every operation once. The budget
// must have room for the inputs, outputs and temporaries of every operation, and for the values that are on the
// device when the step begins.
func LeastTransfers(p *engine.Problem) (least engine.Bytes) {
	g := p.Graph
	for _, v := range g.Values {
		if v.Initial&engine.OnDevice != 0 {
			least += v.Size
		}
	}
	servers, err := g.Servers()
	if err != nil {
		panic("enginetest: " + err.Error())
	}
	for i := range g.Ops {
		op := &g.Ops[i]
		sum, counted := op.Temp, map[engine.ValueID]bool{}
		for _, v := range slices.Concat(op.In, op.Out) {
			if v = servers[v]; !counted[v] {
				counted[v] = true
				sum += g.Values[v].Size
			}
		}
		least = max(least, sum)
	}
	return least + g.Fixed
}
