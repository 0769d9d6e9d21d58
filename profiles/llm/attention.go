package llm

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// AttentionKind is the kernel of attention.
type AttentionKind string

// The kinds of Attention: a kernel that keeps a statistic of each row; the kernel that PyTorch's
// scaled_dot_product_attention chooses, which is such a kernel, or one that needs keys and values at the width of
// the queries and a mask for each layer; and products and a softmax, which keep the scores.
const (
	AttentionFlash AttentionKind = "flash"
	AttentionSDPA  AttentionKind = "sdpa"
	AttentionEager AttentionKind = "eager"
)

// flashHead is the widest head of flash attention [flash_api.cpp].
const flashHead = 256

// efficient reports whether scaled_dot_product_attention takes the memory-efficient kernel for a block: for a
// mask, for heads of two widths, or for heads that are too wide for flash attention [torch:
// aten/src/ATen/native/transformers/cuda/sdp_utils.cpp].
func (s *Setup) efficient(k *Block) bool {
	return s.Attention == AttentionSDPA && k.attends() && (s.masked(k) || k.Buckets > 0 || k.Head > flashHead ||
		k.MLA != nil && k.MLA.Value != k.MLA.Nope+k.MLA.Rope)
}

// masked reports whether a token of a block does not see all tokens before it, or whether there is a mask all the same.
func (s *Setup) masked(k *Block) bool { return s.windowed(k) || k.Index != nil || k.Masks }

// windowed reports whether sequences are at least as long as a block's window, which then needs a mask
// [transformers: masking_utils.py, _ignore_causal_mask_sdpa].
func (s *Setup) windowed(k *Block) bool { return k.Window > 0 && s.Seq >= k.Window }

// tables adds the values that blocks share: positions, tables of their rotation, masks.
func (b *builder) tables() {
	if b.seen == nil || !b.s.written() && !(b.k.Cross && b.s.TE) {
		return
	}
	// The first block that keeps a value for autograd may not be the first whose checkpoint holds it.
	first := func(name string, bytes engine.Bytes, kept bool) {
		held := !b.seen[name]
		kept = kept && !b.seen["kept "+name]
		b.seen[name] = true
		b.seen["kept "+name] = b.seen["kept "+name] || kept
		if held || kept {
			b.shared(name, bytes, kept, held)
		}
	}
	k, s := b.k, b.s
	if k.Dit != nil {
		b.ditTables(first)
		return
	}
	if u := k.Unet; u != nil && u.Part == UnetResNet {
		first("time", b.unetFront(), s.trains())
	}
	if !k.NoIDs {
		first("positions", size(s.part(), 8), false)
	}
	if b.m.Positions == 0 && !k.NoTables && (!k.NoIDs || k.Axes > 0) { // the model passes tables to the block
		first("rotation "+k.RopeName, b.tableBytes(), !k.NoRope && k.attends() && !k.RopeOwn)
	}
	if k.Cross {
		_, outer := s.encoder.tokens()
		first("encoder", size(outer*s.encoder.Model.Hidden, b.e), true)
	}
	if k.Buckets > 0 && !k.FirstBias { // the biases are made in another block
		if k.Both {
			first("bias of encoder", size(k.Heads*s.Seq*s.Seq, b.e), false)
		} else {
			first("bias", size(k.Heads*s.Seq*(s.Seq+s.encoder.Seq), b.e), false)
		}
	}
	if k.Original {
		first("original", size(b.inner*b.m.Hidden, b.e), false)
	}
	if k.Hybrid != nil { // the checkpoint also holds the input of the state space
		b.shared("beside", size(b.inner*b.m.Hidden, b.e), false, true)
	}
	if k.Compressed != nil { // tables for both kinds of layers, which widen them
		first("rotations", 4*size(s.Seq*k.Compressed.Rope/2, b.e), false)
	}
	if k.PerLayer != nil {
		first("inputs of layers", size(b.inner*b.m.Layers*k.PerLayer.Width, b.e), true)
	}
	if k.Index != nil && k.Index.Handed {
		b.shared("index", size(s.Batch*s.Seq*min(s.Seq, k.Index.TopK), 4), false, true)
	}
	b.masks(first)
}

