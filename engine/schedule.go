package engine

import (
	"fmt"
	"time"
)

// StepKind is the kind of a step of a schedule.
type StepKind uint8

// The kinds of steps.
const (
	StepRun     StepKind = iota // run Op on the compute lane
	StepFree                    // release the device copy of Value
	StepOffload                 // queue a copy of Value to the host; the device copy stays
	StepFetch                   // queue a copy of Value to the device
	StepWait                    // hold the counter until no transfer of Value is queued or running
)

// Step is one step of a schedule. Use keyed literals.
type Step struct {
	Kind       StepKind
	Op         OpID    // of StepRun
	Value      ValueID // of every other kind
	OutputOnly bool    // the run writes Op.OutputOnly instead of Op.Out
	Alt        bool    // the run uses the time and the temporaries of Op.Alt
	// NotBefore is the earliest start of a transfer, counted from the start of the training step; 0: as soon as
	// possible. Fetches need it: a fetch that is too early takes memory that the computations before it need, and
	// can deadlock (paper 000's Proposition 1 holds for computations and offloads only).
	NotBefore time.Duration
	// Reserve makes a fetch allocate when the counter reaches it, and hold the counter until there is memory,
	// instead of when the transfer starts: what a program does that allocates the destination before it queues the
	// copy (paper 004).
	Reserve bool
}

// Schedule is a program for the device: a counter walks the steps in order. Run and Wait hold it until they have
// ended; the other steps take no time. The documentation of package sim defines exactly what a schedule means and
// when it is refused.
type Schedule []Step

// Run returns a step that runs op and writes all its outputs.
func Run(op OpID) Step { return Step{Kind: StepRun, Op: op, Value: NoValue} }

// RunOutputOnly returns a step that runs op and keeps only the output, not the saved activations.
func RunOutputOnly(op OpID) Step {
	return Step{Kind: StepRun, Op: op, Value: NoValue, OutputOnly: true}
}

// Free returns a step that releases the device copy of v.
func Free(v ValueID) Step { return Step{Kind: StepFree, Op: NoOp, Value: v} }

// Offload returns a step that queues a copy of v to the host.
func Offload(v ValueID) Step { return Step{Kind: StepOffload, Op: NoOp, Value: v} }

// Fetch returns a step that queues a copy of v to the device, which starts no earlier than notBefore after the
// start of the training step.
func Fetch(v ValueID, notBefore time.Duration) Step {
	return Step{Kind: StepFetch, Op: NoOp, Value: v, NotBefore: notBefore}
}

// Wait returns a step that holds the schedule until v's transfers have ended.
func Wait(v ValueID) Step { return Step{Kind: StepWait, Op: NoOp, Value: v} }

// Describe returns the step in words: "run F3", "fetch s2".
func (s Step) Describe(g *Graph) string {
	name := func() string {
		if !g.hasValue(s.Value) {
			return fmt.Sprintf("value %d", s.Value)
		}
		return g.Values[s.Value].Name
	}
	switch s.Kind {
	case StepRun:
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
	case StepFree:
		return "free " + name()
	case StepOffload:
		return "offload " + name()
	case StepFetch:
		return "fetch " + name()
	case StepWait:
		return "wait for " + name()
	}
	return fmt.Sprintf("step of unknown kind %d", s.Kind)
}
