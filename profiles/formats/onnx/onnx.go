// Package onnx reads ONNX models. It derives shapes and the memory that training keeps, and estimates times.
package onnx

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/chainify"
	"memtide/profiles/parse"
)

func init() {
	profiles.Register(&profiles.Format{
		Name:       "onnx",
		Title:      "ONNX model",
		Doc:        "A network as operators: exact sizes from its shapes, times from a model.",
		Extensions: []string{".onnx", ".onnx.gz"},
		MaxSize:    profiles.MaxSize,
		MaxStream:  profiles.MaxStream,
		Match:      matchOnnx,
		Stream:     decode,
	})
}

// matchOnnx claims a message that starts like a model: with the version of the format, followed
// by fields of a model until a graph or an operator set.
func matchOnnx(head []byte) bool {
	number := func() uint64 {
		v, n := binary.Uvarint(head)
		head = head[max(n, 0):]
		return v
	}
	for first := true; len(head) > 0; first = false {
		switch key := number(); {
		case first:
			if version := number(); key != 1<<3|uint64(wireVarint) || version == 0 || version > 100 {
				return false
			}
		case key == 7<<3|uint64(wireBytes), key == 8<<3|uint64(wireBytes):
			return true
		case key < 1<<3 || key >= 26<<3:
			return false
		case wireKind(key&7) == wireVarint:
			number()
		case wireKind(key&7) == wireBytes:
			n := number()
			if n > uint64(len(head)) {
				return false
			}
			head = head[n:]
		default:
			return false
		}
	}
	return false
}

func decode(name string, r io.Reader, total, _ int, poll *engine.Poll) *profiles.Profile {
	m := readOnnx(r, total, poll)
	errs := parse.NewErrors(total)
	if !m.hasGraph || len(m.nodes) == 0 {
		errs.Fail(&profiles.FormatError{Found: "The model has no graph of operators",
			Expected: "A network is expected.",
			Remedy:   "Copy, download or export the model again."})
	}
	m.findWeights()
	m.fuse()
	return m.profile(name, errs, poll)
}

// profile returns a profile with the chain and the graph of the model.
func (m *onnxModel) profile(name string, errs *parse.Errors, poll *engine.Poll) *profiles.Profile {
	g := buildOnnx(m, poll)
	if !slices.ContainsFunc(g.ops, func(o chainify.Operator) bool { return !o.Is(chainify.IsInput) }) {
		errs.Fail(&profiles.FormatError{Found: "No operator of the model depends on an input",
			Expected: "A network that turns data into results is expected.",
			Remedy:   "Copy, download or export the model again."})
	}
	l, err := chainify.Linearize(g.ops, poll)
	if err != nil {
		profiles.End(poll.Err())
		errs.Fail(&profiles.FormatError{Found: "No chain can be made: " + err.Error(),
			Expected: "A graph of operators from an input to an output is expected.",
			Remedy:   "Check the connections of the model."})
	}
	return g.profile(name, l, errs)
}

// profile returns the profile of a chain, with notes about its numbers.
func (g *onnxGraph) profile(name string, l *chainify.Result, errs *parse.Errors) *profiles.Profile {
	batch := 0
	if g.batch > 0 && g.batch < 1<<31 {
		batch = int(g.batch)
	}
	c := &engine.Chain{Name: name, Batch: batch, Input: l.Input, Stages: l.Stages,
		Resident: engine.Resident{Weights: l.Weights, Grads: l.Weights, Pinned: l.Pinned + g.buffers}}
	(&parse.StageReader{Errs: errs}).Finish(c, false)
	l.Graph.Fixed = g.buffers
	errs.CheckGraph(l.Graph)
	p := &profiles.Profile{Name: name, Batch: batch, DType: g.dtype, Chain: c, Graph: l.Graph, Warnings: g.assumed,
		Source: profiles.Source{Tool: g.m.tool, Times: profiles.Analytic, Sizes: profiles.Exact,
			Device: "Tesla V100, 32-bit"}}
	if g.m.producer != "" {
		p.Source.Tool += " by " + profiles.Clip(g.m.producer)
	}
	if g.half {
		p.Source.Times, p.Source.Device = profiles.Estimated, "Tesla V100, 16-bit"
	}
	if !g.plain {
		p.Source.Sizes = profiles.Analytic
	}
	p.Source.Notes = append(g.notes(), l.Notes...)
	return p
}