// masks adds the masks that blocks share, and DeBERTa's table of distances.
func (b *builder) masks(first func(name string, bytes engine.Bytes, kept bool)) {
	k, s := b.k, b.s
	if k.OwnMask {
		first("mask", size(s.Batch*s.Seq*s.Seq, 4), false)
		first("distances", size(k.Distances*b.m.Hidden, b.e), !k.Dropout)
	}
	if k.Both && !s.masked(k) || !k.attends() && !k.MaskAll || !s.written() {
		return
	}
	kind := "mask"
	if k.Window > 0 && !k.MaskAll {
		kind = "mask of windows"
	}
	if s.Attention == AttentionEager {
		first(kind, size(s.Batch*s.Seq*s.Seq, b.e), false)
	} else if s.Attention == AttentionSDPA && (s.windowed(k) || k.Masks) {
		first(kind, size(s.Batch*s.Seq*s.Seq, 1), false)
	}
}

func (k *Block) attends() bool {
	return !k.NoMixer && k.Delta == nil && (k.SSM == nil || k.Twin || k.Hybrid != nil) && k.Conv == nil &&
		k.Scan == nil && k.LRU == nil
}

// tableBytes returns the bytes of the tables of rotation: cosines and sines.
func (b *builder) tableBytes() engine.Bytes {
	k, rows := b.k, b.s.part()
	if k.Each {
		rows *= b.s.Batch
	}
	e := b.e
	if k.RopeWide || b.s.wideStream() {
		e = 4
	}
	turned := cmp.Or(k.Rope, k.Head) // numbers of a head that are rotated
	if k.MLA != nil {
		turned = k.MLA.Rope
	}
	n := 2 * ceil(turned, 2)
	if k.RopeHalf {
		n /= 2
	}
	return 2 * size(max(k.Axes, 1)*rows*n, e)
}

// attention is everything from the normalised input to the value that is added to the stream.
func (b *builder) attention(n valueID) valueID {
	if b.k.MLA != nil {
		return b.latent(n)
	}
	k, tp := b.k, b.s.Tensor
	wide, keys := k.Heads/tp*k.Head, ceil(k.Keys, tp)*k.Head
	q, key, v, gate := b.queries(n, wide, keys)
	normed := func() {
		if k.QKNorm {
			q = b.headNorm(q, "qn", wide, k.Heads/tp)
			if !k.SameKV {
				key = b.headNorm(key, "kn", keys, ceil(k.Keys, tp))
			}
		}
	}
	if !k.HeadLast {
		normed()
	}
	if k.VNorm && !k.SameKV {
		v = b.normAs(b.bareForm(), v, "vn", b.inner*keys/k.Head, k.Head, 0)
	}
	if b.m.Positions == 0 && !k.NoRope && !b.s.BatchFirst { // which rotates in place
		q = b.rotate(q, "q.rope", wide)
		if !k.SameKV {
			key = b.rotate(key, "k.rope", keys)
		}
		// Transformer Engine copies values that do not lie as queries and keys do [TE: dot_product_attention/utils.py,
		// get_qkv_layout]. A checkpoint of attention keeps them where they were.
		if b.s.FusedQKV && b.s.Static && !b.s.Local &&
			(b.s.Checkpoint != CheckpointModules || !slices.Contains(b.s.Recompute, "core_attn")) {
			v = b.repeat(v, "v.copy", keys)
		}
	}
	if k.HeadLast {
		normed()
	}
	q = b.scaled(q, b.act(wide))
	if (b.s.RepeatKeys || k.Repeat && b.s.written()) && keys < wide {
		key, v = b.repeat(key, "k.rep", wide), b.repeat(v, "v.rep", wide)
		keys = wide
	}
	a := b.attend(q, key, v, wide, keys, wide)
	if gate != noValue && b.s.TE { // one kernel [Megatron-LM: core/transformer/attention.py, _apply_output_gate]
		a = b.point("gate.out", b.act(wide), []valueID{a, gate}, a, gate)
	} else if gate != noValue {
		sig := b.keep(b.point("gate.sigmoid", b.act(wide), []valueID{gate}))
		a = b.point("gate.out", b.act(wide), []valueID{a, sig}, a, sig)
	}
	if b.s.BatchFirst && b.s.Batch > 1 { // the product's input has the sequence first
		a = b.add(op{in: []valueID{a}}, "attention.copy", b.act(wide))
	}
	return b.scatter(b.linear(a, "o", wide, b.m.Hidden, given(k.Bias || k.OutBias, b.m.Hidden)))
}

