package llm

import "memtide/engine"

// adapter returns a weight of LoRA. row is the length of its rows, or 0 for a vector.
func adapter(name string, n, row int64) weight {
	return weight{name: name, n: n, trained: true, adapter: true, row: row}
}

// low is a product with n weights of an adapter.
func (b *builder) low(x valueID, name string, n, row int64, bytes engine.Bytes) valueID {
	return b.add(op{kind: opProduct, in: []valueID{x}, keeps: []valueID{x}, weights: []weight{adapter(name, n, row)}},
		name, bytes)
}

// adapt adds the low-rank product beside a frozen product. An adapter in fp32 widens its input and its sum [PEFT
// lora/layer.py], but not beside a product in 4 bits under autocast, whose result is copied [lora/bnb.py]. A
// dropout keeps its result and a mask.
func (b *builder) adapt(x, y valueID, name string, in, out int64) valueID {
	l := b.s.LoRA
	at := func(n int64) engine.Bytes { return size(b.inner*n, l.Bytes) }
	switch {
	case b.s.bitsandbytes() && b.s.Base == BaseInt8:
	case b.s.bitsandbytes():
		wide := b.values[y].wide
		y = b.add(op{in: []valueID{y}, byRef: true}, name+".clone", b.values[y].bytes)
		b.values[y].wide = wide
	case l.Bytes != b.e:
		x = b.retyped(x, name+".x", at(in))
	// widened to the adapter's type, then narrowed by autocast; a compiler leaves both out
	case b.s.autocast() && l.Stored > b.e && !b.s.Compiled:
		x = b.add(op{in: []valueID{x}, temp: size(b.inner*in, l.Stored)}, name+".x", at(in))
	}
	if l.Dropout {
		x = b.point(name+".dropped", max(at(in), b.values[x].bytes), []valueID{x})
		b.aside(name+".mask", size(b.inner*in, 1))
	}
	low := b.low(b.cast(x), name+".A", in*l.Rank, in, at(l.Rank))
	high := b.low(low, name+".B", out*l.Rank, l.Rank, at(out))
	if l.Dora {
		return b.dora(y, high, name, in, out)
	}
	if l.Scale {
		high = b.add(op{in: []valueID{high}}, name+".scaled", at(out))
	}
	if b.values[y].wide {
		return b.sum(y, b.promoted(high))
	}
	sum := b.add(op{in: []valueID{y, high}, byRef: l.Bytes == b.e}, name+".sum", at(out))
	if l.Bytes != b.e {
		sum = b.add(op{in: []valueID{sum}}, name+".narrow", b.act(out))
	}
	return sum
}

// promoted returns x as a wide sum reads it. There is no copy of x, but one of its gradient, which is narrowed.
func (b *builder) promoted(x valueID) valueID {
	if b.values[x].wide {
		return x
	}
	return b.add(op{in: []valueID{x}}, "promoted", 0)
}

// dora returns the sum of a product's result and what DoRA adds: (m - 1) times the result plus m times the
// adapters' output, in 4 bytes. m is a number per output: a learned magnitude over the norm of the weights. The
// norm needs the product of the adapters' matrices [PEFT: tuners/lora/dora.py, where dropout is 0].
func (b *builder) dora(y, high valueID, name string, in, out int64) valueID {
	wide := size(b.inner*out, 4)
	matrix, eye, norms := size(in*out, 4), size(in*in, 4), size(out, 4)
	if b.s.bitsandbytes() && !b.values[y].wide { // they have the type of the input
		matrix, norms = matrix/2, norms/2
	}
	o := op{in: []valueID{y}, keeps: []valueID{y}, weights: []weight{adapter(name+".magnitude", out, 0)},
		back: 2 * wide}
	// the weights, the product of the adapters, that product scaled, and the sum
	o.temp = max(4*matrix+eye/2, eye+eye/2+size(in*out, b.e))
	switch {
	case !b.s.autocast(): // the adapters read the unit matrix as it is
		o.temp = 4*matrix + eye
	case !b.s.bitsandbytes():
		o.temp += size(b.inner*in, 4) // the input in the adapters' type
	}
	o.flops = 2 * float64(b.s.LoRA.Rank) * float64(in) * float64(in+out)
	base := b.add(o, name+".base", wide)
	b.aside(name+".magnitudes", norms+size(2*out, 4))
	b.values[base].wide = true
	part := b.add(op{in: []valueID{high}, keeps: []valueID{high}, back: 2 * wide}, name+".direction", wide)
	part = b.add(op{in: []valueID{part}}, name+".scaled", wide)
	sum := b.sum(b.promoted(y), b.sum(base, part))
	if b.s.bitsandbytes() {
		return sum
	}
	return b.cast(sum)
}

// adaptQKV is litgpt's adapter of the fused product. Unless all parts are adapted it copies those that are into zeros
// as wide as all [lora.py, zero_pad]. The copy keeps its source [torch: index_copy's derivative reads the source's
// shape from the tensor itself].
func (b *builder) adaptQKV(x, qkv valueID, wide, keys int64) valueID {
	l := b.s.LoRA
	parts, out := int64(0), int64(0)
	for i, n := range []int64{wide, keys, keys} {
		if l.has([]string{"q", "k", "v"}[i]) {
			parts++
			out += n
		}
	}
	if l.Dropout {
		x = b.add(op{in: []valueID{x}}, "qkv.dropped", b.act(b.m.Hidden))
		b.aside("qkv.mask", size(b.inner*b.m.Hidden, 1))
	}
	rank := parts * l.Rank
	all := b.act(wide + 2*keys)
	low := b.low(x, "qkv.A", b.m.Hidden*rank, b.m.Hidden, b.act(rank))
	high := b.low(low, "qkv.B", out*l.Rank, l.Rank, b.act(out))
	if parts < 3 {
		high = b.add(op{in: []valueID{high}, keeps: []valueID{high}, temp: all}, "qkv.padded", all)
	}
	scaled := b.add(op{in: []valueID{high}}, "qkv.scaled", all)
	return b.add(op{in: []valueID{qkv, scaled}, byRef: true}, "qkv.sum", all)
}

// fuses reports whether a product and its adapter are one operator [unsloth: kernels/fast_lora.py; axolotl:
// kernels/lora.py].
func (b *builder) fuses(name string) bool { return b.s.LoRA.has(name) && b.s.LoRA.Fused }

// fuse returns the product o, of in x out numbers, with its adapter as one operator. The operator keeps its input
// without a copy, and adds to the result and to gradients in place.
func (b *builder) fuse(o op, name string, in, out int64) op {
	rank := b.s.LoRA.Rank
	if name != "down" { // whose input is made again over its gradient
		o.keeps = []valueID{b.share(o.in[0])}
	}
	o.weights = append(o.weights, adapter(name+".A", in*rank, in), adapter(name+".B", out*rank, rank))
	o.flops += 2 * float64(b.inner) * float64(rank) * float64(in+out)
	return o
}

// fusedGate adds the products gate and up of a net, with their adapters, and their activation as one operator, and
// returns its result. The backward writes the gradients of gate and up into their own memory.
func (b *builder) fusedGate(n valueID, wide, bias int64) valueID {
	gate := b.keep(b.linear(n, "gate", b.m.Hidden, wide, bias))
	up := b.keep(b.linear(n, "up", b.m.Hidden, wide, bias))
	b.values[gate].grad, b.values[up].grad = 0, 0
	both := []valueID{gate, up}
	return b.add(op{in: both, keeps: both, back: b.act(b.m.Hidden)}, "gated", b.act(wide))
}
