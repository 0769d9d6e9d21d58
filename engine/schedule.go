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