// scaled multiplies queries by a number per position, if the block does so.
func (b *builder) scaled(q valueID, bytes engine.Bytes) valueID {
	if b.k.Scale == 0 || !b.s.written() {
		return q
	}
	q = b.point("q.scaled", bytes, []valueID{q})
	b.copied("q.scale", size(b.s.part(), b.k.Scale))
	return q
}

const noValue valueID = -1

// queries returns queries, keys, values, and the gate of attention's result or noValue.
func (b *builder) queries(n valueID, wide, keys int64) (q, k, v, gate valueID) {
	gate = noValue
	bias := func(n int64) int64 { return given(b.k.QKVBias || b.k.Bias, n) }
	h := b.m.Hidden
	if b.s.FusedQKV || b.k.Joined && b.s.written() {
		both := wide + given(b.k.QGate, wide)
		qkv := b.linear(n, "qkv", h, both+2*keys, bias(both+2*keys))
		if b.s.FusedQKV && (b.s.LoRA.has("q") || b.s.LoRA.has("v")) {
			qkv = b.adaptQKV(n, qkv, both, keys)
		}
		if b.s.BatchFirst {
			return b.batchFirst(qkv, wide, keys)
		}
		count, widths := 3+given(b.k.QGate, 1), []engine.Bytes{b.act(wide), b.act(keys), b.act(keys), b.act(wide)}
		parts := append(b.split(qkv, []string{"q", "k", "v", "gate"}[:count], widths[:count]), noValue)
		return parts[0], parts[1], parts[2], parts[3]
	}
	if b.k.OneQKV {
		n = b.cast(n)
	}
	if b.k.QGate {
		both := b.linear(n, "q", h, 2*wide, bias(2*wide))
		parts := b.split(both, []string{"q.part", "gate"}, []engine.Bytes{b.act(wide), b.act(wide)})
		q, gate = parts[0], parts[1]
	} else {
		q = b.linear(n, "q", h, wide, bias(wide))
	}
	switch {
	case b.k.SameKV: // counted in the block that made them
		k, v = b.add(op{in: []valueID{n}}, "k.same", 0), b.add(op{in: []valueID{n}}, "v.same", 0)
	case b.k.KeyValue:
		k = b.linear(n, "k", h, keys, bias(keys))
		v = k
	case b.k.Clip: // in place, for which autograd keeps a copy of each
		b.aside("q.whole", b.act(wide))
		k = b.linear(n, "k", h, keys, bias(keys))
		b.aside("k.whole", b.act(keys))
		v = b.linear(n, "v", h, keys, bias(keys))
		b.aside("v.whole", b.act(keys))
	default:
		k, v = b.linear(n, "k", h, keys, given(!b.k.BareKeys, bias(keys))), b.linear(n, "v", h, keys, bias(keys))
	}
	return q, k, v, gate
}

// batchFirst copies the parts of a joint product. With as many keys as queries the copy is one, which the queries
// keep whole; keys and values are copied again, together, and rotated in place.
func (b *builder) batchFirst(qkv valueID, wide, keys int64) (q, k, v, gate valueID) {
	own := wide
	if keys == wide {
		own += 2 * keys
	}
	q = b.add(op{in: []valueID{qkv}}, "q.copy", b.act(own))
	kv := b.add(op{in: []valueID{qkv}}, "kv.copy", b.act(2*keys))
	parts := b.split(kv, []string{"k", "v"}, []engine.Bytes{b.act(keys), b.act(keys)})
	return q, parts[0], parts[1], noValue
}

// bareForm returns the form of the block's norms without weights.
func (b *builder) bareForm() NormForm {
	if b.k.Form == FormPower {
		return FormPower
	}
	return FormBare
}

// headNorm normalises queries or keys, by head or over all heads at once.
func (b *builder) headNorm(x valueID, name string, wide, heads int64) valueID {
	form, rows, n := b.k.Form, b.inner*heads, b.k.Head
	if b.k.WholeQK {
		rows, n = b.inner, wide
	}
	weights := b.k.normParams(n)
	switch {
	case b.k.Bare:
		form, weights = FormBare, 0
	case b.k.EachHead:
		weights = n * heads
	}
	return b.normAs(form, x, name, rows, n, weights)
}

