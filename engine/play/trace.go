// Package play predicts what a training step takes under a plan. A plan runs the
// unmodified model, and has some of its module calls run again or their saved tensors
// moved to the host; package sim plays schedules of a graph that is run operation by
// operation, which no unmodified model is.
//
// A Trace is a step as PyTorch has run it, twice: once with nothing kept by autograd,
// which says when Python lets go of each storage, and once as it is, which says when
// each kept tensor is packed, asked for and released. The player merges both under any
// plan. It is the same as the player of profiles/memtide_torch.py, to the byte.
package play

import (
	"time"

	"memtide/engine"
)

// Trace is one training step, operator by operator. Numbers of storages, operators,
// calls and keeps are positions in their lists. It is not changed after it is built.
type Trace struct {
	Name     string
	Inputs   []Input
	Autocast string // type, such as bfloat16; empty: none
	SHA      string // of the names of the forward's operators
	Modules  string // hash of the model's modules and of the shapes of their parameters; empty in older files
	// Warnings are why another step may take more than this one: random numbers or data
	// that may have decided what it does.
	Warnings []string

	Storages []engine.Bytes
	Resident []bool // of each storage: there before the step, and not part of any peak
	Ops      []Op
	Forward  int // the number of operators of the forward, which come first
	Calls    []Call
	Keeps    []Keep
	Units    []int   // calls that a plan chooses from, in order
	Tied     []int   // places in Units that have to go with the one before
	Events   []Event // in order; EventBackward once
	Frees    []Free  // of the forward's storages, by storage
}

// Input is a tensor among the arguments of the model.
type Input struct {
	Name  string
	Shape []int64
	DType string
}

// Op is one operator.
type Op struct {
	Name string
	New  []int // storages that it makes
	In   []int // storages that it reads
	// Write are storages that it changes in place.
	Write []int
	Time  time.Duration
	Temp  engine.Bytes // of its kernel, beside what it makes
}

// Call is one call of a module.
type Call struct {
	Path    string // with #n for its n-th repetition in the step
	Class   string
	Op, End int // its operators are Op..End-1
	Args    []Arg
}

// Arg is a tensor among a call's arguments: its storage, and the calls that have
// returned this very tensor.
type Arg struct {
	Storage int
	Made    []int
}

// Keep is a tensor that autograd keeps: its storage, and the call that it is kept in
// (-1: none).
type Keep struct{ Storage, Call int }

// Event is something that happened in the full trace.
type Event struct {
	Kind EventKind
	ID   int // an operator, a call, a storage or a keep
}

// EventKind says what.
type EventKind uint8

// The kinds of events.
const (
	EventOp       EventKind = iota // an operator runs
	EventEnter                     // a call begins
	EventLeave                     // a call ends
	EventFree                      // a storage is gone
	EventPack                      // autograd keeps
	EventUnpack                    // autograd asks for what it keeps
	EventRelease                   // autograd lets go
	EventBackward                  // the backward begins
)

// Free is a storage of the forward, and the operator before which Python has let go of
// it.
type Free struct{ Storage, Op int }

// UnitNames returns the paths of the units.
func (t *Trace) UnitNames() []string {
	names := make([]string, len(t.Units))
	for i, c := range t.Units {
		names[i] = t.Calls[c].Path
	}
	return names
}

// Split returns the place of the backward's beginning in Events.
func (t *Trace) Split() int {
	for i, e := range t.Events {
		if e.Kind == EventBackward {
			return i
		}
	}
	return len(t.Events)
}

// Time returns the sum of all operators' times.
func (t *Trace) Time() (sum time.Duration) {
	for i := range t.Ops {
		sum += t.Ops[i].Time
	}
	return sum
}
