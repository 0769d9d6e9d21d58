package hf

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/analytic"
	"memtide/profiles/chainify"
	"memtide/profiles/parse"
)

// The operators of a transformer, from which its sizes follow by the same rules as
// those of any graph. In 16 bits a plain layer keeps sbh(34 + 5as/h) bytes, and
// sbh(10 + 24/t + 5as/(ht)) where t devices share it (Korthikanti et al.,
// arXiv:2205.05198, sections 4.1 and 4.2.1), plus the statistics of two
// normalisations; with fused attention 4abs for its statistics instead of the
// squares of the sequence. Numbers of a gated layer follow from its operators in
// the same way. What is split over devices is the inside of attention and of the
// feed-forward net, and the vocabulary.

// net writes the operators down.
type net struct {
	c        *config
	elem     int64
	ops      []chainify.Operator
	names    []string // of stages, in order
	kinds    []string
	done     int   // operators of stages that have ended
	params   int64 // of one device
	peak     float64
	traffic  analytic.Model
	byShare  bool // times are those of products at a share of the peak
	overflow bool
}

func newHFNet(c *config) *net {
	b := &net{c: c, elem: 2, peak: 112e12, traffic: analytic.V100Half}
	if c.precision == "f32" {
		b.elem, b.peak, b.traffic = 4, 14e12, analytic.V100 // NVIDIA's figure for the PCIe card
	}
	if c.peak > 0 {
		b.peak = c.peak
	}
	return b
}

// bytes multiplies sizes; too large a product is noted.
func (b *net) bytes(factors ...int64) engine.Bytes {
	v, ok := parse.Elements(factors)
	b.overflow = b.overflow || !ok
	return engine.Bytes(v)
}

// shared is a device's part of something that is split.
func (b *net) shared(n int64) int64 { return (n + b.c.split - 1) / b.c.split }

// op appends an operator that writes so many bytes; macs are multiply-adds.
func (b *net) op(kind string, tr chainify.Traits, out engine.Bytes, passes analytic.Passes, macs engine.Bytes, preds ...int) int {
	o := chainify.Operator{Kind: kind, Traits: tr | chainify.Inside, Out: out, Preds: preds}
	took := analytic.Time{}
	switch {
	case b.byShare:
		took = analytic.Utilised(b.peak, b.c.mfu, float64(macs))
	case passes != analytic.Passes{}:
		took = b.traffic.Element(passes, float64(out))
	}
	o.Forward, o.Back = analytic.Duration(took.Forward), analytic.Duration(took.Back)
	b.ops = append(b.ops, o)
	return len(b.ops) - 1
}

// train gives the last operator parameters.
func (b *net) train(params engine.Bytes) {
	o := &b.ops[len(b.ops)-1]
	o.Weights += params * engine.Bytes(b.elem)
	if b.params += int64(params); b.params > parse.MaxNumber {
		b.params, b.overflow = 0, true
	}
}

// end lets a stage end behind the last operator, and names the operators after it.
func (b *net) end(name, kind string) {
	for n := 1; b.done < len(b.ops); n++ {
		b.ops[b.done].Name = fmt.Sprintf("%s/%d", name, n)
		b.done++
	}
	b.ops[b.done-1].Traits &^= chainify.Inside
	b.names, b.kinds = append(b.names, name), append(b.kinds, kind)
}

// rows are so many numbers for each token.
func (b *net) rows(width int64) engine.Bytes {
	return b.bytes(b.c.batch, b.c.tokens, width, b.elem)
}

// norm keeps its input and two 32-bit numbers a token, one in gated networks.
func (b *net) norm(x int) int {
	h, statistics := b.c.hidden, int64(2)
	if b.c.family.gated {
		statistics = 1
	}
	y := b.op("Norm", chainify.SavesIn, b.rows(h), analytic.Norm, 0, x)
	b.ops[y].Aux = b.bytes(4, statistics, b.c.batch, b.c.tokens)
	b.train(b.bytes(statistics, h))
	return y
}

