// Package play predicts the memory and the time of a training step under a plan. A plan runs the unmodified model,
// but runs some of its module calls again, or moves their saved tensors to the host. (Package sim plays schedules,
// which run a model operation by operation and so need a modified model.)
//
// A Trace combines two runs of a step in PyTorch. In the first run autograd keeps nothing, so that the trace shows
// when Python releases each storage. The second run is the plain step, which shows when autograd packs, unpacks and
// releases each tensor that it keeps. A Player merges both under any plan. Its results are the same as those of the
// player in profiles/memtide_torch.py, to the byte.
package play

import (
	"slices"
	"strings"
	"time"

	"memtide/engine"
)

// Trace is one training step, operator by operator. Storages, operators, calls and keeps are numbered by their
// index in the lists. A trace is not changed after it is built.
type Trace struct {
	Name     string
	Inputs   []Input
	Autocast string // a type such as bfloat16; empty without autocast
	SHA      string // hash of the names of the forward's operators
	Modules  string // hash of the model's modules and of the shapes of their parameters; empty in older files
	// Warnings say why another step may take more than this one: it uses random numbers, or data may decide which
	// operators run.
	Warnings []string

	Storages []engine.Bytes // their sizes
	Resident []bool         // by storage: it exists before the step, and counts in no peak
	Roles    map[int]string // what storages are that exist before the step: weight, buffer, grad or input
	Ops      []Op
	Forward  int // the number of operators of the forward, which come first
	Calls    []Call
	Keeps    []Keep
	Units    []int   // the calls from which a plan chooses, in order
	Tied     []int   // indices of Units that must be in the same segment as the unit before
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
	Name  string
	New   []int // the storages that it makes
	In    []int // the storages that it reads
	Write []int // the storages that it changes in place
	Time  time.Duration
	Temp  engine.Bytes // workspace of its kernel
}

// Call is one call of a module.
type Call struct {
	Path    string // of the module, with #n for its n-th repetition in the step
	Class   string
	Op, End int // its operators are Op..End-1
	Args    []Arg
}

// Arg is a tensor among a call's arguments: its storage, and the calls that have returned the same tensor.
type Arg struct {
	Storage int
	Made    []int
}

// Keep is a tensor that autograd keeps: its storage, and the call during which autograd packs it, or -1.
type Keep struct{ Storage, Call int }

// Event is an event of the plain step.
type Event struct {
	Kind EventKind
	ID   int // an operator, a call, a storage or a keep, depending on Kind
}

// EventKind is the kind of an event.
type EventKind uint8

// The kinds of events.
const (
	EventOp       EventKind = iota // an operator runs
	EventEnter                     // a call begins
	EventLeave                     // a call ends
	EventFree                      // a storage is freed
	EventPack                      // autograd starts to keep a tensor
	EventUnpack                    // autograd needs a tensor that it keeps
	EventRelease                   // autograd releases a tensor that it keeps
	EventBackward                  // the backward begins
)

// Free is a storage of the forward, and the operator before which Python has released it.
type Free struct{ Storage, Op int }

// UnitNames returns the paths of the units.
func (t *Trace) UnitNames() []string {
	names := make([]string, len(t.Units))
	for i, c := range t.Units {
		names[i] = t.Calls[c].Path
	}
	return names
}

// Time returns the sum of all operators' times.
func (t *Trace) Time() (sum time.Duration) {
	for i := range t.Ops {
		sum += t.Ops[i].Time
	}
	return sum
}

// Worth returns the operators of units whose results may be kept while the other operators run again, the most time
// per byte first. It leaves out views, which hold no bytes, results that are written in place, and operators that
// draw random numbers, because operators that run again would draw other numbers.
func (t *Trace) Worth(units []string) []Saved {
	written, of := map[int]bool{}, map[string]bool{}
	for i := range t.Ops {
		for _, n := range t.Ops[i].Write {
			written[n] = true
		}
	}
	for _, u := range units {
		of[u] = true
	}
	type result struct {
		saved Saved
		time  uint64
		bytes engine.Bytes
	}
	var found []result
	counts, random, attentions := map[string]int{}, false, 0
	for _, c := range t.Calls {
		for i := c.Op; i < c.End && of[c.Path]; i++ {
			op := &t.Ops[i]
			counts[op.Name]++
			r := result{Saved{op.Name, counts[op.Name] - 1}, uint64(op.Time), 0}
			for _, n := range op.New {
				r.bytes += t.Storages[n]
			}
			random = random || draws(op.Name)
			if attends(op.Name) {
				attentions++
			}
			if r.bytes > 0 && !draws(op.Name) && !slices.ContainsFunc(op.New, func(n int) bool { return written[n] }) {
				found = append(found, r)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b result) int {
		return engine.CompareRatios(b.time, uint64(b.bytes), a.time, uint64(a.bytes))
	})
	var out []Saved
	for _, r := range found {
		if !attends(r.saved.Op) || !random && attentions == 1 {
			out = append(out, r.saved)
		}
	}
	return out
}

// draws reports whether an operator draws random numbers.
func draws(name string) bool {
	return slices.ContainsFunc([]string{"rand", "bernoulli", "dropout", "normal_", "uniform", "exponential",
		"multinomial", "poisson"}, func(word string) bool { return strings.Contains(name, word) })
}

// attends reports whether an operator is an attention, which may draw random numbers for its dropout.
func attends(name string) bool { return strings.Contains(name, "attention") }
