package llm

import (
	"iter"

	"memtide/engine"
)

// split returns the number of ranks that share the states of a weight.
func (s *Setup) split(w weight) int64 {
	if w.expert && s.Expert*s.Tensor > 1 {
		return s.ExpertShard
	}
	return s.Shard
}

// at returns the size of n bytes per number for a rank's part of a weight, which is shared from a level of ZeRO on.
func (s *Setup) at(w weight, zero int, bytes int64) engine.Bytes {
	n := w.n
	if s.Zero >= zero {
		n = ceil(n, s.split(w))
	}
	return size(n, bytes)
}

// storedBytes returns the bytes of a stored number: model, or the adapters' own size for a weight of an adapter.
func (s *Setup) storedBytes(w weight, model int64) int64 {
	if w.adapter {
		return s.LoRA.Stored
	}
	return model
}

// Scales of weights in 4 bits.
const (
	scaled = 64  // numbers per scale
	nested = 256 // scales per scale of scales
)

// quantised reports whether a weight is stored in 8 or 4 bits. bitsandbytes does so with linear layers alone, which
// experts of Transformers 5 are not: theirs are tensors of three dimensions [bitsandbytes#1849].
func (s *Setup) quantised(w weight) bool {
	return s.Base != BaseSame && w.rows > 0 && !w.trained && !(w.expert && s.wideExperts())
}

// wideExperts reports whether frozen experts stay in 16 bits beside products in 8 or 4 bits.
func (s *Setup) wideExperts() bool {
	packed := s.Base == BaseInt8 || s.Base == BaseNF4 || s.Base == BaseNF4Double
	return packed && s.Written && !s.Linears && s.Model.has(func(k *Block) bool { return k.MoE != nil })
}

// packed returns the bytes of n numbers of a weight in 8 or 4 bits, with their scales.
func (s *Setup) packed(w weight, n int64) engine.Bytes {
	scales := ceil(n, scaled)
	switch s.Base {
	case BaseFP8:
		return s.numbers(n)
	case BaseInt8:
		return s.numbers(n) + size(ceil(n, w.rows), 4)
	case BaseNF4Double:
		return s.numbers(n) + size(scales+4*ceil(scales, nested), 1)
	}
	return s.numbers(n) + size(scales, 4)
}

// numbers returns the bytes of n numbers of a weight in 8 or 4 bits without their scales.
func (s *Setup) numbers(n int64) engine.Bytes {
	eight := s.Base == BaseFP8 || s.Base == BaseInt8
	return size(ceil(n, 2-given(eight, 1)), 1)
}

// weightBytes returns the bytes of a weight as a rank stores it. Scales are no parameters, so that each rank has all of
// them [bitsandbytes: functional.py, QuantState; fsdp_qlora: train.py, load_and_quantize], but with torchtune a part of
// a tensor that is shared and gathered with them [torchao: dtypes/nf4tensor.py, nf4_split and fsdp_pre_all_gather].
func (s *Setup) weightBytes(w weight) engine.Bytes {
	switch {
	case s.quantised(w) && s.Tune && s.Zero >= 3:
		return s.packed(w, ceil(w.n, s.split(w)))
	case s.quantised(w):
		bytes := s.packed(w, w.n)
		if s.Zero >= 3 {
			bytes += s.numbers(ceil(w.n, s.split(w))) - s.numbers(w.n)
		}
		return bytes
	}
	return s.at(w, 3, s.storedBytes(w, s.Weight))
}

// gathered returns the bytes of n numbers of a weight while and after ranks gather it.
func (s *Setup) gathered(w weight, n int64) engine.Bytes {
	switch {
	case s.quantised(w) && s.Tune:
		return s.packed(w, n)
	case s.quantised(w):
		return s.numbers(n)
	case w.rows > 0 && s.Float8:
		return size(n, s.Gather)
	}
	return size(n, s.Compute)
}

// narrowed returns the scratch of a product over some tokens whose operands have another type than stored values.
// A weight in 4 bits is widened for each pass [bitsandbytes: autograd/_functions.py, MatMul4Bit]. A product in 8
// bits keeps its wide input and narrows it again; the products of its backward read both operands in either order
// [torchao: float8_linear.py, matmul_with_hp_or_float8_args; float8_ops.py].
func (b *builder) narrowed(w weight, tokens int64) (forward, back engine.Bytes) {
	switch s := b.s; {
	// the input in fp16 and INT8; in the backward the weight [bitsandbytes: MatMul8bitLt]
	case s.quantised(w) && s.Base == BaseInt8:
		return size(tokens*w.rows, 3), size(w.n, b.e)
	case s.quantised(w) && s.Base == BaseFP8: // without its scales
		return size(w.n, b.e), 0
	case s.quantised(w):
		return s.widenedBytes(w), s.widenedBytes(w)
	case s.Float8:
		weights := size(w.n, 1)
		if s.gathers() && s.Gather == 1 { // gathered in 8 bits
			weights = 0
		}
		in, out := size(tokens*w.rows, 1), size(tokens*w.cols, 1)
		back = out + weights
		if w.trained {
			back = max(back, 2*(in+out))
		}
		return in + weights, back
	}
	return 0, 0
}

// widenedBytes returns the scratch of a product with a weight in 4 bits. Lightning quantises weights in fp16, so that
// under litgpt a widened one is narrowed to bf16 in a second copy [lightning: fabric, precision/bitsandbytes.py].
func (s *Setup) widenedBytes(w weight) engine.Bytes {
	return size(w.n, s.Compute*(1+given(s.Litgpt, 1)))
}

// buffered returns the bytes of the inputs that products in 4 bits have kept. They stay until the graph of the loss
// goes, which the training loop's variable has until the next one [litgpt: finetune/lora.py, fit].
func (p *program) buffered() (sum engine.Bytes) {
	if !p.s.Buffered {
		return 0
	}
	for _, u := range p.units {
		known := map[valueID]bool{}
		for _, o := range u.block.ops {
			if len(o.weights) == 0 || len(o.keeps) == 0 || !p.s.quantised(o.weights[0]) {
				continue
			}
			if root := u.block.values[o.keeps[0]].root; !known[root] {
				known[root] = true
				sum += u.block.values[root].bytes
			}
		}
	}
	return sum
}

// headScratch plays the widened copies of a head in 4 bits, which litgpt's is.
func (p *program) headScratch() {
	for _, w := range p.head.weights {
		if w.name == "head" && p.s.quantised(w) {
			p.give(p.take(p.s.widenedBytes(w), Gathered))
		}
	}
}

func (p *program) weights() iter.Seq[weight] {
	return func(yield func(weight) bool) {
		for _, u := range p.all() {
			for _, w := range u.weights {
				if !yield(w) {
					return
				}
			}
		}
	}
}
