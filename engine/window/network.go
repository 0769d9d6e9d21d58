package window

import (
	"fmt"
	"slices"

	"memtide/engine"
)

// network is a graph in the terms of paper 004: functions with ordered variables, and the sequence of all of them.
type network struct {
	p     *engine.Problem
	link  error        // why nothing can move, nil if it can
	poll  *engine.Poll // stops walks before their end; may be nil
	funcs []function
	seq   []engine.ValueID // [v] the variables of all functions, one function after the other
	next  []int            // by index of seq: the next index of the same variable, or len(seq)
	owner []int            // by index of seq: the function
	sums  []engine.Bytes   // sums[k] is the size of seq[:k]
}

// function is an operation: seq[first:last] are its variables.
type function struct {
	first, last int
	beside      engine.Bytes     // memory needed while it runs: temporaries, and fresh copies of existing outputs
	rewrites    []engine.ValueID // outputs that exist already and are not read: their fetches have to be over
}

// newNetwork returns the network of a problem, whose walks poll stops. The error wraps engine.ErrUnsupported if an
// operation reads a value that no operation before it makes, or if a value is made both by itself and as a part of
// another one.
func newNetwork(p *engine.Problem, poll *engine.Poll) (*network, error) {
	g := p.Graph
	n := &network{p: p, link: p.Linked(), poll: poll}
	made := make([]bool, len(g.Values)) // an operation so far has made the value, or it exists when the step begins
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

// add appends v to the variables of the last function, which begin at first, unless it is one of them.
func (n *network) add(first int, v engine.ValueID) {
	if !slices.Contains(n.seq[first:], v) {
		n.seq = append(n.seq, v)
	}
}

// join fills in next, owner and sums.
func (n *network) join() {
	n.next = make([]int, len(n.seq))
	later := slices.Repeat([]int{len(n.seq)}, len(n.p.Graph.Values))
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

func (n *network) size(v engine.ValueID) engine.Bytes { return n.p.Graph.Values[v].Size }
