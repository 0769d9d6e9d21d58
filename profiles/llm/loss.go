package llm

import (
	"cmp"
	"slices"
)

// Chunks that programs use by default.
const (
	wholeChunks   = 8    // chunks of the logits [torchtitan and torchtune: num_output_chunks]
	tokenChunks   = 1024 // tokens of ChunkedCELoss at 8 chunks of 8,192
	vocabChunk    = 2048 // words [prime-rl bdfbfae98, rl/config.py: auto_setup_fused_lm_head_chunk_size]
	statsOfTokens = 12   // bytes per token: maximum, sum and target of a running softmax
	headChunk     = 128  // tokens of each sequence [litgpt: finetune/lora.py, lm_head_chunk_size]
)

// lossState is what the loss holds until its backward.
type lossState struct {
	input  handle // input of the last norm
	hidden handle // normalised output of the last block
	capped handle // logits after a tanh
	norm   *block
	kept   *kept
	saved  []handle // values that autograd keeps
	held   handle   // the logits, if the program keeps the output of the forward
	early  handle   // the gradient of hidden, if the forward makes it
}

func (p *program) logit(n, bytes int64) handle { return p.take(size(n, bytes), Logits) }

// lossForward runs the last norm, the head and the loss on x, the output of the blocks. It takes over x.
func (p *program) lossForward(w *pass, x handle) {
	p.phase = LossForward
	p.cast(p.head)
	p.ready(p.head, true)
	w.loss.norm = p.finalNorm()
	w.loss.hidden, w.loss.kept = w.loss.norm.forward(p.ledger, x)
	if w.loss.norm.keepers[0] > 0 {
		w.loss.input = x
	} else {
		p.give(x)
	}
	p.nextForward(w)
	all := p.gathered(true)
	if all != 0 && (!p.s.Static || p.s.Gathered) { // otherwise the share is kept, see builder.share
		p.give(w.loss.hidden)
		w.loss.hidden, all = all, 0
	}
	p.lossKept(&w.loss)
	p.give(all)
	if p.s.Objective == ObjectiveDPO {
		p.reference()
	}
	for _, u := range p.units {
		p.uncast(u, true)
	}
}

// gathered returns the head's input with the tokens of the whole tensor-parallel group, if it is wanted and ranks share
// tokens.
func (p *program) gathered(wanted bool) handle {
	inner, outer, h := p.behind()
	return p.take(size(given(wanted && inner != outer, inner*h), p.s.Compute), Working)
}

// behind returns the tokens of the products and of the stream after the last block, and the width of the stream.
func (p *program) behind() (inner, outer, h int64) {
	t := p.s.tail()
	inner, outer = t.tokens()
	return inner, outer, t.Model.Hidden
}

// lastNorm is the name of the norm after the last block.
const lastNorm = "final"

// finalNorm returns the norm after the last block, or BERT's head.
func (p *program) finalNorm() *block {
	_, outer, _ := p.behind()
	s := p.s.tail()
	b := newBuilder(newTape(s.stream(outer, &s.Model.Block, s.Model.WideSum), true), s, &s.Model.Block)
	b.values[blockInput].wide = s.wideStream()
	b.final()
	return newPlayed(b.tape, &Setup{}, CheckpointNone, false)
}

// withoutLogits are the losses that never have all logits.
var withoutLogits = []LossKind{LossChunked, LossVocabChunked, LossFused}

