// Package chainify makes a chain of stages, and a graph of one training step, from the operators of a forward pass.
//
// A node can end a stage if every other operator is before or after it, and no edge jumps over it: then its output is
// the only tensor alive between the two sides. In any topological order these are exactly the nodes that no edge jumps
// over, among the nodes on a path from the main source to the main sink. One pass finds them. The operators between two
// ends are one stage (a virtual stage in the words of Beaumont et al., arXiv:1911.13214). An output that its reader
// overwrites or only renames cannot end a stage: keeping it would not keep its value.
//
// Nodes off the main paths join a stage. Those that depend on other inputs join the stage that
// first uses them; side heads join the stage that they branch from.
//
// The package knows no file format. A reader of operators describes each node by an Operator.
package chainify

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/profiles"
)

// Operator is a node of the forward graph.
type Operator struct {
	Name    string
	Kind    string // class of the operator, for names of stages: Conv2d
	Family  string // conv, fc, pool, norm, act, ...; becomes Stage.Kind
	Forward time.Duration
	Back    time.Duration
	Out     engine.Bytes // all outputs together
	Weights engine.Bytes
	Aux     engine.Bytes // saved for the backward besides inputs and outputs, such as masks and indices
	Traits  Traits
	Preds   []int
}

// Traits describe what an operator does with memory in PyTorch's autograd.
type Traits uint16

const (
	IsInput    Traits = 1 << iota // brings data in; its time does not count
	IsShape                       // reads only the shape of its input
	IsView                        // its output shares the memory of its input
	InPlace                       // overwrites an input
	SavesIn                       // its backward needs its inputs
	SavesOut                      // its backward needs its output
	PassesGrad                    // its backward hands gradients on without copying
	Inside                        // no stage ends here: the reader has larger stages
	Guessed                       // its kind is unknown: it may save anything
)

// Is reports whether the operator has a trait.
func (o *Operator) Is(t Traits) bool { return o.Traits&t != 0 }

// Result is a chain that was made from operators.
type Result struct {
	Stages  []engine.Stage
	Input   engine.Bytes
	Pinned  engine.Bytes // constants with many readers, which stay for the whole step
	Weights engine.Bytes
	Graph   *engine.Graph // one step of the same operators
	Notes   []string      // assumptions, for people
}

// Errors for graphs from which no chain can be made.
var (
	errCycle    = errors.New("the operators form a cycle")
	errNoPath   = errors.New("no path of operators leads from the input to the output")
	errNoStages = errors.New("no output can end a stage")
)

// linearizer holds the state that the steps of Linearize share. Nodes are in topological order:
// every edge leads to a higher number.
type linearizer struct {
	ops    []Operator
	succs  [][]int
	role   []nodeRole
	root   []int // node that allocated the storage of the node's output; see findStorages
	size   []engine.Bytes
	kept   []bool // the storage with this root is saved for the backward
	ends   []int  // nodes that end a stage, ascending
	stage  []int  // index of the node's stage; -1 for inputs and constants
	poll   *engine.Poll
	result Result
}

// nodeRole is the part that a node has in the chain.
type nodeRole uint8

const (
	onPath   nodeRole = iota
	dataIn            // an input; not part of a stage
	constant          // kept for the whole step; not part of a stage
	late              // depends only on secondary inputs
	side              // does not lead to the main output
)

// Linearize makes a chain from operators in any order, whose Preds are indices of ops. Its
// errors are errCycle, errNoPath, errNoStages or the poll's.
func Linearize(ops []Operator, poll *engine.Poll) (*Result, error) {
	return profiles.Try(func() *Result {
		l := &linearizer{ops: dropDeadViews(sortOperators(ops, poll)), poll: poll}
		l.succs = successors(l.ops)
		l.role = make([]nodeRole, len(l.ops))
		l.findInputs()
		l.findPaths()
		l.findStorages()
		l.findEnds()
		l.assignStages()
		l.buildStages()
		l.result.Graph = l.graph()
		return &l.result
	})
}

