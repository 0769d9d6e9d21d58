package llm

import "fmt"

// origins say where the bytes of a class come from.
var origins = [numClasses]struct{ kind, why string }{
	Weights:   {"exact", "parameters are counted one by one; bytes of each by the precision"},
	Masters:   {"exact", "parameters of this card times bytes of the copy"},
	Gradients: {"exact", "parameters that train, by the precision; when they appear follows the program"},
	Moments:   {"exact", "parameters that train on this card times bytes of the optimizer's moments"},
	Gathered:  {"read in code", "units that FSDP gathers at once, as its code orders them"},
	Saved:     {"read in code", "what autograd keeps of each operator of a block"},
	Logits:    {"read in code", "tensors of this implementation of the loss"},
	Working:   {"read in code", "what an operator writes and the next one reads, or computes again"},
	Backwards: {"read in code", "gradients of activations while the backward runs"},
	Buffers:   {"read in code", "inputs and outputs of the collectives"},
	StepTemps: {"read in code", "lists of tensors that this kernel of the optimizer makes"},
}

// Origin says how the bytes of a class are known, in a word or two, and from what.
func (c Class) Origin() (kind, why string) { return origins[c].kind, origins[c].why }

// Unknown returns the error about a model that is not known.
func Unknown(name string) error { return fmt.Errorf("there is no model %q", name) }