// notes returns the sources of the numbers.
func (g *onnxGraph) notes() []string {
	times := "Times: a roofline model of a V100 in 32 bits, fitted to a public trace of ResNet-50."
	if g.half {
		times = "Times: an estimate for a V100 in 16 bits: products at 45 % of the peak, everything else at 86 % of the memory bandwidth."
	}
	inPlace := "activations, sums and constant factors work in place where nothing else reads their input"
	if g.m.traced {
		inPlace = "operators work in place where the program says so"
	}
	sizes := "Sizes: from the shapes, as PyTorch keeps what the same operators need; " + inPlace +
		". Workspaces of libraries and the allocator's rounding are not included."
	if !g.plain && !g.m.traced {
		sizes += " A normalisation or an activation that the file spells out in single operators keeps more than a fused one."
	}
	notes := []string{times, sizes,
		"Gradients of weights are as large as the weights; the state of the optimizer is not in the file.",
	}
	if g.batch > 0 {
		notes = append(notes, fmt.Sprintf("The batch, %d, is inferred: the first dimension of the first input.",
			g.batch))
	}
	convs := slices.ContainsFunc(g.ops, func(o chainify.Operator) bool { return o.Family == "conv" })
	if convs && g.norms == 0 && !g.m.traced {
		notes = append(notes, "There is no batch normalisation: exporters fold it into the convolutions for inference. If the network has it, training keeps more; export for training.")
	}
	return notes
}

// Traced is the forward pass of a program whose exporter states every shape, and which constants
// are trained. Its operators have ONNX names and keep what the ONNX operators keep.
type Traced struct {
	Tool     string // kind of file, for Source.Tool
	Producer string // "PyTorch 2.9"; empty if unknown
	Inputs   []Tensor
	Weights  []Tensor // trained
	Fixed    []Tensor // buffers, constants and frozen weights
	Inside   []Tensor // results of operators
	Nodes    []Node
	Budget   *profiles.Budget
}

// Profile returns the chain and the graph of the program, whose file has size bytes.
func (t *Traced) Profile(name string, size int, poll *engine.Poll) *profiles.Profile {
	m := &onnxModel{producer: t.Producer, tool: t.Tool, traced: true, hasGraph: true, budget: t.Budget,
		nodes: t.Nodes, inputs: t.Inputs, weights: append(t.Weights, t.Fixed...), known: t.Inside,
		fixed: len(t.Weights)}
	for _, list := range [][]Tensor{m.inputs, m.known} {
		for i := range list {
			list[i].shaped = true
		}
	}
	return m.profile(name, parse.NewErrors(size), poll)
}

// stated sets the shapes of results to those in the file.
func (g *onnxGraph) stated(c *call) {
	for i, name := range c.node.Out {
		t := g.known[name]
		if t == nil {
			wrongShape("the file states no shape of its result %q", profiles.Clip(name))
		}
		c.set(i, t.Type, t.Dims)
	}
	if len(c.ins) == 0 { // it makes a constant
		return
	}
	x := c.need(0)
	switch c.rule.cost {
	case costConv:
		c.image2()
	case costProduct, costLookUp:
		c.need(1)
	case costAttention:
		if k := c.need(1); len(x.dims) < 2 || len(k.dims) < 2 || len(c.outs[0].dims) == 0 {
			profiles.End(errOnnxInputs)
		}
	}
	c.inner = 1
	if n := len(x.dims); n > 0 {
		c.inner = x.dims[n-1]
	}
}
