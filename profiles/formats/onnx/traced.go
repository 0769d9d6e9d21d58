package onnx

import (
	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/parse"
)

// Traced is the forward pass of a program whose exporter states every shape and which constants
// are trained. Its operators have the names that ONNX has for them, and keep what those keep.
type Traced struct {
	Format   string // of the file, for errors
	Tool     string // what such a file is called
	Producer string // "PyTorch 2.9"; empty if unknown
	Inputs   []Tensor
	Weights  []Tensor // trained
	Fixed    []Tensor // buffers, constants and frozen weights
	Inside   []Tensor // what operators make
	Nodes    []Node
	Budget   *profiles.Budget
}

// Profile makes a chain and a graph of the program, whose file has size bytes.
func (t *Traced) Profile(name string, size int, poll *engine.Poll) *profiles.Profile {
	p, err := profiles.Try(func() *profiles.Profile {
		m := &onnxModel{producer: t.Producer, tool: t.Tool, traced: true, hasGraph: true, budget: t.Budget,
			nodes: t.Nodes, inputs: t.Inputs, weights: append(t.Weights, t.Fixed...), known: t.Inside,
			fixed: len(t.Weights)}
		for _, list := range [][]Tensor{m.inputs, m.known} {
			for i := range list {
				list[i].shaped = true
			}
		}
		return m.profile(name, parse.NewErrors(t.Format, size), poll)
	})
	for _, e := range profiles.Problems(err) {
		e.Format = t.Format
	}
	profiles.End(err)
	return p
}

// stated takes the shapes of results as the file states them.
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