// linear is a product with weights of in x out numbers, and biases.
func (b *net) linear(x int, in, out, biases int64) int {
	y := b.op("Linear", chainify.SavesIn, b.rows(out), analytic.Passes{}, b.bytes(b.c.batch, b.c.tokens, in, out), x)
	b.train(b.bytes(in, out) + engine.Bytes(biases))
	return y
}

func (b *net) add(x, y int) int {
	return b.op("Add", chainify.PassesGrad, b.ops[x].Out, analytic.Add, 0, x, y)
}

// drop keeps a mask of one byte a number; without dropout it is nothing.
func (b *net) drop(on bool, x int) int {
	if !on {
		return x
	}
	y := b.op("Dropout", 0, b.ops[x].Out, analytic.Dropout, 0, x)
	b.ops[y].Aux = b.ops[x].Out / engine.Bytes(b.elem)
	return y
}

// lookUp reads a row of a table for every token.
func (b *net) lookUp(ids int, rows int64) int {
	y := b.op("Embedding", chainify.SavesIn, b.rows(b.c.hidden), analytic.Embedding, 0, ids)
	b.train(b.bytes(rows, b.c.hidden))
	return y
}

// build writes the whole network down.
func (b *net) build() {
	c := b.c
	b.ops = append(b.ops, chainify.Operator{Name: "ids", Kind: "Input", Out: b.bytes(8, c.batch, c.tokens), Traits: chainify.IsInput})
	b.done = 1
	x := b.embedding(0)
	b.byShare = true
	for i := range c.layers {
		switch {
		case c.family.encoder:
			x = b.norm(b.add(x, b.attention(x)))
			x = b.norm(b.add(x, b.feedForward(x)))
		default:
			x = b.add(x, b.attention(b.norm(x)))
			x = b.add(x, b.feedForward(b.norm(x)))
		}
		b.end(fmt.Sprintf("block%d", i), "block")
		if b.overflow {
			return
		}
	}
	if c.family.encoder {
		y := b.linear(x, c.hidden, c.hidden, c.hidden)
		x = b.norm(b.op("GELU", chainify.SavesIn, b.rows(c.hidden), analytic.Activation, 0, y))
		b.end("transform", "block")
	} else {
		b.byShare = false
		x = b.norm(x)
		b.end("norm", "norm")
		b.byShare = true
	}
	b.logits(x)
}

// embedding is the first stage. The table of the words is split.
func (b *net) embedding(ids int) int {
	c := b.c
	x := b.lookUp(ids, b.shared(c.words))
	if c.family.encoder && c.family.segments > 0 {
		x = b.add(x, b.lookUp(ids, c.family.segments))
	}
	if !c.family.gated && c.positions > 0 {
		// One row for each position, the same for every sequence.
		p := b.op("Positions", 0, b.bytes(c.tokens, c.hidden, b.elem), analytic.Embedding, 0)
		b.train(b.bytes(c.positions, c.hidden))
		x = b.add(x, p)
	}
	if c.family.encoder {
		x = b.norm(x)
	}
	x = b.drop(c.dropout.embedding, x)
	b.end("embedding", "embedding")
	return x
}

// attention has a part of the heads on each device.
func (b *net) attention(x int) int {
	c := b.c
	heads, keyHeads := b.shared(c.heads), b.shared(c.keyHeads)
	width, shared := heads*c.headSize, keyHeads*c.headSize
	biases := func(n int64) int64 {
		if c.family.gated && !c.family.biases {
			return 0
		}
		return n
	}
	query := b.turned(b.linear(x, c.hidden, width, biases(width)), heads)
	key := b.turned(b.linear(x, c.hidden, shared, biases(shared)), keyHeads)
	val := b.linear(x, c.hidden, shared, biases(shared))
	out := c.hidden
	if c.family.gated {
		out = 0 // no biases
	}
	return b.drop(c.dropout.residual, b.linear(b.mixed(query, key, val, heads, width), width, c.hidden, out))
}

