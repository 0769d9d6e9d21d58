package llm

import "memtide/engine"

// UnetPart is a module of a UNet of diffusers. Each module is one block.
type UnetPart uint8

// The parts: a ResNet block; the module before the blocks of a level's transformer, one of those
// blocks, and the module after them; a skip that joins; convolutions to the next lower level and to the
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

// Unet is one module of a UNet [diffusers: models/unets/unet_2d_condition.py]. Own.Hidden is the width of its input,
// and its tokens are the latents of its level. A block of a transformer is like a block of a decoder with an encoder.
type Unet struct {
	Part   UnetPart
	Out    int64 // channels of the output
	Time   int64 // width of the time's embedding
	Text   int64 // width of a token of the text
	Groups int64 // groups of a group norm
	Linear bool  // the products before and after a transformer's blocks are linear layers, not convolutions
	// never checkpointed: diffusers checkpoints only ResNets and blocks of transformers
	Plain  bool
	Again  bool  // a later layer reads the input again
	Back   int64 // the layer this many before has its input read again here, as a skip or residual; 0: no layer
	Latent int64 // numbers per latent that are kept before the first block
	Each   int64 // numbers per picture that are kept before the first block
}

// unetFront returns the bytes of the time's embedding and, if weights train, of everything else before the first block.
func (b *builder) unetFront() engine.Bytes {
	u, n := b.k.Unet, b.s.Batch*b.k.Unet.Time
	if b.s.trains() {
		n += b.outer*u.Latent + b.s.Batch*u.Each
	}
	return size(n, b.e)
}

// unet is the module of the block.
func (b *builder) unet(x valueID) valueID {
	u, h, t := b.k.Unet, b.m.Hidden, b.outer
	switch bytes := size(t*h, b.e); u.Part {
	case UnetIn:
		n := b.groupNorm(x, "norm", h)
		if u.Linear {
			return b.linear(n, "proj_in", h, h, h)
		}
		return b.convolution(n, "proj_in", h, h, 1, h, t)
	case UnetOut:
		if u.Linear {
			x = b.point("planes", bytes, []valueID{b.linear(x, "proj_out", h, h, h)})
		} else {
			x = b.convolution(b.point("planes", bytes, []valueID{x}), "proj_out", h, h, 1, h, t)
		}
		return b.add(op{in: []valueID{x}, byRef: true}, "sum", bytes)
	case UnetSkip: // the gradients are views of one
		return b.add(op{in: []valueID{x}, byRef: true}, "both", size(t*u.Out, b.e))
	case UnetDown:
		return b.convolution(x, "down", h, h, 9, h, b.s.Batch*max(1, b.s.Seq/4))
	case UnetUp:
		return b.convolution(b.point("larger", 4*bytes, []valueID{x}), "up", h, h, 9, h, 4*t)
	case UnetLast:
		return b.activated(x, "last", h, u.Out)
	}
	return b.resNet(x)
}

// groupNorm keeps its input, and a mean and a deviation of each group. Under autocast it reads a copy in 4 bytes, and
// so does what is computed of its result but for products [torch: aten/src/ATen/autocast_mode.h, AT_FORALL_FP32].
func (b *builder) groupNorm(x valueID, name string, h int64) valueID {
	e := b.e
	if b.s.autocast() {
		x, e = b.widen(x, name, size(b.outer*h, 4)), 4
	}
	y := b.add(op{in: []valueID{x}, keeps: []valueID{x}, weights: []weight{b.normWeight(name, 2*h)}}, name,
		size(b.outer*h, e))
	b.values[y].wide = b.values[x].wide
	b.aside(name+".stat", size(2*b.s.Batch*b.k.Unet.Groups, e))
	return y
}

// convolution keeps its input even if its weights are frozen [torch: derivatives.yaml, convolution].
func (b *builder) convolution(x valueID, name string, in, out, area, bias, tokens int64) valueID {
	x = b.cast(x)
	w := weight{name: name, n: in*out*area + bias, trained: b.s.trains(), conv: true}
	o := op{kind: opProduct, in: []valueID{x}, keeps: []valueID{x}, weights: []weight{w},
		flops: 2 * float64(tokens) * float64(in*area) * float64(out)}
	return b.add(o, name, size(tokens*out, b.e))
}

// activated is a convolution after a norm and SiLU.
func (b *builder) activated(x valueID, name string, in, out int64) valueID {
	n := b.groupNorm(x, name+".norm", in)
	y := b.point(name+".silu", b.values[n].bytes, []valueID{n}, n)
	b.values[y].wide = b.values[n].wide
	return b.convolution(y, name, in, out, 9, out, b.outer)
}

// resNet has two convolutions, and a third one if its widths differ [diffusers: models/resnet.py].
func (b *builder) resNet(x valueID) valueID {
	u, h, out := b.k.Unet, b.m.Hidden, size(b.outer*b.k.Unet.Out, b.e)
	y := b.activated(x, "conv1", h, u.Out)
	b.over(b.s.Batch, func() { // the embedding is counted in the first block that reads it
		time := b.linear(b.add(op{}, "time.silu", b.act(u.Time)), "time", u.Time, u.Out, u.Out)
		y = b.add(op{in: []valueID{y, time}, byRef: true}, "timed", out)
	})
	y = b.activated(y, "conv2", u.Out, u.Out)
	if h != u.Out {
		x = b.convolution(x, "shortcut", h, u.Out, 1, u.Out, b.outer)
	}
	return b.point("scaled", out, []valueID{b.sum(x, y)})
}

// join holds the input x of module i for the module that reads it again, and frees the input that module i itself
// has read again.
func (p *program) join(w *pass, i int, x handle) {
	if u := p.s.Model.At(int64(i)).Unet; u != nil && u.Again {
		w.beside[i] = p.share(x)
	} else if u != nil && u.Back > 0 {
		p.release(&w.beside[i-int(u.Back)])
	}
}

// part holds the gradient g of an input that module i has read again until the backward of the module that read
// it first.
func (p *program) part(w *pass, i int, g handle) {
	u := p.s.Model.At(int64(i)).Unet
	if u != nil && u.Back > 0 && p.units[i-int(u.Back)].block.values[blockInput].needs {
		w.beside[i-int(u.Back)] = p.share(g)
	}
}

// skips returns the bytes of all skips and residuals, which a chain holds throughout.
func (p *program) skips() (n engine.Bytes) {
	for i, u := range p.units {
		if of := p.s.Model.At(int64(i)).Unet; of != nil && of.Again {
			n += u.block.values[blockInput].bytes
		}
	}
	return n
}