// lossKept plays the forward of the loss.
func (p *program) lossKept(l *lossState) {
	n, e := p.s.logits(), p.s.Compute
	if p.s.Model.LogitCap && (p.s.written() || p.s.Litgpt || p.s.TE) &&
		!slices.Contains(withoutLogits, p.s.Loss) {
		l.capped = p.logit(n, e)
	}
	switch p.s.Loss {
	case LossBF16:
		p.narrowLoss(l, n, e)
	case LossFP32, LossShifted: // widened, then log_softmax
		logits := p.scaledLogits(p.logit(n, e))
		wide := p.logit(n, 4)
		if p.s.Tensor > 1 || p.s.LogitsHeld == 4 {
			p.release(&logits)
		}
		if p.s.LogitsHeld == 4 { // a variable of the training loop holds them until the next micro batch
			p.give(p.held)
			p.held = wide
		}
		shifted := p.logit(given(p.s.Loss == LossShifted, n), 4)
		l.saved = append(l.saved, p.logit(n, 4))
		p.give(shifted)
		if p.s.LogitsHeld != 4 {
			p.give(wide)
		}
		p.holdOr(l, logits, e)
	case LossDivided: // widened, and divided in place
		logits := p.scaledLogits(p.logit(n, e))
		l.saved = append(l.saved, p.logit(n, 4))
		p.give(logits)
	// widened, then a softmax in place [Megatron-LM: core/tensor_parallel/cross_entropy.py]
	case LossSharded, LossShardedCompiled:
		logits := p.logit(n, e)
		wide := p.logit(n, 4)
		p.give(logits)
		if p.s.BatchFirst { // of a copy [nanotron: tensor_parallel/functional.py]
			soft := p.logit(n, 4)
			p.give(wide)
			wide = soft
		}
		l.saved = append(l.saved, wide)
	case LossCompiled, LossInPlace:
		l.saved = append(l.saved, p.logit(n, e))
	case LossCompiledChunks: // by the head, chunk by chunk
		for range wholeChunks {
			l.saved = append(l.saved, p.logit(ceil(n, wholeChunks), e))
		}
	case LossChunkedCE: // the head whole, log_softmax in chunks, the logits deleted
		logits := p.logit(n, e)
		for range wholeChunks {
			wide := p.logit(ceil(n, wholeChunks), 4)
			l.saved = append(l.saved, p.logit(ceil(n, wholeChunks), 4))
			p.give(wide)
		}
		p.give(logits)
	case LossChunked:
		p.lossChunks(l)
	case LossVocabChunked:
		inner, _, _ := p.behind()
		l.saved = append(l.saved, p.logit(inner, statsOfTokens))
		p.vocabChunks(false)
	case LossFused:
		p.fusedChunks(l)
	}
}

// narrowLoss is log_softmax of n logits in the compute type; autocast widens it and also keeps its input.
func (p *program) narrowLoss(l *lossState, n, e int64) {
	logits := p.scaledLogits(p.logit(n, e))
	p.headScratch()
	read := logits
	if p.s.Copies {
		read = p.logit(n, e)
	}
	if p.s.autocast() {
		l.saved = append(l.saved, p.share(read))
		e = 4
	}
	l.saved = append(l.saved, p.logit(n, e))
	if p.s.Copies { // autocast widens what the model returns [accelerate: utils/operations.py, ConvertOutputsToFp32]
		p.give(read)
		p.give(p.logit(given(p.s.autocast(), n), 4))
	}
	p.holdOr(l, logits, p.s.Compute)
}

// scaledLogits returns the product of logits, or of their gradient, and a number, where the model has it. It takes over
// logits.
func (p *program) scaledLogits(logits handle) handle {
	if !p.s.Model.LogitMul || !p.s.written() {
		return logits
	}
	defer p.give(logits)
	return p.logit(p.s.logits(), p.s.Compute)
}

// holdOr keeps the logits if the program keeps the output of the forward with e bytes per number; else it frees them.
func (p *program) holdOr(l *lossState, logits handle, e int64) {
	if p.s.LogitsHeld == e {
		l.held = logits
		return
	}
	p.give(logits)
}

// lossBackward plays the backward of the loss, the head and the last norm, and returns the gradient of the last
// block's output.
func (p *program) lossBackward(w *pass) handle {
	_, outer, h := p.behind()
	if !p.last {
		return p.take(size(outer*h, p.s.Compute), Backwards)
	}
	p.phase = LossBackward
	if last := p.units[len(p.units)-1]; p.s.Flat && !last.block.whole { // FSDP1 gathers the last block at once
		p.unshard(last)
	}
	l := &w.loss
	g := p.nextBackward(w, p.headBackward(l))
	if !p.s.gathers() {
		p.reshard(p.head)
	}
	g = l.norm.backward(p.ledger, l.input, g, l.kept, func(w weight) { p.gradient(p.head, w) })
	if p.apart() {
		p.reduceUnit(p.head)
	}
	p.give(l.input)
	if !p.s.LogitsStay {
		p.release(&l.held)
	}
	p.give(l.capped)
	return g
}

// headBackward plays the backward of a loss and of the head, and returns the gradient of what the head has read.
func (p *program) headBackward(l *lossState) handle {
	inner, outer, h := p.behind()
	all := p.gathered(p.s.Static && !p.s.Gathered) // again
	g := p.lossGradient(l)
	p.give(all)
	p.give(l.hidden)
	if inner != outer {
		part := p.take(size(outer*h, p.s.Compute), Backwards)
		p.give(g)
		g = part
	}
	return g
}

// giveAll releases handles.
func (l *ledger) giveAll(hs []handle) {
	for i := range hs {
		l.release(&hs[i])
	}
}