func successors(ops []Operator) [][]int {
	succs := make([][]int, len(ops))
	for i := range ops {
		for _, p := range ops[i].Preds {
			succs[p] = append(succs[p], i)
		}
	}
	return succs
}

// sortOperators puts the operators into topological order. Of several that are ready, the first in ops comes first.
func sortOperators(ops []Operator, poll *engine.Poll) []Operator {
	succs := successors(ops)
	missing := make([]int, len(ops))
	var ready []int // sorted
	for i := range ops {
		if missing[i] = len(ops[i].Preds); missing[i] == 0 {
			ready = append(ready, i)
		}
	}
	place := make([]int, len(ops))
	var sorted []Operator
	for len(ready) > 0 {
		profiles.End(poll.Err())
		i := ready[0]
		ready = ready[1:]
		place[i] = len(sorted)
		sorted = append(sorted, ops[i])
		for _, s := range succs[i] {
			if missing[s]--; missing[s] == 0 {
				at, _ := slices.BinarySearch(ready, s)
				ready = slices.Insert(ready, at, s)
			}
		}
	}
	if len(sorted) < len(ops) {
		profiles.End(errCycle)
	}
	for i := range sorted {
		sorted[i].Preds = renumber(sorted[i].Preds, place)
	}
	return sorted
}

// renumber maps preds to their places, and drops those with a negative place.
func renumber(preds, place []int) (mapped []int) {
	for _, p := range preds {
		if place[p] >= 0 {
			mapped = append(mapped, place[p])
		}
	}
	return mapped
}

// dropDeadViews removes views and shapes that have no reader, such as the hidden state of an
// LSTM. The last operator stays.
func dropDeadViews(ops []Operator) []Operator {
	readers := make([]int, len(ops))
	for i := range ops {
		for _, p := range ops[i].Preds {
			readers[p]++
		}
	}
	place := make([]int, len(ops))
	for i := len(ops) - 2; i >= 0; i-- {
		if readers[i] == 0 && ops[i].Is(IsView|IsShape) && ops[i].Forward == 0 {
			place[i] = -1
			for _, p := range ops[i].Preds {
				readers[p]--
			}
		}
	}
	var alive []Operator
	for i := range ops {
		if place[i] == 0 {
			place[i] = len(alive)
			alive = append(alive, ops[i])
		}
	}
	for i := range alive {
		alive[i].Preds = renumber(alive[i].Preds, place)
	}
	return alive
}

// findInputs sets the role of inputs and constants.
func (l *linearizer) findInputs() {
	first := -1
	for i := range l.ops {
		o := &l.ops[i]
		if len(o.Preds) > 0 {
			if l.isConstant(i) {
				l.role[i] = constant
				l.result.Pinned += o.Out
				l.note("%s (%s) is a constant with %d readers: it stays for the whole step.",
					profiles.Clip(o.Name), profiles.Clip(o.Kind), len(l.succs[i]))
			}
			continue
		}
		if first < 0 {
			first = i
		}
		if o.Is(IsInput) || o.Out == 0 && o.Forward == 0 {
			l.role[i] = dataIn
			l.result.Input += o.Out
		}
	}
	if !slices.Contains(l.role, dataIn) && first >= 0 {
		l.role[first] = dataIn
		l.result.Input = l.ops[first].Out
	}
}

// isConstant reports whether a node looks like a mask: it has at least three readers, at most
// four nodes before it, and no gradient.
func (l *linearizer) isConstant(i int) bool {
	const mostBefore, leastReaders = 4, 3
	if len(l.succs[i]) < leastReaders || l.ops[i].Back > 0 {
		return false
	}
	before := []int{i}
	for at := 0; at < len(before); at++ {
		for _, p := range l.ops[before[at]].Preds {
			if l.ops[p].Back > 0 {
				return false
			}
			if !slices.Contains(before, p) {
				before = append(before, p)
			}
			if len(before) > mostBefore+1 {
				return false
			}
		}
	}
	return true
}

