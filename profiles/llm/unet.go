package llm

import "memtide/engine"

// UnetPart is a module of a UNet of diffusers, which is one block here.
type UnetPart uint8

// The parts: a ResNet block; what stands before the blocks of a transformer over one level, one of those
// blocks, and what stands behind them; a skip that joins; convolutions to the next lower level and to the
// next higher one; and the last norm with its convolution.
const (
	UnetResNet UnetPart = iota
	UnetIn
	UnetBlock
	UnetOut
	UnetSkip
	UnetDown
	UnetUp
	UnetLast
)

// Unet is one module of a UNet [diffusers: models/unets/unet_2d_condition.py]. Its width is that of what
// it reads (Own.Hidden), its tokens are the latents of its level. A block of a transformer is like those of
// an encoder's decoder.
type Unet struct {
	Part   UnetPart
	Out    int64 // channels that it writes
	Time   int64 // numbers of the time's embedding
	Text   int64 // numbers of a token of the text
	Groups int64 // of a group norm
	Linear bool  // the products around the blocks of a transformer are no convolutions
	// a full checkpoint leaves it alone: diffusers has one of each ResNet and of each block of a transformer
	Plain  bool
	Again  bool  // a later layer reads the input again
	Back   int64 // that layer stands as many before: its input is read again here, a skip or a residual; 0: none is
	Latent int64 // numbers of a latent that stand before the first block
	Each   int64 // and of a picture
}

// unetFront returns the bytes of the embedding of the time and, where weights train, of all else before the first
// block.
func (b *builder) unetFront() engine.Bytes {
	u, n := b.k.Unet, b.s.Batch*b.k.Unet.Time
	if b.s.trains() {
		n += b.outer*u.Latent + b.s.Batch*u.Each
	}
	return size(n, b.e)
}

// unet returns a module's output.
func (b *builder) unet(x valueID) valueID {
	u, h, t := b.k.Unet, b.m.Hidden, b.outer
	switch bytes := size(t*h, b.e); u.Part {
	case UnetIn:
		n := b.groupNorm(x, "norm", h)
		if u.Linear {
			return b.linear(n, "proj_in", h, h, h)
		}
		return b.convolution(n, "proj_in", h, h, 1, t)
	case UnetOut:
		if u.Linear {
			x = b.point("planes", bytes, []valueID{b.linear(x, "proj_out", h, h, h)})
		} else {
			x = b.convolution(b.point("planes", bytes, []valueID{x}), "proj_out", h, h, 1, t)
		}
		return b.add(op{in: []valueID{x}, byRef: true}, "sum", bytes)
	case UnetSkip: // whose gradients are parts of one
		return b.add(op{in: []valueID{x}, byRef: true}, "both", size(t*u.Out, b.e))
	case UnetDown:
		return b.convolution(x, "down", h, h, 9, b.s.Batch*max(1, b.s.Seq/4))
	case UnetUp:
		return b.convolution(b.point("larger", 4*bytes, []valueID{x}), "up", h, h, 9, 4*t)
	case UnetLast:
		return b.activated(x, "last", h, u.Out)
	}
	return b.resNet(x)
}

// groupNorm keeps its input, and a mean and a deviation of each group.
func (b *builder) groupNorm(x valueID, name string, h int64) valueID {
	y := b.add(op{in: []valueID{x}, keeps: []valueID{x}, weights: []weight{b.normWeight(name, 2*h)}}, name,
		size(b.outer*h, b.e))
	b.aside(name+".stat", size(2*b.s.Batch*b.k.Unet.Groups, b.e))
	return y
}

// convolution keeps its input, even where its weights are frozen [torch: derivatives.yaml, convolution].
func (b *builder) convolution(x valueID, name string, in, out, area, tokens int64) valueID {
	w := weight{name: name, n: in*out*area + out, trained: b.s.trains()}
	o := op{kind: opProduct, in: []valueID{x}, keeps: []valueID{x}, weights: []weight{w},
		flops: 2 * float64(tokens) * float64(in*area) * float64(out)}
	return b.add(o, name, size(tokens*out, b.e))
}

// activated returns a convolution behind a norm and SiLU.
func (b *builder) activated(x valueID, name string, in, out int64) valueID {
	n := b.groupNorm(x, name+".norm", in)
	return b.convolution(b.point(name+".silu", size(b.outer*in, b.e), []valueID{n}, n), name, in, out, 9, b.outer)
}

// resNet has two convolutions, and one more where its widths differ [diffusers: models/resnet.py].
func (b *builder) resNet(x valueID) valueID {
	u, h, out := b.k.Unet, b.m.Hidden, size(b.outer*b.k.Unet.Out, b.e)
	y := b.activated(x, "conv1", h, u.Out)
	b.over(b.s.Batch, func() { // the embedding is counted where it is first seen
		time := b.linear(b.add(op{}, "time.silu", b.act(u.Time)), "time", u.Time, u.Out, u.Out)
		y = b.add(op{in: []valueID{y, time}, byRef: true}, "timed", out)
	})
	y = b.activated(y, "conv2", u.Out, u.Out)
	if h != u.Out {
		x = b.convolution(x, "shortcut", h, u.Out, 1, b.outer)
	}
	return b.point("scaled", out, []valueID{b.sum(x, y)})
}

// join holds a module's input for the one that reads it again, and gives back what it has read so itself.
func (p *program) join(w *pass, i int, x handle) {
	if u := p.s.Model.At(int64(i)).Unet; u != nil && u.Again {
		w.beside[i] = p.share(x)
	} else if u != nil && u.Back > 0 {
		p.give(w.beside[i-int(u.Back)])
		w.beside[i-int(u.Back)] = 0
	}
}

// part holds the gradient of what a module has read again until the backward of where it was read first.
func (p *program) part(w *pass, i int, g handle) {
	u := p.s.Model.At(int64(i)).Unet
	if u != nil && u.Back > 0 && p.units[i-int(u.Back)].block.values[blockInput].needs {
		w.beside[i-int(u.Back)] = p.share(g)
	}
}

// skips returns the bytes of all skips and residuals, which a chain has throughout.
func (p *program) skips() (n engine.Bytes) {
	for i, u := range p.units {
		if of := p.s.Model.At(int64(i)).Unet; of != nil && of.Again {
			n += u.block.values[blockInput].bytes
		}
	}
	return n
}