// lossGradient plays the backward from the loss to the gradient of the head's input.
func (p *program) lossGradient(l *lossState) handle {
	n, e := p.s.logits(), p.s.Compute
	inner, _, _ := p.behind()
	var g handle // of the logits
	switch p.s.Loss {
	case LossBF16:
		one := p.logit(n, given(p.s.autocast(), 4-e)+e)
		g = p.logit(n, e)
		p.give(one)
		if p.s.Copies { // zeros of the last token beside it
			p.giveAll(l.saved)
			whole := p.logit(n, e)
			p.give(g)
			g = whole
		}
	case LossFP32, LossShifted, LossDivided:
		g = p.softmaxBackward(l, n)
	case LossInPlace:
		g = p.share(l.saved[0])
	case LossCompiled: // one kernel: nothing in 4 bytes
		g = p.logit(n, e)
	case LossCompiledChunks:
		return p.compiledChunks(l, n)
	case LossSharded, LossShardedCompiled: // the gradient takes the softmax's place, and is narrowed
		softmax := p.logit(given(p.s.Loss == LossShardedCompiled, n), 4)
		g = p.logit(n, e)
		p.give(softmax)
	case LossChunkedCE:
		g = p.chunksBackward(l, n)
	case LossVocabChunked:
		g = p.headGradients(inner)
		p.vocabChunks(true)
		p.giveAll(l.saved)
		return g
	default: // the forward has made it
		return l.early
	}
	p.giveAll(l.saved)
	g = p.scaledLogits(g)
	x := p.headGradients(inner)
	p.give(g)
	return x
}

// compiledChunks runs the backward of chunks that the head has made one by one. Those of all losses run before the
// first product's, since the forward ran them last [torchtune: modules/transformer.py, chunked_output;
// modules/loss/ce_chunked_output_loss.py].
func (p *program) compiledChunks(l *lossState, n int64) handle {
	inner, _, h := p.behind()
	var logits, inputs []handle
	for i := len(l.saved) - 1; i >= 0; i-- {
		logits = append(logits, p.logit(ceil(n, wholeChunks), p.s.Compute))
		p.release(&l.saved[i])
	}
	for i := range logits {
		inputs = append(inputs, p.headGradients(ceil(inner, wholeChunks)))
		p.release(&logits[i])
		if i == 1 && p.s.trains() { // added apart, since the first is a view [torch: autograd/input_buffer.cpp]
			head := size(ceil(p.s.Model.Words, p.s.Tensor)*h, p.s.Compute)
			p.giveAll([]handle{p.take(head, Gradients), p.take(head, Gradients)})
		}
	}
	defer p.giveAll(inputs)
	return p.take(size(inner*h, p.s.Compute), Backwards)
}

// softmaxBackward is the gradient of nll_loss, from it that of log_softmax, and the cast. With tensor parallel
// ranks it is zeros, an exponential, their sum and a product [torch: loss_parallel].
func (p *program) softmaxBackward(l *lossState, n int64) handle {
	one := p.logit(n, 4)
	if p.s.Tensor > 1 {
		exp := p.logit(n, 4)
		sum := p.logit(n, 4)
		p.give(exp)
		p.give(one)
		one = sum
	}
	two := p.logit(n, 4)
	p.give(one)
	p.giveAll(l.saved)
	if p.s.Loss == LossShifted { // zeros of the last token beside it
		whole := p.logit(n, 4)
		p.give(two)
		two = whole
	}
	if p.s.Loss == LossDivided { // beside the gradient its copy, a clone of the slice, and the quotient
		result, clone, quotient := p.logit(n, 4), p.logit(n, 4), p.logit(n, 4)
		p.giveAll([]handle{two, clone, quotient})
		two = result
	}
	g := p.logit(n, p.s.Compute)
	p.give(two)
	return g
}

// chunksBackward runs the backward of the chunks, last first, and concatenates their gradients [torchtitan:
// chunked_cross_entropy_loss].
func (p *program) chunksBackward(l *lossState, n int64) handle {
	part := ceil(n, wholeChunks)
	var parts []handle
	for i := len(l.saved) - 1; i >= 0; i-- {
		one, two := p.logit(part, 4), p.logit(part, 4)
		p.give(one)
		p.release(&l.saved[i])
		parts = append(parts, p.logit(part, p.s.Compute))
		p.give(two)
	}
	g := p.logit(n, p.s.Compute)
	p.giveAll(parts)
	return g
}

// headGradients makes the gradients of the head's input, of some tokens, and of its weights, and returns the former.
func (p *program) headGradients(tokens int64) handle {
	p.workspace(1)
	p.headScratch()
	_, _, h := p.behind()
	x := p.take(size(tokens*h, p.s.Compute), Backwards)
	if p.s.trains() {
		p.headGradient()
	}
	return x
}

