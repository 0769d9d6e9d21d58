package engine

import (
	"fmt"
	"slices"
	"time"
)

// MaxStages is the length of the longest chain that is read. Longer input is refused, because the exact methods
// need tables of the square of the length.
const MaxStages = 20_000

// OptimizerKind is the kind of a first stage whose forward does nothing and whose backward is the optimizer's step.
const OptimizerKind = "optimizer"

// Stage is one stage of a chain: a layer, or several that are taken as one, with its forward and its backward
// operation. Times are those of one run on the device, and 0 is allowed everywhere. The letters in brackets are the
// symbols of Beaumont et al., "Optimal checkpointing for heterogeneous chains: how to train deep neural networks
// with limited memory" (arXiv:1911.13214, section 3).
type Stage struct {
	Name    string
	Kind    string        // what the stage computes (conv, pool, fc, act, ...); empty if unknown
	Forward time.Duration // [uF]
	Back    time.Duration // [uB]
	Out     Bytes         // [a] output of the forward
	Saved   Bytes         // [abar] saved activations, for the backward: Out (unless Unsaved) and more, not the input
	Grad    Bytes         // [|delta|] gradient of Out
	FwdTemp Bytes         // [oF] used only while the forward runs, besides its input, Out and Saved
	// [oB] used only while the backward runs, besides what it reads and the gradient that it writes
	BwdTemp Bytes

	// What a framework does within the stage, which no strategy chooses. Forward and Back include it; pictures show it.
	Again  time.Duration // part of Back in which results of the forward are computed again
	Away   Bytes         // moved to the host in the forward, and back in the backward
	Asides [2]Aside      // beside the forward and beside the backward

	// Unsaved says that no backward reads Out, neither the stage's own nor the next one's. Autograd does not save
	// such an output, and plain training frees it once the next forward has read it. It is stored beside Saved, not
	// as a part of it. The papers have no such outputs. The last stage cannot be Unsaved: its output is the result
	// of the step.
	Unsaved bool

	// Fast is a second algorithm for the stage, usually faster and with more workspace, or nil if there is only
	// one. Both save the same activations. The strategies vdnn, vdnnpp and the search methods for graphs choose
	// between the two for every run. All others use the algorithm in the fields above, and their optimality claims
	// say so (Graph.FirstWays).
	Fast *Algorithm
}

// Aside says for how long each lane other than compute is busy during a pass of a stage.
type Aside struct {
	ToHost, ToDev, Network, CPU time.Duration
	Stall                       time.Duration // part of the pass in which the stage waits for these lanes
}

// Algorithm is a way to compute a stage. Paper 003 (Shriram, Garg and Kulkarni, doi 10.1109/IPDPS.2019.00030, section
// II-B) has two for convolutions: memory optimal (m), the fields of Stage, and performance optimal (p), Stage.Fast.
type Algorithm struct {
	Forward time.Duration `json:"forward_ns"`          // [uF]
	Back    time.Duration `json:"backward_ns"`         // [uB]
	FwdTemp Bytes         `json:"forward_temp_bytes"`  // [oF]
	BwdTemp Bytes         `json:"backward_temp_bytes"` // [oB]
}

// Chain is a network whose stages follow each other: the forward of stage k reads the output of stage k-1 and
// nothing else. Stages are numbered 1..n, so Stages[k-1] is stage k. The last one is the loss, unless
// LossGradAllocated. A chain must not be changed after a problem was made of it.
type Chain struct {
	Name      string
	Batch     int   // samples per step; 0 if unknown
	Input     Bytes // [a^0] the network's input
	InputGrad Bytes // [|delta^0|] gradient of the input
	Stages    []Stage
	Resident  Resident

	// LossGradAllocated says when delta^n, the gradient of the last output, is allocated. If false, it is on the
	// device when the step begins, as in papers 001 and 002, whose last stage is an explicit loss. If true, the
	// last backward allocates it when it starts, as in papers 000 and 003, which have no loss stage.
	LossGradAllocated bool
}

