package llm

import "memtide/engine"

// Hybrid is the part that several blocks of Zamba 2 share, in front of their state space: it
// reads the block's input beside the model's.
type Hybrid struct {
	Rank int64 // of what each use adds to the first product of the net
	QKV  bool  // and to queries, keys and values
	// uses whose additions come with the weights, as in the first block; 0: the weights are an earlier block's
	Adapters int64
}

// hybrid returns what the shared part makes of a block's input [transformers: Zamba2AttentionDecoderLayer].
func (b *builder) hybrid(x valueID) valueID {
	y, k, h, t := b.k.Hybrid, b.k, b.m.Hidden, b.inner
	from, wide := len(b.ops), k.Heads*k.Head
	both := b.add(op{in: []valueID{x}}, "both", 2*b.values[x].bytes)
	n := b.norm(both, "shared.n1", t, 2*h)
	added := int64(0) // weights of the additions of one use
	add := func(in, v valueID, name string, from, to int64) valueID {
		added += y.Rank * (from + to)
		at := len(b.ops)
		v = b.sum(v, b.linear(b.linear(in, name+".low", from, y.Rank, 0), name+".high", y.Rank, to, 0))
		b.tied(at)
		return v
	}
	parts := [3]valueID{}
	for i, name := range []string{"q", "k", "v"} {
		out := wide
		if i > 0 {
			out = k.Keys * k.Head
		}
		parts[i] = b.linear(n, name, 2*h, out, 0)
		if y.QKV {
			parts[i] = add(n, parts[i], name, 2*h, 2*h)
		}
	}
	q, key := parts[0], parts[1]
	if !k.NoRope {
		q, key = b.rotate(q, "q.rope", wide), b.rotate(key, "k.rope", k.Keys*k.Head)
	}
	a := b.linear(b.attend(q, key, parts[2], wide, k.Keys*k.Head, wide), "o", wide, h, 0)
	n = b.norm(a, "shared.n2", t, h)
	net := add(n, b.linear(n, "gate", h, 2*k.Wide, 0), "gate", h, 2*k.Wide)
	halves := b.split(net, []string{"gate.half", "up.half"}, []engine.Bytes{b.act(k.Wide), b.act(k.Wide)})
	f := b.linear(b.gated(halves[0], halves[1], b.act(k.Wide)), "down", k.Wide, h, 0)
	if y.Adapters == 0 {
		b.tied(from)
	} else {
		b.extra("additions", y.Adapters*added)
	}
	out := b.linear(f, "shared.o", h, h, 0)
	return b.add(op{in: []valueID{x, out}}, "beside", b.values[x].bytes)
}
