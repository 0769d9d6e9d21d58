package engine

import (
	"fmt"
	"time"
)

// InstructionKind is the kind of an instruction of a schedule.
type InstructionKind uint8

// The kinds of instructions.
const (
	DoRun     InstructionKind = iota // run Op on the compute lane
	DoFree                           // release the device copy of Value
	DoOffload                        // queue a copy of Value to the host; the device copy stays
	DoFetch                          // queue a copy of Value to the device
	DoWait                           // hold the counter until no transfer of Value is queued or running
)

// Instruction is one of a schedule. Use keyed literals.
type Instruction struct {
	Kind       InstructionKind
	Op         OpID    // of DoRun
	Value      ValueID // of every other kind
	OutputOnly bool    // the run writes Op.OutputOnly instead of Op.Out
	Alt        bool    // the run uses the time and the temporaries of Op.Alt
	// NotBefore is the earliest start of a transfer, counted from the start of the training step; 0: as soon as
	// possible. Fetches need it, because a fetch that is too early takes memory that the computations before it
	// need, and can deadlock (paper 000's Proposition 1 holds for computations and offloads only).
	NotBefore time.Duration
	// Reserve makes a fetch allocate when the counter reaches it, and hold the counter until there is memory. By
	// default a fetch allocates when the transfer starts. Programs that allocate the destination before they queue
	// the copy behave like Reserve (paper 004).
	Reserve bool
}

// Schedule is a program for the device: a counter walks the instructions in order. Run and Wait hold it until they
// have ended; the others take no time. The documentation of package sim defines exactly what a schedule means and
// when it is refused.
type Schedule []Instruction

// Run returns an instruction that runs op and writes all its outputs.
func Run(op OpID) Instruction { return Instruction{Kind: DoRun, Op: op, Value: NoValue} }

// RunOutputOnly returns an instruction that runs op and keeps only the output, not the saved activations.
func RunOutputOnly(op OpID) Instruction {
	return Instruction{Kind: DoRun, Op: op, Value: NoValue, OutputOnly: true}
}

// Free returns an instruction that releases the device copy of v.
func Free(v ValueID) Instruction { return Instruction{Kind: DoFree, Op: NoOp, Value: v} }

// Offload returns an instruction that queues a copy of v to the host.
func Offload(v ValueID) Instruction { return Instruction{Kind: DoOffload, Op: NoOp, Value: v} }

// Fetch returns an instruction that queues a copy of v to the device, which starts no earlier than notBefore after
// the start of the training step.
func Fetch(v ValueID, notBefore time.Duration) Instruction {
	return Instruction{Kind: DoFetch, Op: NoOp, Value: v, NotBefore: notBefore}
}

// Wait returns an instruction that holds the schedule until v's transfers have ended.
func Wait(v ValueID) Instruction { return Instruction{Kind: DoWait, Op: NoOp, Value: v} }

// Describe returns the instruction in words: "run F3", "fetch s2".
func (s Instruction) Describe(g *Graph) string {
	name := func() string {
		if !g.hasValue(s.Value) {
			return fmt.Sprintf("value %d", s.Value)
		}
		return g.Values[s.Value].Name
	}
	switch s.Kind {
	case DoRun:
		if s.Op < 0 || int(s.Op) >= len(g.Ops) {
			return fmt.Sprintf("run operation %d", s.Op)
		}
		what := "run " + g.Ops[s.Op].Name
		if s.OutputOnly {
			what += ", output only"
		}
		if s.Alt {
			what += ", second algorithm"
		}
		return what
	case DoFree:
		return "free " + name()
	case DoOffload:
		return "offload " + name()
	case DoFetch:
		return "fetch " + name()
	case DoWait:
		return "wait for " + name()
	}
	return fmt.Sprintf("step of unknown kind %d", s.Kind)
}

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

// CompileSequence turns a sequence of Table 1 into a schedule, and maps every step of it to the index of its
// operation in seq. It checks that every operation has its data. It returns a *SequenceError if data is missing, if
// data that is present is computed again, or if the sequence ends before delta^0. It does not check memory: that is
// for sim.
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