// findPaths finds the main output and the main input, and sets the role of the nodes that are
// not on a path between them.
func (l *linearizer) findPaths() {
	sink, sinks := l.mainSink()
	before := l.reach(sink, func(i int) []int { return l.ops[i].Preds })
	source := l.mainSource(before)
	behind := l.reach(source, func(i int) []int { return l.succs[i] })
	lateOnes, sideOnes := 0, 0
	for i := range l.ops {
		switch {
		case l.role[i] != onPath:
		case !behind[i]:
			l.role[i] = late
			lateOnes++
		case !before[i]:
			l.role[i] = side
			sideOnes++
		}
	}
	if lateOnes > 0 {
		l.note("%s on secondary inputs: part of the stage that first uses them.", profiles.Count(lateOnes, "operator"))
	}
	if sideOnes > 0 {
		l.note("%s of side heads: part of the stage they branch from.", profiles.Count(sideOnes, "operator"))
	}
	if sinks > 1 {
		l.note("Of %d outputs, %s (%s) is taken for the main one.", sinks, profiles.Clip(l.ops[sink].Name),
			profiles.Clip(l.ops[sink].Kind))
	}
}

func (l *linearizer) note(format string, args ...any) {
	l.result.Notes = append(l.result.Notes, fmt.Sprintf(format, args...))
}

// reach reports which nodes next leads to from start, including start.
func (l *linearizer) reach(start int, next func(int) []int) []bool {
	seen := make([]bool, len(l.ops))
	seen[start] = true
	for stack := []int{start}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, j := range next(i) {
			if !seen[j] {
				seen[j] = true
				stack = append(stack, j)
			}
		}
	}
	return seen
}

// mainSink returns the output with the most time before it, the last of equal ones, and the number of outputs.
func (l *linearizer) mainSink() (sink, sinks int) {
	var ends []int
	for i := range l.ops {
		if len(l.succs[i]) == 0 {
			ends = append(ends, i)
		}
	}
	sum := make([]time.Duration, len(ends))
	l.eachReach(ends, false, func(k, i int) { sum[k] += l.ops[i].Forward + l.ops[i].Back })
	best := 0
	for k := range ends {
		if sum[k] >= sum[best] {
			best = k
		}
	}
	return ends[best], len(ends)
}

// mainSource returns the source with the most operators after it, the first of equal ones. Only
// sources that lead to the main output count; before reports which nodes do.
func (l *linearizer) mainSource(before []bool) int {
	var starts []int
	for i := range l.ops {
		if len(l.ops[i].Preds) == 0 && l.role[i] != constant && before[i] {
			starts = append(starts, i)
		}
	}
	if len(starts) == 0 {
		profiles.End(errNoPath)
	}
	n := make([]int, len(starts))
	l.eachReach(starts, true, func(k, _ int) { n[k]++ })
	return starts[slices.Index(n, slices.Max(n))]
}

// eachReach calls visit(k, i) for every node i that starts[k] reaches, including starts[k],
// along the edges or against them. It follows 64 starts at a time, as the bits of a word.
func (l *linearizer) eachReach(starts []int, along bool, visit func(k, i int)) {
	n := len(l.ops)
	mask := make([]uint64, n)
	for base := 0; base < len(starts); base += 64 {
		clear(mask)
		group := starts[base:min(base+64, len(starts))]
		for k, i := range group {
			mask[i] |= 1 << k
		}
		for step := range n {
			profiles.End(l.poll.Err())
			i, to := step, l.succs[step]
			if !along {
				i = n - 1 - step
				to = l.ops[i].Preds
			}
			if mask[i] == 0 {
				continue
			}
			for _, j := range to {
				mask[j] |= mask[i]
			}
			for k := range group {
				if mask[i]>>k&1 != 0 {
					visit(base+k, i)
				}
			}
		}
	}
}
