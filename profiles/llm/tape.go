package llm

import (
	"fmt"
	"slices"

	"memtide/engine"
)

// valueID numbers the values of a tape; 0 is the input of the block.
type valueID int

const blockInput valueID = 0

// value is what an operator writes.
type value struct {
	name  string
	bytes engine.Bytes
	grad  engine.Bytes // of its gradient
	root  valueID      // the value whose storage this one shares; itself mostly
	needs bool         // its gradient is needed
	held  bool         // a checkpoint holds it beside the block's input
	wide  bool         // it has 4 bytes a number where autocast computes in fewer
}

// opKind sorts operators as the policies of frameworks do.
type opKind uint8

const (
	opPoint     opKind = iota // element by element
	opProduct                 // a matrix product
	opAttention               // and its statistics
	opCollect                 // an all-gather
	opScatter                 // a reduce-scatter or all-to-all
	opShared                  // something of the model that blocks share
)

// weight is a tensor of the model that an operator reads.
type weight struct {
	name    string
	n       int64 // numbers of this rank, before sharding by data
	trained bool
	expert  bool
	adapter bool

	row        int64 // numbers in a row of a matrix that no product of a block reads; 0 for other weights
	rows, cols int64 // of the matrix, or of each of several, of a block's product; 0: none
}

// matrices returns how many matrices of a product a weight is.
func (w weight) matrices() int64 {
	if w.rows == 0 {
		return 0
	}
	return w.n / (w.rows * w.cols)
}

// op is one operator, in the order of the forward.
type op struct {
	kind    opKind
	in, out []valueID
	keeps   []valueID    // what autograd keeps for its backward
	temp    engine.Bytes // scratch of the forward
	back    engine.Bytes // scratch of the backward
	moved   engine.Bytes // what its kernels write and read of scratch in the forward
	byRef   bool         // its backward hands the gradient on without a copy
	weights []weight
	flops   float64 // of the forward
	narrow  bool    // a product in 8 bits
}

// trains reports whether a weight that an operator reads trains.
func (o *op) trains() bool {
	return slices.ContainsFunc(o.weights, func(w weight) bool { return w.trained })
}

// tape is the forward of one block at its sizes.
type tape struct {
	values []value
	ops    []op
	output valueID
	scope  string // before the names of new values
}

func newTape(in engine.Bytes, needsGrad bool) *tape {
	return &tape{values: []value{{name: "x", bytes: in, grad: in, needs: needsGrad}}}
}

// add appends an operator that writes one value of its own, whose gradient is as large.
// The value needs a gradient if an input does or a weight trains; only then are values
// kept.
func (t *tape) add(o op, name string, bytes engine.Bytes) valueID {
	needs := o.trains() || slices.ContainsFunc(o.in, func(v valueID) bool { return t.values[v].needs })
	id := valueID(len(t.values))
	t.values = append(t.values, value{name: t.scope + name, bytes: bytes, grad: bytes, root: id, needs: needs})
	o.out = append(o.out, id)
	if !needs {
		o.keeps = nil
	}
	t.ops = append(t.ops, o)
	return id
}

// keep adds the newest value to what its own operator keeps.
func (t *tape) keep(id valueID) valueID {
	if o := &t.ops[len(t.ops)-1]; t.values[id].needs {
		o.keeps = append(o.keeps, id)
	}
	return id
}

// split names parts of a value, in bytes, that share its storage. Its backward puts
// their gradients together again.
func (t *tape) split(of valueID, names []string, parts []engine.Bytes) []valueID {
	v := t.values[of]
	o := op{in: []valueID{of}}
	for i, n := range parts {
		o.out = append(o.out, valueID(len(t.values)))
		t.values = append(t.values, value{name: names[i], grad: n, root: v.root, needs: v.needs})
	}
	t.ops = append(t.ops, o)
	return o.out
}

// aside is a second result of the newest operator, kept for its backward: statistics.
func (t *tape) aside(name string, bytes engine.Bytes) {
	o := &t.ops[len(t.ops)-1]
	id := valueID(len(t.values))
	t.values = append(t.values, value{name: t.scope + name, bytes: bytes, root: id})
	o.out = append(o.out, id)
	if t.values[o.out[0]].needs {
		o.keeps = append(o.keeps, id)
	}
}

// firsts returns the names of what a block is the first to have of what blocks share.
func (t *tape) firsts() (names string) {
	for _, o := range t.ops {
		if o.kind == opShared {
			names += fmt.Sprintln(t.values[o.out[0]].name, t.values[o.out[0]].held, len(o.keeps))
		}
	}
	return names
}

// shared is something of the whole model that a block is the first to have: tables of
// positions, a mask. A checkpoint holds it if held says so; without one it is kept if kept
// says so.
func (t *tape) shared(name string, bytes engine.Bytes, kept, held bool) {
	id := valueID(len(t.values))
	t.values = append(t.values, value{name: name, bytes: bytes, root: id, held: held})
	o := op{kind: opShared, out: []valueID{id}}
	if kept {
		o.keeps = []valueID{id}
	}
	t.ops = append(t.ops, o)
}