// rotate applies positions to queries or keys. It needs scratch, and keeps nothing but tables that the layer
// makes itself.
func (b *builder) rotate(x valueID, name string, n int64) valueID {
	temp := size(b.inner*n, b.s.RotateTemp)
	if b.s.Compiled && !b.s.partitioned() {
		temp = 0
	}
	bytes := b.act(n)
	if b.s.wideStream() { // the tables have the type of the stream
		bytes = size(b.inner*n, 4)
	}
	y := b.add(op{in: []valueID{x}, temp: temp, back: temp}, name, bytes)
	b.values[y].wide = b.s.wideStream()
	if b.k.RopeOwn && b.s.written() && (name == "q.rope" || b.k.RopeEach) {
		b.copied("tables", b.tableBytes()/engine.Bytes(max(b.k.Axes, 1))) // merged to one axis
	}
	return y
}

func (b *builder) repeat(x valueID, name string, wide int64) valueID {
	return b.add(op{in: []valueID{x}}, name, b.act(wide))
}

// attend is attention by the chosen kernel. A kernel keeps its operands, its result and a statistic of each row.
// Its backward sums the gradient of the queries in fp32. If queries share keys, it has gradients of keys and
// values at the width of the queries [flash_api.cpp].
func (b *builder) attend(q, k, v valueID, wide, keys, values int64) valueID {
	q, k, v = b.cast(q), b.cast(k), b.cast(v)
	// no kernel of Transformer Engine has a backward of wider heads [TE: dot_product_attention/utils.py]
	if b.s.Attention == AttentionEager || b.s.TE && b.k.MLA == nil && b.k.Head > flashHead {
		return b.scores(q, k, v, wide, keys, values)
	}
	if b.s.Attention == AttentionSDPA && b.k.Single && keys < wide && b.s.written() {
		return b.mathScores(q, k, v, wide, values)
	}
	efficient := b.s.efficient(b.k)
	if efficient && keys < wide {
		k, v = b.repeat(k, "k.rep", wide), b.repeat(v, "v.rep", wide)
		keys = wide
	}
	rows := values // width of the result for the next product
	pad := b.k.MLA == nil && b.k.Head%headStep != 0 && b.s.written()
	if pad {
		wide, keys, values = padded(wide, b.k.Head), padded(keys, b.k.Head), padded(values, b.k.Head)
		q, k, v = b.repeat(q, "q.padded", wide), b.repeat(k, "k.padded", keys), b.repeat(v, "v.padded", keys)
	}
	heads := b.k.Heads / b.s.Tensor
	back := size(b.inner*heads, 4)
	if !b.s.PlainDQ {
		back += size(b.inner*wide, 4)
	}
	if keys < wide {
		back += 2 * b.act(wide)
	}
	o := op{kind: opAttention, in: []valueID{q, k, v}, keeps: []valueID{q, k, v}, back: back,
		flops: b.attentionFlops(wide + values)}
	if b.s.Context > 1 { // keys and values of all ranks [torch: the allgather rotation]
		o.temp = 2 * size(b.inner*b.s.Context*keys, b.e)
		o.back += 2 * o.temp
	}
	a := b.add(o, "attention", b.act(values))
	b.keep(a)
	if b.k.Sinks {
		b.extra("sinks", heads)
	}
	queries := b.inner
	if efficient {
		queries += b.s.Batch * (upTo(b.s.Seq, efficientRows) - b.s.Seq)
	}
	b.aside("statistics", size(queries*heads, 4))
	if b.k.Buckets > 0 {
		b.positionBias(efficient)
	}
	if efficient && b.s.masked(b.k) {
		b.aside("mask", size(b.s.Batch*b.s.Seq*upTo(b.s.Seq, efficientMask), b.e))
	}
	// before Hopper Transformer Engine takes FlashAttention and turns its result [TE: attention, backends.py]
	turned := b.s.Static && !b.s.BatchFirst && b.s.Batch > 1 && b.s.Workspace == workspaceAmpere
	if pad || turned || !efficient && b.s.written() && b.concatenated() {
		return b.add(op{in: []valueID{a}}, "attention.rows", b.act(rows))
	}
	return a
}

// The memory-efficient kernel pads its statistics to a multiple of efficientRows rows, and needs
// rows of a mask that are a multiple of efficientMask keys long [torch: mem_eff_attention/kernel_forward.h,
// kAlignLSE; sdpa_utils.cpp, pad_bias].
const (
	efficientRows = 32
	efficientMask = 16
)

