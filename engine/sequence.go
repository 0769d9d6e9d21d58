package engine

import "fmt"

// ChainOpKind is one of the four operations of paper 002's Table 1.
type ChainOpKind uint8

// The operations, with their symbols in the paper.
const (
	FAll  ChainOpKind = iota // F_all: forward that keeps the saved activations
	FCk                      // F_ck: forward that keeps its input and its output
	FNone                    // F_none: forward that keeps only its output
	BStep                    // B
)

// ChainOp is an operation on a stage.
type ChainOp struct {
	Kind  ChainOpKind
	Stage int
}

func (o ChainOp) String() string {
	return [...]string{"Fall", "Fck", "Fn", "B"}[o.Kind] + fmt.Sprint(o.Stage)
}

// SequenceError says which operation of a sequence breaks Table 1.
type SequenceError struct {
	Index int // of the operation; the length of the sequence if it ends too early
	Why   string
}

func (e *SequenceError) Error() string { return fmt.Sprintf("operation %d: %s", e.Index, e.Why) }

// CompileSequence turns a sequence of Table 1 into a schedule, and maps every step of it to the index of its operation
// in seq. It checks that every operation has its data. It returns a *SequenceError if data is missing, if data that is
// present is computed again, or if the sequence ends before delta^0. It does not check memory: that is for sim.
//
// Table 1 has no outputs that are Unsaved (Stage.Unsaved). For these, F_all^k leaves a^k beside abar^k. F_all^{k+1}
// consumes it, because it is the last forward of its stage and B^{k+1} does not need it. An a^k that F_all^k makes
// while abar^{k+1} or delta^k is there has no reader and is freed at once.
func (g *ChainGraph) CompileSequence(seq []ChainOp) (Schedule, []int, error) {
	n := g.Chain.Len()
	c := seqCompiler{g: g, hasAct: make([]bool, n+1), hasSaved: make([]bool, n+1), grad: n}
	c.hasAct[0] = true
	for i, op := range seq {
		if op.Stage < 1 || op.Stage > n {
			return nil, nil, &SequenceError{i, fmt.Sprintf("stage %d does not exist", op.Stage)}
		}
		why := c.add(op)
		if why != "" {
			return nil, nil, &SequenceError{i, fmt.Sprintf("%v: %s", op, why)}
		}
		for len(c.owner) < len(c.out) {
			c.owner = append(c.owner, i)
		}
	}
	if c.grad != 0 {
		return nil, nil, &SequenceError{len(seq), fmt.Sprintf("the sequence ends at delta^%d, before delta^0", c.grad)}
	}
	return c.out, c.owner, nil
}

type seqCompiler struct {
	g        *ChainGraph
	out      Schedule
	owner    []int
	hasAct   []bool // a^k is on the device as a value of its own
	hasSaved []bool // abar^k is on the device
	grad     int    // k of the only delta^k on the device
}

func (c *seqCompiler) add(op ChainOp) string {
	k := op.Stage
	haveIn := c.hasAct[k-1] || c.hasSaved[k-1] && !c.unsaved(k-1)
	switch op.Kind {
	case FAll:
		if !haveIn {
			return "its input is not on the device"
		}
		if c.hasSaved[k] {
			return "its saved set is on the device already"
		}
		c.out = append(c.out, Run(c.g.Fwd(k)))
		c.hasSaved[k], c.hasAct[k] = true, c.unsaved(k) // a separate a^k is merged
		if c.unsaved(k - 1) {
			c.free(c.g.Act(k-1), c.hasAct, k-1)
		}
		if c.unsaved(k) && (c.grad == k || c.hasSaved[k+1]) {
			c.free(c.g.Act(k), c.hasAct, k)
		}
	case FCk, FNone:
		// abar^{k-1} alone does not serve F_none, which consumes a^{k-1}.
		if op.Kind == FNone && !c.hasAct[k-1] || !haveIn {
			return "its input is not on the device"
		}
		if c.hasAct[k] || c.hasSaved[k] {
			return "its output is on the device already"
		}
		c.out = append(c.out, RunOutputOnly(c.g.Fwd(k)))
		c.hasAct[k] = true
		if op.Kind == FNone {
			c.free(c.g.Act(k-1), c.hasAct, k-1)
		}
	case BStep:
		if c.grad != k {
			return fmt.Sprintf("the gradient on the device is delta^%d", c.grad)
		}
		if !haveIn && !c.unsaved(k-1) || !c.hasSaved[k] {
			return "its input or its saved set is not on the device"
		}
		c.out = append(c.out, Run(c.g.Bwd(k)), Free(c.g.Grad(k)))
		c.free(c.g.Saved(k), c.hasSaved, k)
		if c.hasAct[k-1] {
			c.free(c.g.Act(k-1), c.hasAct, k-1)
		}
		c.grad = k - 1
	}
	return ""
}

func (c *seqCompiler) unsaved(k int) bool { return c.g.Chain.Unsaved(k) }

func (c *seqCompiler) free(v ValueID, has []bool, k int) {
	c.out = append(c.out, Free(v))
	has[k] = false
}
