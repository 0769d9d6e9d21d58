package graphs

import (
	"time"

	"memtide/engine"
)

// Transformer returns a training step like that of GPT-2 with unfused attention and dropout: layers of 12 forward
// and 11 backward operations, with embedding and head. Hidden size 1024, 16 heads, sequences of 1024, batch 8;
// times are modelled. Weights are not counted.
func Transformer(layers int) *engine.Graph {
	const b, s, h, heads, vocab = 8, 1024, 1024, 16, 50257
	const stream, att = 2 * b * s * h, 2 * b * heads * s * s
	const matmul, score = 2 * b * s * h * h, 2 * b * s * s * h
	t := &transformer{g: &engine.Graph{Done: engine.NoValue}}
	ids := t.value(8 * b * s)
	t.g.Values[ids].Initial = engine.OnDevice
	x := t.op("emb", 0, 2*stream, []engine.ValueID{ids}, stream)[0]
	type saved struct{ x, n1, qkv, p, pd, mask, o, r1, n2, f1, gl engine.ValueID }
	var all []saved
	type ids1 = []engine.ValueID
	for range layers {
		y := saved{x: x}
		y.n1 = t.op("ln1", 0, 2*stream, ids1{x}, stream)[0]
		y.qkv = t.op("qkv", 3*matmul, 4*stream, ids1{y.n1}, 3*stream)[0]
		sc := t.op("score", score, att+2*stream, ids1{y.qkv}, att)[0]
		y.p = t.op("softmax", 0, 2*att, ids1{sc}, att)[0]
		drop := t.op("drop", 0, 5*att/2, ids1{y.p}, att, att/2)
		y.pd, y.mask = drop[0], drop[1]
		y.o = t.op("av", score, att+2*stream, ids1{y.pd, y.qkv}, stream)[0]
		proj := t.op("proj", matmul, 2*stream, ids1{y.o}, stream)[0]
		y.r1 = t.op("add1", 0, 3*stream, ids1{proj, x}, stream)[0]
		y.n2 = t.op("ln2", 0, 2*stream, ids1{y.r1}, stream)[0]
		y.f1 = t.op("fc1", 4*matmul, 5*stream, ids1{y.n2}, 4*stream)[0]
		y.gl = t.op("gelu", 0, 8*stream, ids1{y.f1}, 4*stream)[0]
		x = t.op("fc2", 4*matmul, 6*stream, ids1{y.gl, y.r1}, stream)[0]
		all = append(all, y)
	}
	const logits = 2 * b * s * vocab
	lg := t.op("loss", 2*b*s*h*vocab, 2*logits, ids1{x}, logits)[0]
	t.pass = engine.Backward
	d := t.op("b_loss", 4*b*s*h*vocab, 2*logits, ids1{x, lg}, stream)[0]
	for l := layers - 1; l >= 0; l-- {
		y := all[l]
		dg := t.op("b_fc2", 8*matmul, 6*stream, ids1{d, y.gl}, 4*stream)[0]
		df := t.op("b_gelu", 0, 12*stream, ids1{dg, y.f1}, 4*stream)[0]
		dn := t.op("b_fc1", 8*matmul, 6*stream, ids1{df, y.n2}, stream)[0]
		dr := t.op("b_ln2", 0, 4*stream, ids1{dn, y.r1, d}, stream)[0]
		do := t.op("b_proj", 2*matmul, 3*stream, ids1{dr, y.o}, stream)[0]
		av := t.op("b_av", 2*score, 2*att+3*stream, ids1{do, y.pd, y.qkv}, att, stream)
		dp := t.op("b_drop", 0, 5*att/2, ids1{av[0], y.mask}, att)[0]
		ds := t.op("b_softmax", 0, 3*att, ids1{dp, y.p}, att)[0]
		dqk := t.op("b_score", 2*score, att+4*stream, ids1{ds, y.qkv}, 2*stream)[0]
		dn1 := t.op("b_qkv", 6*matmul, 5*stream, ids1{dqk, av[1], y.n1}, stream)[0]
		d = t.op("b_ln1", 0, 4*stream, ids1{dn1, y.x, dr}, stream)[0]
	}
	t.op("b_emb", 0, 2*stream, ids1{d}, 8)
	return t.g
}

type transformer struct {
	g    *engine.Graph
	pass engine.Pass
}

func (t *transformer) value(size engine.Bytes) engine.ValueID {
	t.g.Values = append(t.g.Values, engine.Value{Name: "v", Size: size, PartOf: engine.NoValue})
	return engine.ValueID(len(t.g.Values) - 1)
}

// op adds an operation. Its time is that of the arithmetic at 150 teraflops, plus that of the memory traffic at
// 1.6 TB/s, plus 3 us.
func (t *transformer) op(name string, flops, bytes int64, in []engine.ValueID,
	out ...engine.Bytes) (made []engine.ValueID) {
	for _, size := range out {
		made = append(made, t.value(size))
	}
	took := time.Duration(flops/150_000 + bytes/1600 + 3000)
	t.g.Ops = append(t.g.Ops, engine.Op{Name: name, Pass: t.pass, Time: took, In: in, Out: made})
	return made
}