func upTo(n, step int64) int64 { return ceil(n, step) * step }

// headStep is the number to a multiple of which flash attention pads heads [torch: sdp_utils.cpp, pad_last_dim].
const headStep = 8

// padded returns the width of some heads together after each is padded.
func padded(wide, head int64) int64 { return wide / head * upTo(head, headStep) }

// concatenated reports whether queries are concatenated from two parts, for example where a part of each head is
// rotated. Their heads are then not contiguous, nor are those of flash attention's result, which is copied for
// the next product.
func (b *builder) concatenated() bool {
	k := b.k
	return k.MLA != nil || k.Apart || k.Joined && !k.Repeat && b.m.Positions == 0 && !k.NoRope && !k.Both ||
		k.Rope > 0 && k.Rope < k.Head && !k.NoRope
}

// attentionFlops returns the operations of scores and weighted values. Causal attention computes half of the square.
func (b *builder) attentionFlops(widths int64) float64 {
	seen := float64(b.s.Seq)
	if b.k.Both {
		seen *= 2
	}
	if b.crossing {
		seen = 2 * float64(b.keys)
	}
	if w := b.k.Window; w > 0 {
		seen = min(seen, 2*float64(w))
	}
	return 2 * float64(b.inner) * seen * float64(widths) / 2
}

// Index is the indexer of DeepSeek's sparse attention. It scores all keys for each token, and attention sees the
// best. Only a loss of its own trains it.
type Index struct {
	Heads, Head int64
	TopK        int64 // keys that a token sees
	Shared      bool  // the layer uses the choice of the layer before
	Handed      bool  // the layer passes its choice to the next layer
}

// index adds the weights of an indexer, which keeps nothing for the backward.
func (b *builder) index() {
	if i := b.k.Index; i != nil && !i.Shared {
		o := &b.ops[len(b.ops)-1]
		o.weights = append(o.weights, weight{name: "index",
			n: b.k.MLA.QRank*i.Heads*i.Head + b.m.Hidden*(i.Head+i.Heads) + 2*i.Head})
	}
}

// latent is DeepSeek's attention. Keys and values are made from one compressed vector per token, and the part of
// each head without positions is concatenated with the rotated part.
func (b *builder) latent(n valueID) valueID {
	l, tp, h := b.k.MLA, b.s.Tensor, b.m.Hidden
	heads := b.k.Heads / tp
	q, in := n, h
	narrow, whole := b.inner, func(x valueID) valueID { return x }
	if b.s.TE { // ranks gather compressed rows [Megatron-LM: core/transformer/multi_latent_attention.py]
		narrow, whole = b.outer, b.collect
	}
	if l.QRank > 0 {
		b.over(narrow, func() { q = b.norm(b.linear(n, "q.down", h, l.QRank, 0), "qn", b.inner, l.QRank) })
		in = l.QRank
	}
	width := l.Nope + l.Rope
	q = b.linear(whole(q), "q", in, heads*width, 0)
	var parts []valueID
	var c valueID
	b.over(narrow, func() {
		kv := b.linear(n, "kv.down", h, l.KVRank+l.Rope, 0)
		parts = b.split(kv, []string{"kv.part", "k.pe"}, []engine.Bytes{b.act(l.KVRank), b.act(l.Rope)})
		c = b.norm(parts[0], "kvn", b.inner, l.KVRank)
	})
	b.index()
	c = whole(c)
	up := b.linear(c, "kv.up", l.KVRank, heads*(l.Nope+l.Value), 0)
	kv2 := b.split(up, []string{"k.nope", "v"}, []engine.Bytes{b.act(heads * l.Nope), b.act(heads * l.Value)})
	q = b.rotate(q, "q.rope", heads*width)
	q = b.scaled(q, b.act(heads*width))
	k := b.add(op{in: []valueID{parts[1], kv2[0]}, temp: size(b.inner*l.Rope, b.s.RotateTemp)}, "k.cat",
		b.act(heads*width))
	v := kv2[1]
	if b.s.TE {
		v = b.repeat(v, "v.copy", heads*l.Value)
	}
	a := b.attend(q, k, v, heads*width, heads*width, heads*l.Value)
	return b.scatter(b.linear(a, "o", heads*l.Value, h, 0))
}
