package remat

import (
	"time"

	"memtide/engine"
)

// Paper002 cites a section of the paper on optimal recomputation.
func Paper002(section string) engine.Cite {
	return engine.Cite{
		Text:    "Beaumont, Eyraud-Dubois, Herrmann, Joly, Shilova: Optimal Re-Materialization Strategies for Heterogeneous Chains",
		ID:      "arXiv:1911.13214",
		Section: section,
	}
}

// sublinear cites a section of the paper on checkpoints of segments.
func sublinear(section string) engine.Cite {
	return engine.Cite{Text: "Chen, Xu, Zhang, Guestrin: Training Deep Nets with Sublinear Memory Cost",
		ID: "arXiv:1604.06174", Section: section}
}

// Memory tracks what is on the device between the operations of a sequence of Table 1, resident memory included.
type Memory struct {
	c     *engine.Chain
	held  engine.Bytes
	alone []bool // by k: a^k is on the device as a value of its own
	saved []bool // by k: abar^k is on the device
	grad  int    // k of the only delta^k on the device

	peak engine.Bytes   // peak of the operations so far
	most engine.ChainOp // the first operation that needs the peak
}

// NewMemory returns the memory before the first operation of a step.
func NewMemory(c *engine.Chain) *Memory {
	n := c.Len()
	m := &Memory{c: c, held: c.Resident.Total() + c.Input + c.HeldGrad(n), alone: make([]bool, n+1),
		saved: make([]bool, n+1), grad: n}
	m.alone[0] = true
	m.peak = m.held
	return m
}

func (m *Memory) drop(k int) {
	if m.alone[k] {
		m.held -= m.c.Act(k)
		m.alone[k] = false
	}
}

// Run runs the next operation of a valid sequence. It returns the need of the operation: all that
// is on the device while it runs, with its outputs and temporaries.
func (m *Memory) Run(op engine.ChainOp) (need engine.Bytes) {
	c, k := m.c, op.Stage
	st := &c.Stages[k-1]
	switch op.Kind {
	case engine.FAll:
		need = m.held + st.Saved + c.Beside(k) + st.FwdTemp
		m.held += st.Saved
		m.drop(k) // merged into abar^k, or an older copy
		m.saved[k] = true
		if c.Unsaved(k) && m.grad != k && !m.saved[k+1] {
			m.held += st.Out
			m.alone[k] = true
		}
		if c.Unsaved(k - 1) {
			m.drop(k - 1)
		}
	case engine.FCk, engine.FNone:
		need = m.held + st.Out + st.FwdTemp
		m.held += st.Out
		m.alone[k] = true
		if op.Kind == engine.FNone {
			m.drop(k - 1)
		}
	case engine.BStep:
		m.held += c.Grad(k) - c.HeldGrad(k) // the gradient of the loss, if the last backward allocates it
		need = m.held + c.Grad(k-1) + st.BwdTemp
		m.held += c.Grad(k-1) - c.Grad(k) - st.Saved
		m.drop(k - 1)
		m.grad, m.saved[k] = k-1, false
	}
	if need > m.peak || m.most.Stage == 0 {
		m.peak, m.most = need, op
	}
	return need
}

// Replay returns the time and the peak of a valid sequence of Table 1, or of the beginning of one.
func Replay(c *engine.Chain, seq []engine.ChainOp) (total time.Duration, peak engine.Bytes) {
	m := NewMemory(c)
	for _, op := range seq {
		m.Run(op)
		if op.Kind == engine.BStep {
			total += c.Stages[op.Stage-1].Back
		} else {
			total += c.Stages[op.Stage-1].Forward
		}
	}
	return total, m.peak
}

// solution compiles a sequence, and claims the time and the peak that Replay returns.
func solution(p *engine.Problem, seq []engine.ChainOp) *engine.Solution {
	schedule, _, err := p.Chain.CompileSequence(seq)
	if err != nil {
		panic("remat: the sequence is not valid: " + err.Error())
	}
	total, peak := Replay(p.Chain.Chain, seq)
	return &engine.Solution{Schedule: schedule, Makespan: total, Peak: peak}
}

// needs returns, in words, which operation of a sequence needs its peak: the first one that does.
func needs(g *engine.ChainGraph, seq []engine.ChainOp) string {
	m := NewMemory(g.Chain)
	for _, op := range seq {
		m.Run(op)
	}
	return g.Needs(m.most, m.peak)
}
