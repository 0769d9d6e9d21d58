package llm

import "memtide/engine"

// Scan is Mamba 1 in the place of attention.
type Scan struct {
	Inner  int64 // numbers of a token that the scan writes
	State  int64 // of each of them
	Rank   int64 // of the steps
	Kernel int64 // tokens of the convolution

	Bias     bool // of the products in front and behind
	ConvBias bool
	Norms    bool // steps and both projections of the state are normalised (Jamba)
}

// scan is Mamba 1 by torch's own code [transformers: slow_forward of modeling_mamba.py]: a loop
// over tokens, each of which keeps the state.
func (b *builder) scan(n valueID) valueID {
	m, h, t := b.k.Scan, b.m.Hidden, b.inner
	in := b.linear(n, "scan.in", h, 2*m.Inner, given(m.Bias, 2*m.Inner))
	conv := b.point("scan.conv", b.padded(m.Inner, m.Kernel), []valueID{in}, in)
	b.extra("scan.conv", m.Inner*m.Kernel)
	if m.ConvBias {
		b.extra("scan.conv.bias", m.Inner)
	}
	u := b.keep(b.point("scan.u", b.act(m.Inner), []valueID{conv}, conv))
	x := b.linear(u, "scan.x", m.Inner, m.Rank+2*m.State, 0)
	names, sizes := []string{"scan.step", "scan.B", "scan.C"},
		[]engine.Bytes{b.act(m.Rank), b.act(m.State), b.act(m.State)}
	parts := b.split(x, names, sizes)
	if m.Norms {
		for i, wide := range []int64{m.Rank, m.State, m.State} {
			parts[i] = b.normAs(FormUsual, parts[i], names[i]+".norm", t, wide, wide)
		}
	}
	step := b.linear(parts[0], "scan.dt", m.Rank, m.Inner, m.Inner)
	soft := b.keep(b.point("scan.softplus", b.act(m.Inner), []valueID{step}, step))
	y := b.add(op{kind: opAttention, in: []valueID{u, soft, parts[1], parts[2]}, keeps: []valueID{u, parts[2]},
		flops: 6 * float64(t) * float64(m.Inner) * float64(m.State)}, "scan.out", size(t*m.Inner, 4))
	b.keep(y)
	b.extra("scan.A", m.Inner*m.State+m.Inner)
	states := m.Inner * m.State
	b.aside("scan.steps", size(2*states+t*(2*states+m.State+m.Inner)+b.s.Batch*(b.s.Seq-1)*states+m.Inner,
		4)+size(b.s.Batch*(b.s.Seq+1)*states, b.e))
	gate := b.keep(b.point("scan.gate", b.act(m.Inner), []valueID{in}))
	return b.linear(b.point("scan.gated", b.act(m.Inner), []valueID{y, gate}, y, gate), "scan.o", m.Inner, h,
		given(m.Bias, h))
}

// LRU is the gated linear recurrent unit of RecurrentGemma in the place of attention.
type LRU struct {
	Width  int64
	Heads  int64 // blocks of its gates
	Kernel int64 // tokens of the convolution
}

// recurrent returns that unit by torch's own code [transformers: modeling_recurrent_gemma.py]: two
// products, a convolution, and a loop over tokens in 4 bytes.
func (b *builder) recurrent(n valueID) valueID {
	l, h, t := b.k.LRU, b.m.Hidden, b.inner
	wide := b.act(l.Width)
	y := b.keep(b.activation(b.linear(n, "lru.y", h, l.Width, l.Width), "lru.act", wide))
	x := b.linear(n, "lru.x", h, l.Width, l.Width)
	conv := b.keep(b.point("lru.conv", b.padded(l.Width, l.Kernel), []valueID{x}, x))
	b.extra("lru.conv", l.Width*(l.Kernel+1))
	u := b.add(op{kind: opAttention, in: []valueID{conv},
		flops: 4 * float64(t) * float64(l.Width) * float64(l.Width/l.Heads)}, "lru", wide)
	b.keep(u)
	b.extra("lru", 2*(l.Width*l.Width/l.Heads+l.Width)+l.Width)
	b.aside("lru.gates", 8*wide+size(l.Width, b.e)+size(2*b.s.Seq, 1))
	b.aside("lru.states", size(b.s.Batch*(2*b.s.Seq-1)*l.Width, 4))
	return b.linear(b.point("lru.gated", wide, []valueID{y, u}, y, u), "lru.o", l.Width, h, h)
}
