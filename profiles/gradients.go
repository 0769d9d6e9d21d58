package profiles

import (
	"iter"

	"memtide/engine"
)

// Gradients follows the memory of a stage during its backward. It counts the references to buffers of gradients, as
// PyTorch's autograd does: a sum is computed in place if no other value holds the buffer.
type Gradients struct {
	Live, Peak engine.Bytes // what is in use now, and the most so far
	of         map[int]*gradient
}

// gradient is memory that holds the gradient of refs values.
type gradient struct {
	size engine.Bytes
	refs int
}

// NewGradients returns the memory when the backward begins: live bytes beside the gradient of the stage's output,
// which has size bytes and belongs to value.
func NewGradients(live engine.Bytes, value int, size engine.Bytes) *Gradients {
	g := &Gradients{Live: live, of: map[int]*gradient{}}
	g.of[value] = g.alloc(size)
	return g
}

// Step runs the backward of the operator that made value: each input gets a gradient of its size, and then the
// gradient of value is released. If the operator passes its gradient on, the inputs get that without a copy. Step
// does nothing if no gradient of value has arrived.
func (g *Gradients) Step(value int, passes bool, inputs iter.Seq2[int, engine.Bytes]) {
	b := g.of[value]
	if b == nil {
		return
	}
	delete(g.of, value)
	for input, size := range inputs {
		part := b
		if passes {
			b.refs++
		} else {
			part = g.alloc(size)
		}
		g.give(input, part, size)
	}
	g.release(b)
}

func (g *Gradients) alloc(size engine.Bytes) *gradient {
	g.Live += size
	g.Peak = max(g.Peak, g.Live)
	return &gradient{size: size, refs: 1}
}

func (g *Gradients) release(b *gradient) {
	if b.refs--; b.refs == 0 {
		g.Live -= b.size
	}
}

// give adds a buffer, and one reference to it, to the gradient of a value. size is the size of that gradient:
// buffers of other sizes cannot be added in place.
func (g *Gradients) give(value int, b *gradient, size engine.Bytes) {
	old := g.of[value]
	switch {
	case old == nil:
		g.of[value] = b
	case old.refs == 1 && old.size == size:
		g.release(b)
	case b.refs == 1 && b.size == size:
		g.release(old)
		g.of[value] = b
	default:
		g.of[value] = g.alloc(size)
		g.release(old)
		g.release(b)
	}
}
