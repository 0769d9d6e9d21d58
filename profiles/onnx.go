package profiles

import (
	"slices"

	"memtide/engine"
)

const onnxName = "onnx"

func init() {
	Register(&Format{
		Name:  onnxName,
		Title: "ONNX model",
		Doc: `A network as operators: exact sizes from its shapes, times from a model.

Weights may be in the file, beside it, or missing: only their shapes are read. The
shapes of everything between follow from those of the inputs; dimensions that the
file leaves open are taken as one sample, images of 224 px, 128 tokens, and a
warning says so. What the backward keeps is what PyTorch keeps for the same
operators; activations, sums and constant factors work in place where a program
may. Times are those of a V100. The graph has every operator, forward and backward,
with weights and their gradients as values.

Export for training, so that batch normalisation and dropout are still there:
torch.onnx.export(..., training=torch.onnx.TrainingMode.TRAINING,
do_constant_folding=False).`,
		Extensions: []string{".onnx", ".onnx.gz"},
		MaxSize:    MaxSize,
		MaxStream:  MaxStream,
		Match:      matchOnnx,
		Decode:     decodeOnnx,
		Stream:     streamOnnx,
	})
}

// matchOnnx claims a message that begins like a model: the version of the format
// first, then fields of a model until a graph or an operator set begins.
func matchOnnx(head []byte) bool {
	w := wire{data: head}
	for n := 0; w.at < len(head); n++ {
		key := head[w.at]
		switch {
		case n == 0 && key != 1<<3|byte(wireVarint):
			return false
		case key == 7<<3|byte(wireBytes), key == 8<<3|byte(wireBytes):
			return n > 0
		}
		f, ok := w.next()
		switch {
		case !ok, n == 0 && (f.value == 0 || f.value > 100):
			return false
		case f.number > 25, f.kind != wireVarint && f.kind != wireBytes:
			return false
		}
	}
	return false
}

func decodeOnnx(name string, data []byte, poll *engine.Poll) (*Profile, error) {
	m, err := readOnnx(data, poll)
	if err != nil {
		return nil, err
	}
	errs := newErrors(onnxName, len(data))
	if !m.hasGraph || len(m.nodes) == 0 {
		return nil, errs.fail(&FormatError{Found: "The model has no graph of operators", Expected: "A network is expected.",
			Remedy: "Copy, download or export the model again."})
	}
	m.findWeights()
	m.fuse()
	g, err := buildOnnx(m, poll)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(g.ops, func(o operator) bool { return !o.is(isInput) }) {
		return nil, errs.fail(&FormatError{Found: "No operator of the model depends on an input", Expected: "A network that turns data into results is expected.",
			Remedy: "Copy, download or export the model again."})
	}
	l, err := linearize(g.ops, poll)
	if err != nil {
		if poll.Err() != nil {
			return nil, err
		}
		return nil, errs.fail(&FormatError{Found: "No chain can be made: " + err.Error(),
			Expected: "A graph of operators from an input to an output is expected.", Remedy: "Check the connections of the model."})
	}
	return g.profile(name, l, errs)
}

// profile puts what was found into words.
func (g *onnxGraph) profile(name string, l *linearized, errs *errorList) (*Profile, error) {
	batch := 0
	if g.batch > 0 && g.batch < 1<<31 {
		batch = int(g.batch)
	}
	c := &engine.Chain{Name: name, Batch: batch, Input: l.input, Stages: l.stages,
		Resident: engine.Resident{Weights: l.weights, Grads: l.weights, Pinned: l.pinned + g.buffers}}
	if len(c.Stages) > maxStageRows {
		return nil, errs.fail(tooManyStages())
	}
	if err := (&stageReader{errs: errs}).finish(c, false); err != nil {
		return nil, err
	}
	l.graph.Fixed = g.buffers
	if e := graphOverflow(l.graph); e != nil {
		return nil, errs.fail(e)
	}
	p := &Profile{Name: name, Batch: batch, DType: g.dtype, Chain: c, Graph: l.graph, Warnings: g.assumed,
		Source: Source{Tool: "ONNX model", Times: Analytic, Sizes: Exact, Device: "Tesla V100, 32-bit"}}
	if g.m.producer != "" {
		p.Source.Tool = "ONNX model by " + clip(g.m.producer)
	}
	if g.half {
		p.Source.Times, p.Source.Device = Estimated, "Tesla V100, 16-bit"
	}
	if !g.plain {
		p.Source.Sizes = Analytic
	}
	p.Source.Notes = append(g.notes(), l.notes...)
	return p, nil
}

// notes say where the numbers come from.
func (g *onnxGraph) notes() []string {
	times := "Times: a roofline model of a V100 in 32 bits, fitted to a public trace of ResNet-50."
	if g.half {
		times = "Times: an estimate for a V100 in 16 bits: products at 45 % of the peak, everything else at 86 % of the memory bandwidth."
	}
	sizes := "Sizes: from the shapes, as PyTorch keeps what the same operators need; activations, sums and constant factors work in place where nothing else reads their input. Workspaces of libraries and the allocator's rounding are not included."
	if !g.plain {
		sizes += " A normalisation or an activation that the file spells out in single operators keeps more than a fused one."
	}
	notes := []string{times, sizes,
		"Gradients of weights are as large as the weights; the state of the optimizer is not in the file.",
	}
	convs := false
	for i := range g.ops {
		convs = convs || g.ops[i].family == "conv"
	}
	if convs && g.norms == 0 {
		notes = append(notes, "There is no batch normalisation: exporters fold it into the convolutions for inference. If the network has it, training keeps more; export for training.")
	}
	return notes
}
