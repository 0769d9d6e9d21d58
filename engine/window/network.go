package window

import (
	"fmt"
	"slices"

	"memtide/engine"
)

// network is a graph in the terms of paper 004: functions with ordered
// variables, and the sequence of all of them.
type network struct {
	p     *engine.Problem
	link  error        // why nothing can move, nil if it can
	poll  *engine.Poll // stops walks in their middle; nil: nothing does
	funcs []function
	seq   []engine.ValueID // [v] the variables of all functions, one function after the other
	next  []int            // for each place in seq the next one of the same variable; len(seq) if there is none
	owner []int            // for each place in seq its function
	sums  []engine.Bytes   // sums[k] is the size of seq[:k]
}

// function is an operation: seq[first:last] are its variables.
type function struct {
	first, last int
	beside      engine.Bytes     // needed while it runs: temporaries, and fresh copies of outputs that exist already
	rewrites    []engine.ValueID // outputs that exist already and are not read: their fetches have to be over
}

// newNetwork reads the graph of a problem. poll stops its walks. A graph whose order of operations
// does not make every value before it is read, or that makes a value both by
// itself and as a part of another one, is not supported.
func newNetwork(p *engine.Problem, poll *engine.Poll) (*network, error) {
	g := p.Graph
	n := &network{p: p, link: p.Linked(), poll: poll}
	made := make([]bool, len(g.Values)) // by an operation, or there from the beginning
	for i, v := range g.Values {
		made[i] = v.Initial != 0
	}
	whole, err := g.Servers()
	if err != nil {
		return nil, err
	}
	for i := range g.Ops {
		op := &g.Ops[i]
		f := function{first: len(n.seq), beside: op.Temp}
		for _, id := range op.In {
			v := whole[id]
			if !made[v] {
				return nil, fmt.Errorf("%w: %s reads %s, which no operation before it makes", engine.ErrUnsupported,
					op.Name, g.Values[id].Name)
			}
			n.add(f.first, v)
		}
		for k, v := range op.Out {
			if made[v] && !slices.Contains(op.Out[:k], v) {
				f.beside += g.Values[v].Size
				if !slices.Contains(n.seq[f.first:], v) {
					f.rewrites = append(f.rewrites, v)
				}
			}
			n.add(f.first, v)
		}
		for _, v := range op.Out {
			made[v] = true
		}
		f.last = len(n.seq)
		n.funcs = append(n.funcs, f)
	}
	n.join()
	return n, nil
}

// add appends a variable to the last function, unless it is there.
func (n *network) add(first int, v engine.ValueID) {
	if !slices.Contains(n.seq[first:], v) {
		n.seq = append(n.seq, v)
	}
}

// join finds the next use and the function of every place in the sequence, and
// the sums of its sizes.
func (n *network) join() {
	n.next = make([]int, len(n.seq))
	later := make([]int, len(n.p.Graph.Values))
	for v := range later {
		later[v] = len(n.seq)
	}
	for at := len(n.seq) - 1; at >= 0; at-- {
		n.next[at], later[n.seq[at]] = later[n.seq[at]], at
	}
	n.sums = make([]engine.Bytes, len(n.seq)+1)
	for at, v := range n.seq {
		n.sums[at+1] = n.sums[at] + n.size(v)
	}
	n.owner = make([]int, len(n.seq))
	for i, f := range n.funcs {
		for at := f.first; at < f.last; at++ {
			n.owner[at] = i
		}
	}
}

// linked reports whether what moves can: there is a link, and the step will end.
func (n *network) linked() bool { return n.link == nil }

func (n *network) size(v engine.ValueID) engine.Bytes { return n.p.Graph.Values[v].Size }