// turned are queries or keys, normalised and rotated by their positions where the
// network does that.
func (b *net) turned(x int, heads int64) int {
	if b.c.family.normedQK {
		out := b.ops[x].Out
		x = b.op("Norm", chainify.SavesIn, out, analytic.Norm, 0, x)
		b.ops[x].Aux = b.bytes(4, heads, b.c.batch, b.c.tokens)
		b.train(engine.Bytes(b.c.headSize))
	}
	if b.c.family.gated {
		x = b.op("Rotate", 0, b.ops[x].Out, analytic.Activation, 0, x)
	}
	return x
}

// mixed are the values, weighted: fused, or with the weights of all pairs.
func (b *net) mixed(query, key, val int, heads, width int64) int {
	c := b.c
	products := b.bytes(c.batch, c.tokens, c.tokens, width)
	if c.flash {
		if c.family.encoder {
			products *= 2 // pairs that a causal mask hides are not computed
		}
		y := b.op("Attention", chainify.SavesIn|chainify.SavesOut, b.rows(width), analytic.Passes{}, products, query, key, val)
		b.ops[y].Aux = b.bytes(4, heads, c.batch, c.tokens)
		return y
	}
	pairs := b.bytes(c.batch, heads, c.tokens, c.tokens, b.elem)
	scores := b.op("Scores", chainify.SavesIn, pairs, analytic.Passes{}, products, query, key)
	weights := b.op("Softmax", chainify.SavesOut, pairs, analytic.Activation, 0, scores)
	return b.op("Mix", chainify.SavesIn, b.rows(width), analytic.Passes{}, products, b.drop(c.dropout.attention, weights), val)
}

// feedForward has a part of its width on each device.
func (b *net) feedForward(x int) int {
	c := b.c
	wide := b.shared(c.wide)
	if !c.family.gated {
		y := b.linear(x, c.hidden, wide, wide)
		y = b.op("GELU", chainify.SavesIn, b.ops[y].Out, analytic.Activation, 0, y)
		return b.drop(c.dropout.residual, b.linear(y, wide, c.hidden, c.hidden))
	}
	gate, up := b.linear(x, c.hidden, wide, 0), b.linear(x, c.hidden, wide, 0)
	open := b.op("SiLU", chainify.SavesIn, b.ops[gate].Out, analytic.Activation, 0, gate)
	product := b.op("Gate", chainify.SavesIn, b.ops[up].Out, analytic.Activation, 0, open, up)
	return b.linear(product, wide, c.hidden, 0)
}

// logits are the last stage, with the loss: the logits in 32 bits become
// probabilities in place, which are kept; a number comes out.
func (b *net) logits(x int) {
	c := b.c
	words := b.shared(c.words)
	y := b.op("Linear", chainify.SavesIn, b.rows(words), analytic.Passes{}, b.bytes(c.batch, c.tokens, c.hidden, words), x)
	if !c.tied {
		b.train(b.bytes(words, c.hidden))
	}
	if c.family.encoder {
		b.train(engine.Bytes(words))
	}
	wide := b.op("Cast", 0, b.bytes(c.batch, c.tokens, words, 4), analytic.Passes{}, 0, y)
	b.op("Entropy", chainify.SavesIn, 4, analytic.Passes{}, 0, wide)
	b.end("logits+loss", "loss")
}

