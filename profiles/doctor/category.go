package doctor

import (
	"strings"

	"memtide/profiles"
)

// Category is what a buffer is for, as far as its stack and its life tell.
type Category string

// The categories, in the order in which they are shown.
const (
	Weights     Category = "weights"
	Gradients   Category = "gradients"
	Optimizer   Category = "optimizer"
	Activations Category = "activations"
	Temporaries Category = "temporaries"
	Unknown     Category = "unknown"
)

// Categories lists all.
var Categories = []Category{Weights, Gradients, Optimizer, Activations, Temporaries, Unknown}

// kind is the category of a buffer; guessed, if its life alone told it.
type kind struct {
	category Category
	guessed  bool
}

// phase is the part of a step that a stack belongs to.
type phase uint8

const (
	noPhase phase = iota // there is no stack
	otherPhase
	buildPhase
	forwardPhase
	backwardPhase
	optimizerPhase
)

// soon returns the number of events within which a temporary is given back, less in a short
// recording.
func (r *Recording) soon() int { return max(2, min(16, len(r.Requests.Events)/64)) }

// classify tells what every buffer is for: by the innermost part of its stack that says
// something, and by how long it lives. Where most requests have a stack, those without
// one come from the backward: autograd runs in a thread of its own, without Python.
func (r *Recording) classify() {
	stacks := &r.history.Stacks
	phases := make([]phase, len(stacks.Calls)) // a stack comes after those that it begins with
	with := 0
	for i := range stacks.Calls {
		if i > 0 {
			c := stacks.Calls[i]
			phases[i] = phaseOf(&stacks.Frames[c.Frame])
			if phases[i] == otherPhase && c.Parent > 0 {
				phases[i] = phases[c.Parent]
			}
		}
	}
	asked := r.Requests.Buffers[min(r.Before, len(r.Requests.Buffers)):]
	for i := range asked {
		if r.history.Stack[i+r.Before] > 0 {
			with++
		}
	}
	stackless := 2*with > len(asked)
	within := make([]bool, len(phases)) // a backward
	for i, c := range stacks.Calls {
		within[i] = phases[i] == backwardPhase || i > 0 && within[c.Parent]
	}
	r.kinds, r.turns = make([]kind, len(r.Requests.Buffers)), make([]bool, len(r.Requests.Buffers))
	for i := range r.kinds {
		stack := r.history.Stack[i]
		r.kinds[i] = r.kindOf(i, phases[stack], stackless)
		r.turns[i] = within[stack] || phases[stack] == optimizerPhase
		r.facts.Trains = r.facts.Trains || r.turns[i] && r.Requests.Buffers[i].Start >= r.Before
	}
}

// Category returns what a buffer is for.
func (r *Recording) Category(buffer int) Category { return r.kinds[buffer].category }

func (r *Recording) kindOf(i int, p phase, stackless bool) kind {
	b := &r.Requests.Buffers[i]
	before, stays := b.Start < r.Before, b.End >= len(r.Requests.Events)
	short := !before && b.End-b.Start <= r.soon() && !stays
	switch {
	case p == buildPhase:
		return kind{Weights, false}
	case short:
		return kind{Temporaries, p <= otherPhase}
	case p == optimizerPhase:
		return kind{Optimizer, false}
	case p == backwardPhase:
		return kind{Gradients, false}
	case p == forwardPhase:
		return kind{Activations, false}
	case before && stays:
		return kind{Weights, true}
	case p == noPhase && !before && stackless:
		return kind{Gradients, true}
	}
	return kind{Unknown, false}
}

// phaseOf returns what a frame says; otherPhase if it says nothing.
func phaseOf(f *profiles.Frame) phase {
	name := f.Name
	switch {
	case strings.Contains(f.File, "torch/optim/"), strings.Contains(f.File, "/optimizers/"),
		strings.Contains(f.File, "bitsandbytes/optim"):
		return optimizerPhase
	case strings.Contains(name, "Backward"), strings.Contains(name, "AccumulateGrad"),
		strings.Contains(name, "autograd::Engine"),
		name == "backward", name == "_engine_run_backward",
		name == "unpack_hook" && strings.HasSuffix(f.File, "torch/utils/checkpoint.py"): // it runs the forward again
		return backwardPhase
	case name == "forward":
		return forwardPhase
	case name == "reset_parameters", name == "load_state_dict", name == "_load_from_state_dict",
		name == "from_pretrained",
		name == "__init__" && strings.Contains(f.File, "nn/"), name == "_apply" &&
			strings.HasSuffix(f.File, "nn/modules/module.py"):
		return buildPhase
	}
	return otherPhase
}
