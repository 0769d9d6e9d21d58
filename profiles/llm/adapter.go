package llm

import "memtide/engine"

// adapter returns a weight of LoRA.
func adapter(name string, n int64) weight {
	return weight{name: name, n: n, trained: true, adapter: true}
}

// adapt adds the low-rank product beside a frozen one. An adapter in fp32 widens its
// input and its sum [PEFT lora/layer.py], but not of a product in 4 bits under autocast, whose
// result is copied [lora/bnb.py]; a dropout keeps its result and a mask.
func (b *builder) adapt(x, y valueID, name string, in, out int64) valueID {
	l := b.s.LoRA
	at := func(n int64) engine.Bytes { return size(b.inner*n, l.Bytes) }
	switch {
	case b.s.fourBits():
		wide := b.values[y].wide
		y = b.add(op{in: []valueID{y}, byRef: true}, name+".clone", b.values[y].bytes)
		b.values[y].wide = wide
	case l.Bytes != b.e:
		x = b.add(op{in: []valueID{x}}, name+".x", at(in))
	case b.s.autocast() && l.Stored > b.e: // widened to the type of the adapter, then narrowed by autocast
		x = b.add(op{in: []valueID{x}, temp: size(b.inner*in, l.Stored)}, name+".x", at(in))
	}
	if l.Dropout {
		x = b.add(op{in: []valueID{x}}, name+".dropped", at(in))
		b.aside(name+".mask", size(b.inner*in, 1))
	}
	low := b.add(op{kind: opProduct, in: []valueID{x}, keeps: []valueID{x}, weights: []weight{adapter(name+".A", in*l.Rank)}}, name+".A", at(l.Rank))
	high := b.add(op{kind: opProduct, in: []valueID{low}, keeps: []valueID{low}, weights: []weight{adapter(name+".B", out*l.Rank)}}, name+".B", at(out))
	if l.Scale {
		high = b.add(op{in: []valueID{high}}, name+".scaled", at(out))
	}
	if b.values[y].wide {
		return b.sum(y, b.add(op{in: []valueID{high}}, name+".wide", 0)) // whose gradient is narrowed
	}
	sum := b.add(op{in: []valueID{y, high}, byRef: l.Bytes == b.e}, name+".sum", at(out))
	if l.Bytes != b.e {
		sum = b.add(op{in: []valueID{sum}}, name+".narrow", b.act(out))
	}
	return sum
}

// adaptQKV is litgpt's adapter of the fused product: the parts that are adapted are
// copied into zeros as wide as all three. The copy keeps its source [torch: index_copy's
// derivative reads the source's shape from the tensor itself].
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
	low := b.add(op{kind: opProduct, in: []valueID{x}, keeps: []valueID{x}, weights: []weight{adapter("qkv.A", b.m.Hidden*rank)}}, "qkv.A", b.act(rank))
	high := b.add(op{kind: opProduct, in: []valueID{low}, keeps: []valueID{low}, weights: []weight{adapter("qkv.B", out*l.Rank)}}, "qkv.B", b.act(out))
	padded := b.add(op{in: []valueID{high}, keeps: []valueID{high}, temp: all}, "qkv.padded", all)
	scaled := b.add(op{in: []valueID{padded}}, "qkv.scaled", all)
	return b.add(op{in: []valueID{qkv, scaled}, byRef: true}, "qkv.sum", all)
}