// Resident is the device memory that stays for the whole step, in bytes: part of every budget and every peak, and
// never moved.
type Resident struct {
	Weights   Bytes `json:"weights_bytes"`
	Grads     Bytes `json:"grads_bytes"`
	Optimizer Bytes `json:"optimizer_bytes"`
	Pinned    Bytes `json:"pinned_bytes"` // anything else that never leaves: masks, buffers, workspaces
}

// Total returns the sum of all resident memory.
func (r Resident) Total() Bytes { return r.Weights + r.Grads + r.Optimizer + r.Pinned }

// Len returns the number of stages, the loss included [n = L+1].
func (c *Chain) Len() int { return len(c.Stages) }

// States returns the memory that no schedule does without: what stays for the whole step and, if the first stage is the
// optimizer, what is there beside that while it runs, gradients above all.
func (c *Chain) States() Bytes {
	states := c.Resident.Total()
	if len(c.Stages) > 0 && c.Stages[0].Kind == OptimizerKind {
		states += c.Stages[0].BwdTemp
	}
	return states
}

// Layers returns the number of stages without the loss [L]. A chain with LossGradAllocated has no loss stage.
func (c *Chain) Layers() int {
	if c.LossGradAllocated {
		return c.Len()
	}
	return c.Len() - 1
}

// Describe returns the number of stages in words: "39 layers and the loss".
func (c *Chain) Describe() string {
	n, loss := c.Layers(), ""
	if n < c.Len() {
		loss = " and the loss"
	}
	if n == 1 {
		return "1 layer" + loss
	}
	return fmt.Sprintf("%d layers%s", n, loss)
}

// Act returns the size of a^k, for k = 0..n.
func (c *Chain) Act(k int) Bytes {
	if k == 0 {
		return c.Input
	}
	return c.Stages[k-1].Out
}

// Saved returns the size of abar^k, for k = 1..n.
func (c *Chain) Saved(k int) Bytes { return c.Stages[k-1].Saved }

// Unsaved reports whether no backward needs a^k, for k = 0..n (see Stage.Unsaved).
func (c *Chain) Unsaved(k int) bool { return k > 0 && c.Stages[k-1].Unsaved }

// HasUnsaved reports whether the output of any stage is Unsaved.
func (c *Chain) HasUnsaved() bool {
	return slices.ContainsFunc(c.Stages, func(st Stage) bool { return st.Unsaved })
}

// Beside returns the bytes that a^k takes in addition to abar^k, for k = 0..n: its whole size if it is unsaved, 0
// otherwise.
func (c *Chain) Beside(k int) Bytes {
	if c.Unsaved(k) {
		return c.Stages[k-1].Out
	}
	return 0
}

// Grad returns the size of delta^k, for k = 0..n.
func (c *Chain) Grad(k int) Bytes {
	if k == 0 {
		return c.InputGrad
	}
	return c.Stages[k-1].Grad
}

// HeldGrad returns the part of delta^k that is on the device before the backward of stage k starts: all of it, or 0
// for delta^n with LossGradAllocated.
func (c *Chain) HeldGrad(k int) Bytes {
	if k == c.Len() && c.LossGradAllocated {
		return 0
	}
	return c.Grad(k)
}

// ForwardTime returns the sum of all forward times.
func (c *Chain) ForwardTime() (sum time.Duration) {
	for i := range c.Stages {
		sum += c.Stages[i].Forward
	}
	return sum
}

// BackTime returns the sum of all backward times.
func (c *Chain) BackTime() (sum time.Duration) {
	for i := range c.Stages {
		sum += c.Stages[i].Back
	}
	return sum
}

// KeepAllPeak returns the peak of a step that keeps all saved activations, resident memory included. The page shows
// it as 100 % of keep-everything. Unsaved outputs are freed once they have been read.
func (c *Chain) KeepAllPeak() Bytes {
	n := c.Len()
	held := c.Input + c.HeldGrad(n)
	peak := held
	for k := 1; k <= n; k++ {
		st := &c.Stages[k-1]
		peak = max(peak, held+st.Saved+c.Beside(k)+st.FwdTemp)
		held += st.Saved + c.Beside(k) - c.Beside(k-1)
	}
	held += c.Grad(n) - c.HeldGrad(n)
	for k := n; k >= 1; k-- {
		st := &c.Stages[k-1]
		peak = max(peak, held+c.Grad(k-1)+st.BwdTemp)
		held += c.Grad(k-1) - st.Grad - st.Saved
	}
	return peak + c.Resident.Total()
}