// headGradient makes the gradient of the head's weights, which a tied head shares with the embedding.
func (p *program) headGradient() {
	u := p.head
	i := len(u.weights) - 1
	if p.s.Model.Tied && p.first {
		if i > 0 && u.weights[i].name == "head" && u.fresh[i] == 0 { // biases
			p.newGradient(u, i)
		}
		i = 0
	}
	if i < 0 || u.weights[i].name == lastNorm || p.s.Adds { // the head has no weights, or adds to the gradient
		return
	}
	if i == 0 && p.s.StepInBack && u.fresh[0] == 0 { // the step waits for the embedding's part
		u.fresh[0] = p.take(size(u.weights[0].n, p.s.Compute), Gradients)
		return
	}
	if u.fresh[i] != 0 { // the gradient of a later chunk is added in place
		p.give(p.take(p.storages[u.fresh[i]-1].bytes, Gradients))
		return
	}
	p.newGradient(u, i)
}

// lossChunks runs head, loss and their backward for one chunk of tokens after the other [torchtitan:
// ChunkedCELoss; TRL].
func (p *program) lossChunks(l *lossState) {
	inner, _, h := p.behind()
	chunk := min(cmp.Or(p.s.LossChunk, tokenChunks), inner)
	n := chunk * ceil(p.s.Model.Words, p.s.Tensor)
	l.early = p.take(size(inner*h, p.s.Compute), Backwards)
	for range min(ceil(inner, chunk), 3) { // later chunks repeat the third
		logits := p.logit(n, p.s.Compute)
		wide := p.logit(n, 4)
		soft := p.logit(n, 4)
		p.give(wide)
		one := p.logit(n, 4)
		two := p.logit(n, 4)
		p.give(one)
		p.give(soft)
		g := p.logit(n, p.s.Compute)
		p.give(two)
		p.give(logits)
		p.give(p.take(size(chunk*h, p.s.Compute), Backwards))
		if p.s.trains() {
			p.headGradient()
		}
		p.give(g)
	}
}

// vocabChunks runs over the words in chunks [prime-rl lm_head.py]. Variables of the loop live until the next
// iteration assigns them again.
func (p *program) vocabChunks(backward bool) {
	inner, _, h := p.behind()
	words := min(cmp.Or(p.s.LossChunk, vocabChunk), p.s.Model.Words)
	n, e := inner*words, p.s.Compute
	var logits, wide, probs, grads, part handle
	assign := func(v *handle, fresh handle) {
		p.give(*v)
		*v = fresh
	}
	for range min(ceil(p.s.Model.Words, words), 3) { // later chunks repeat the third
		assign(&logits, p.logit(n, e))
		assign(&wide, p.logit(n, 4))
		diff := p.logit(n, 4) // from the maximum, or from the normaliser
		exp := p.logit(n, 4)
		p.give(diff)
		if !backward {
			p.give(p.logit(n, 4)) // times the logits, for the entropy
			p.give(exp)
			continue
		}
		assign(&probs, exp)
		assign(&grads, p.logit(n, 4))
		narrow := p.logit(n, e)
		p.give(p.take(size(inner*h, e), Backwards))
		p.give(narrow)
		if p.s.trains() {
			narrow = p.logit(n, e)
			assign(&part, p.take(size(words*h, e), Gradients))
			p.give(narrow)
		}
	}
	p.giveAll([]handle{logits, wide, probs, grads, part})
}

// fusedChunks is Liger's fused head and loss. The forward makes the gradients of the input and of the head; the
// latter is a product that is added to a sum.
func (p *program) fusedChunks(l *lossState) {
	inner, _, h := p.behind()
	n := fusedChunk(inner, h, p.s.Model.Words) * p.s.Model.Words
	l.early = p.take(size(inner*h, p.s.Compute), Backwards)
	for range 3 {
		logits, wide := p.logit(n, p.s.Compute), p.logit(n, 4)
		g := p.logit(n, p.s.Compute)
		if p.s.trains() {
			p.headGradient()
		}
		p.give(g)
		p.give(wide)
		p.give(logits)
	}
}

// fusedChunk returns the number of tokens of a chunk, so that its logits are as large as the input [Liger
// fused_linear_cross_entropy.py].
func fusedChunk(tokens, h, words int64) int64 {
	want := ceil(tokens, ceil(words, h))
	chunk := int64(1)
	for chunk < want {
		chunk *= 2
	}
	return min(chunk, tokens)
}
