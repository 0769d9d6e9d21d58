package llm

import (
	"fmt"
	"slices"

	"memtide/engine"
)

// valueID is the number of a value of a tape. Value 0 is the input of the block.
type valueID int

const blockInput valueID = 0

// value is the result of an operator.
type value struct {
	name  string
	bytes engine.Bytes
	grad  engine.Bytes // bytes of its gradient
	root  valueID      // the value whose storage this one shares; usually itself
	needs bool         // its gradient is needed
	held  bool         // a checkpoint holds it beside the block's input
	again bool         // a compiler makes it again from what is there: a copy of a weight or of tables
	cast  bool         // it is a copy in another type
	wide  bool         // it has 4 bytes per number although the compute type is narrower
}

// opKind is the kind of an operator, by which policies of frameworks choose.
type opKind uint8

const (
	opPoint     opKind = iota // element by element
	opProduct                 // a matrix product
	opAttention               // attention, with its statistics
	opCollect                 // an all-gather
	opScatter                 // a reduce-scatter
	opExchange                // an all-to-all
	opConv                    // a convolution
	opShared                  // a value of the model that blocks share
)

// weight is a tensor of the model that an operator reads.
type weight struct {
	name    string
	n       int64 // numbers on this rank, before data parallel ranks share them
	trained bool
	expert  bool
	adapter bool
	conv    bool

	row        int64 // row length of a matrix that is not a block's product; 0 for other weights
	rows, cols int64 // of the matrix, or of each matrix, of a block's product; 0 for other weights
}

// matrices returns how many matrices of products the weight has.
func (w weight) matrices() int64 {
	if w.rows == 0 {
		return 0
	}
	return w.n / (w.rows * w.cols)
}

// op is one operator. Operators are in the order of the forward.
type op struct {
	kind    opKind
	in, out []valueID
	keeps   []valueID    // values that autograd keeps for its backward
	temp    engine.Bytes // scratch of the forward
	back    engine.Bytes // scratch of the backward
	moved   engine.Bytes // scratch that its kernels write and read in the forward
	byRef   bool         // its backward passes the gradient on without a copy
	weights []weight
	flops   float64 // of the forward
	narrow  bool    // a product in 8 bits
}

// trains reports whether a weight of the operator trains.
func (o *op) trains() bool {
	return slices.ContainsFunc(o.weights, func(w weight) bool { return w.trained })
}

// tape is the forward of one block at its sizes.
type tape struct {
	values []value
	ops    []op
	output valueID
	scope  string // prefix of the names of new values
}

func newTape(in engine.Bytes, needsGrad bool) *tape {
	return &tape{values: []value{{name: "x", bytes: in, grad: in, needs: needsGrad}}}
}

// add appends an operator that writes one value with a storage of its own, and returns the value. Its gradient has the
// same size. The value needs a gradient if an input does or a weight trains; only then does the operator keep values.
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

// split returns parts of a value that share its storage, with gradients of the given sizes. Its backward
// concatenates their gradients.
func (t *tape) split(of valueID, names []string, parts []engine.Bytes) []valueID {
	v := t.values[of]
	o := op{in: []valueID{of}}
	for i, n := range parts {
		o.out = append(o.out, valueID(len(t.values)))
		t.values = append(t.values, value{name: names[i], grad: n, root: v.root, needs: v.needs})
	}
	t.ops = append(t.ops, o)
	return slices.Clone(o.out)
}

// aside adds a second result to the newest operator, which the operator keeps for its backward: statistics.
func (t *tape) aside(name string, bytes engine.Bytes) {
	o := &t.ops[len(t.ops)-1]
	id := valueID(len(t.values))
	t.values = append(t.values, value{name: t.scope + name, bytes: bytes, root: id})
	o.out = append(o.out, id)
	if t.values[o.out[0]].needs {
		o.keeps = append(o.keeps, id)
	}
}

// copied is aside for a copy of weights or tables.
func (t *tape) copied(name string, bytes engine.Bytes) {
	t.aside(name, bytes)
	t.values[len(t.values)-1].again = true
}

// firsts returns a key of the shared values that this block is the first to have.
func (t *tape) firsts() (names string) {
	for _, o := range t.ops {
		if o.kind == opShared {
			names += fmt.Sprintln(t.values[o.out[0]].name, t.values[o.out[0]].held, len(o.keeps))
		}
	}
	return names
}

// shared adds a value of the whole model that this block is the first to have: tables of positions, a mask. held
// says whether a checkpoint holds the value, kept whether autograd keeps it without a checkpoint.
func (t *tape) shared(name string, bytes engine.Bytes, kept, held bool) {
	id := valueID(len(t.values))
	t.values = append(t.values, value{name: name, bytes: bytes, root: id, held: held})
	o := op{kind: opShared, out: []valueID{id}}
	if kept {
		o.keeps = []valueID{id}
	}
	t.ops = append(t.ops, o)
}