// profile makes a profile of the operators, which are a chain already.
func (b *net) profile(name string, l *chainify.Result, r *reader) *profiles.Profile {
	errs := r.top.Errs
	if len(l.Stages) != len(b.names) {
		errs.Fail(&profiles.FormatError{Found: fmt.Sprintf("The network has %d stages instead of %d", len(l.Stages), len(b.names)),
			Expected: "A stage for each layer is expected.", Remedy: "Use a preset."})
	}
	c := b.c
	chain := &engine.Chain{Name: name, Batch: int(c.batch), Input: l.Input, Stages: l.Stages}
	for i := range chain.Stages {
		chain.Stages[i].Name, chain.Stages[i].Kind = b.names[i], b.kinds[i]
	}
	n := engine.Bytes(b.params)
	chain.Resident = engine.Resident{Weights: 2 * n, Grads: 2 * n, Optimizer: 12 * n}
	if c.precision == "f32" {
		chain.Resident = engine.Resident{Weights: 4 * n, Grads: 4 * n, Optimizer: 8 * n}
	}
	p := &profiles.Profile{Name: name, Batch: int(c.batch), DType: c.precision, Chain: chain, Graph: l.Graph, Warnings: r.warnings,
		Source: profiles.Source{Tool: "Hugging Face config", Times: profiles.Analytic, Sizes: profiles.Analytic, URL: "https://arxiv.org/abs/2205.05198"}}
	l.Graph.Fixed = chain.Resident.Optimizer
	if c.perSBH > 0 {
		b.override(chain)
		p.Graph, p.Source.Sizes = nil, profiles.Estimated
	}
	(&parse.StageReader{Errs: errs}).Finish(chain, true)
	if p.Graph != nil {
		errs.CheckGraph(p.Graph)
	}
	p.Source.Device = fmt.Sprintf("Tesla V100, %d-bit", 8*b.elem)
	if c.peak > 0 {
		p.Source.Times, p.Source.Device = profiles.Estimated, fmt.Sprintf("a device of %g TFLOP/s", c.peak/1e12)
	}
	p.Source.Notes = b.notes()
	return p
}

// override gives every layer the bytes that the config names.
func (b *net) override(chain *engine.Chain) {
	saved := (b.bytes(b.c.perSBH, b.c.tokens, b.c.batch, b.c.hidden) + 999) / 1000
	for i := range chain.Stages {
		if s := &chain.Stages[i]; s.Kind == "block" && s.Name != "transform" {
			s.Saved = max(s.Out, saved)
		}
	}
}

// notes say what was chosen, how to choose otherwise, and where numbers come from.
func (b *net) notes() []string {
	c := b.c
	attention := "not fused"
	if c.flash {
		attention = "fused (FlashAttention)"
	}
	layer := "Sizes: from the operators of a layer, by the rules of Korthikanti et al. (arXiv:2205.05198): a plain one in 16 bits keeps sbh(34 + 5as/h) bytes, with fused attention 4abs instead of the squares. A real layer may keep up to twice that: measure one and set bytes_per_sbh."
	if c.perSBH > 0 {
		layer = fmt.Sprintf("Sizes: a layer keeps %g bytes for each of its seq x batch x hidden numbers, as the file says. There is no graph of operators then.", float64(c.perSBH)/1000)
	}
	state := "16-bit weights and gradients, and for Adam 12 bytes a parameter (arXiv:1910.02054)"
	if c.precision == "f32" {
		state = "32-bit weights and gradients, and for Adam two moments of 4 bytes"
	}
	notes := []string{
		fmt.Sprintf(`Chosen: %s of %d tokens, %s, attention %s, layers split over %s. To choose otherwise, add "memtide": {"batch":%d, "seq":%d, "precision":"%s", "flash":%v, "tp":%d, "mfu":%g} to the file.`,
			profiles.Count(int(c.batch), "sequence"), c.tokens, c.precision, attention, profiles.Count(int(c.split), "device"), c.batch, c.tokens, c.precision, c.flash, c.split, 100*c.mfu),
		layer,
		fmt.Sprintf("Times: products at %g %% of a peak of %g TFLOP/s, an assumption (10-45 %% were measured on A100s); embedding and final normalisation by memory traffic. Set mfu and tflops for others.", 100*c.mfu, b.peak/1e12),
		fmt.Sprintf("Resident: %s; %d parameters on this device.", state, b.params),
		"The last stage computes the logits of all tokens and the loss; its copy of the logits is 32-bit.",
	}
	if c.split > 1 {
		notes = append(notes, "The numbers are those of one of the devices that share the layers; what they send each other takes no time here.")
	}
	return notes
}