// Validate reports the first inconsistency of the chain: a negative number, sizes that contradict each other, or an
// error that wraps ErrRange. Everything else in this package expects a valid chain.
func (c *Chain) Validate() error {
	if len(c.Stages) == 0 {
		return fmt.Errorf("the chain has no stages; at least one is needed")
	}
	if len(c.Stages) > MaxStages {
		return fmt.Errorf("the chain has %d stages; at most %d are read", len(c.Stages), MaxStages)
	}
	if c.Input < 0 || c.InputGrad < 0 {
		return fmt.Errorf("the input is %d bytes and its gradient %d; sizes cannot be negative", c.Input, c.InputGrad)
	}
	if r := c.Resident; r.Weights < 0 || r.Grads < 0 || r.Optimizer < 0 || r.Pinned < 0 {
		return fmt.Errorf("resident memory is negative; sizes cannot be negative")
	}
	for i := range c.Stages {
		s := &c.Stages[i]
		switch {
		case s.Forward < 0 || s.Back < 0:
			return fmt.Errorf("stage %d (%s): forward %v, backward %v; times cannot be negative", i+1, s.Name,
				s.Forward, s.Back)
		case s.Out < 0 || s.Saved < 0 || s.Grad < 0 || s.FwdTemp < 0 || s.BwdTemp < 0:
			return fmt.Errorf("stage %d (%s): a size is negative; sizes cannot be negative", i+1, s.Name)
		case s.Fast != nil && (s.Fast.Forward < 0 || s.Fast.Back < 0 || s.Fast.FwdTemp < 0 || s.Fast.BwdTemp < 0):
			return fmt.Errorf("stage %d (%s): a time or size of the second algorithm is negative; times and sizes cannot be negative", i+1, s.Name)
		case s.Unsaved && i == len(c.Stages)-1:
			return fmt.Errorf("stage %d (%s): the output of the last stage is marked as unsaved; it is the result of the step and has to stay", i+1, s.Name)
		case s.Saved < s.Out && !s.Unsaved:
			return fmt.Errorf("stage %d (%s): the saved set is %d bytes but contains the output of %d bytes", i+1,
				s.Name, s.Saved, s.Out)
		}
	}
	return c.extent().check()
}

// extent adds up all sizes and times of the chain.
func (c *Chain) extent() *extent {
	e := &extent{}
	e.size(c.Input, "the input", -1, "")
	e.size(c.InputGrad, "the gradient of the input", -1, "")
	e.size(c.Resident.Weights, "the weights", -1, "")
	e.size(c.Resident.Grads, "the gradients of the weights", -1, "")
	e.size(c.Resident.Optimizer, "the optimizer", -1, "")
	e.size(c.Resident.Pinned, "what else is resident", -1, "")
	for i := range c.Stages {
		s := &c.Stages[i]
		e.size(s.Out, "the output of stage", i+1, s.Name)
		e.size(s.Saved, "the saved set of stage", i+1, s.Name)
		e.size(s.Grad, "the gradient of stage", i+1, s.Name)
		e.size(s.FwdTemp, "the forward workspace of stage", i+1, s.Name)
		e.size(s.BwdTemp, "the backward workspace of stage", i+1, s.Name)
		e.time(s.Forward, "the forward of stage", i+1, s.Name)
		e.time(s.Back, "the backward of stage", i+1, s.Name)
		if f := s.Fast; f != nil {
			e.size(f.FwdTemp, "the workspace of the second forward algorithm of stage", i+1, s.Name)
			e.size(f.BwdTemp, "the workspace of the second backward algorithm of stage", i+1, s.Name)
			e.time(f.Forward, "the second forward algorithm of stage", i+1, s.Name)
			e.time(f.Back, "the second backward algorithm of stage", i+1, s.Name)
		}
	}
	return e
}
