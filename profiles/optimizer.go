package profiles

import (
	"fmt"
	"slices"

	"memtide/engine"
)

// Optimizer is a rule for the memory and the step of an optimizer. For each weight it keeps a gradient of the weight's
// width and Moments numbers of 4 bytes, and a copy of 4 bytes if the weight has 2. Its step after the backward reads
// all of these and writes weights and states, once, at 80 % of the card's memory rate.
type Optimizer struct {
	Name    string // in references and flags
	Title   string // for people
	Moments engine.Bytes
}

// Optimizers lists the known optimizers.
var Optimizers = []Optimizer{{"sgd", "SGD", 1}, {"adamw", "AdamW", 2}}

// stepShare is the share of the card's memory rate that a step reaches, in per cent.
const stepShare = 80

// FindOptimizer returns the optimizer with this name, or nil if there is none.
func FindOptimizer(name string) *Optimizer {
	if i := slices.IndexFunc(Optimizers, func(o Optimizer) bool { return o.Name == name }); i >= 0 {
		return &Optimizers[i]
	}
	return nil
}

// States returns the bytes that the optimizer keeps besides weights of this precision and their gradients.
func (o *Optimizer) States(weights engine.Bytes, precision string) engine.Bytes {
	width, each := engine.Bytes(4), 4*o.Moments
	if precision == "f16" || precision == "bf16" {
		width, each = 2, each+4
	}
	return (weights + width - 1) / width * each
}

// Trained returns p with the states and the step of an optimizer, on a card whose memory has this rate. In a chain, the
// step is the backward of a new first stage. In a graph, each weight gets an operation after the others. Trained
// returns an error if the profile has a step already, or no weights.
func (p *Profile) Trained(o *Optimizer, memory engine.Rate) (*Profile, error) {
	if memory <= 0 {
		return nil, fmt.Errorf("no rate of the card's memory is known, which the step of %s takes its time from; choose another card", o.Title)
	}
	out := *p
	out.Source.Notes = append(slices.Clone(p.Source.Notes), fmt.Sprintf(
		"%s by a rule: gradients as wide as the weights, states of %d bytes a number of 4 bytes; its step reads all of them and writes weights and states, at %d %% of the rate of the card's memory.",
		o.Title, 4*o.Moments, stepShare))
	step := func(weights engine.Bytes) engine.Op {
		states := o.States(weights, p.DType)
		return engine.Op{Pass: engine.Backward, Time: (memory / 100 * stepShare).Time(3*weights + 2*states)}
	}
	if c := p.Chain; c != nil {
		if c.Resident.Weights <= 0 || c.Stages[0].Kind == engine.OptimizerKind {
			return nil, fmt.Errorf("%s has no weights without an optimizer's step", p.Name)
		}
		chain := *c
		r := &chain.Resident
		r.Grads, r.Optimizer = max(r.Grads, r.Weights), o.States(r.Weights, p.DType)
		chain.Stages = append([]engine.Stage{{Name: "optimizer", Kind: engine.OptimizerKind,
			Back: step(r.Weights).Time}}, c.Stages...)
		out.Chain = &chain
	}
	if g := p.Graph; g != nil {
		graph := *g
		graph.Ops = slices.Clone(g.Ops)
		var all engine.Bytes
		for id, v := range g.Values {
			if v.Kind != engine.KindWeight {
				continue
			}
			all += v.Size
			op := step(v.Size)
			op.Name, op.Stage, op.In = "step of "+v.Name, v.Stage, []engine.ValueID{engine.ValueID(id)}
			graph.Ops = append(graph.Ops, op)
		}
		if all == 0 {
			return nil, fmt.Errorf("%s has no weights among its values", p.Name)
		}
		graph.Fixed = max(g.Fixed, all+o.States(all, p.DType))
		out.Graph = &graph
	}
	return &out, nil
}
