package llm

import "memtide/engine"

// EndKind is what stands before and behind the blocks of a network that is no language model of
// one row of blocks.
type EndKind uint8

// The ends of networks: T5's encoder and decoder; Whisper's; a classifier of the first token, or of
// it and the mean of all; two towers of texts and pictures, CLIP's and SigLIP's; those of a diffusion transformer.
const (
	EndT5 EndKind = iota
	EndWhisper
	EndClass
	EndClassMean
	EndCLIP
	EndSigLIP
	EndDiffusion
)

// Ends are those of a network whose blocks do not read words alone.
type Ends struct {
	Kind   EndKind
	Params int64 // of all that is no block's but the last norm and the head
	Width  int64 // of what texts and pictures are compared by
	Heads  int64 // of the pooling attention of SigLIP
	Wide   int64 // of the net behind it

	// Bytes that stand before and behind the blocks of a diffusion transformer, of a latent token, a
	// token of the text, and a picture; and whether the last norm reads a part of the last block's
	// whole output.
	Latent, Text, Each int64
	Whole              bool
}

// contrasts reports whether there is no head of words or labels.
func (e *Ends) contrasts() bool { return e != nil && e.Kind >= EndCLIP }

// pictures reports whether there is no embedding of words but in Params.
func (e *Ends) pictures() bool { return e != nil && e.Kind >= EndClass }

// Own is the width and the number of tokens of a block, where they are not the model's.
type Own struct {
	Hidden int64
	Fixed  int64 // tokens of a sequence
	Share  int64 // or one for as many of the model's
	More   int64 // and as many more
	Last   bool  // the next block is another part's
}

// of returns the setup as a block sees it.
func (s *Setup) of(k *Block) *Setup {
	if k.Own == (Own{}) {
		return s
	}
	out, m := *s, *s.Model
	if k.Own.Hidden > 0 {
		m.Hidden = k.Own.Hidden
	}
	if k.Own.Share > 1 {
		out.Seq = max(1, out.Seq/k.Own.Share)
	}
	if k.Own.Fixed > 0 {
		out.Seq = k.Own.Fixed
	}
	out.Seq += k.Own.More
	out.Model = &m
	return &out
}

// tail returns the setup as the last block and the loss see it.
func (s *Setup) tail() *Setup { return s.of(s.Model.At(s.Model.Layers - 1)) }

// logits returns how many there are on a rank.
func (s *Setup) logits() int64 {
	t := s.tail()
	inner, _ := t.tokens()
	switch e := s.Model.Ends; {
	case e.contrasts():
		return 0
	case e.pictures():
		inner = s.Batch
	}
	return inner * ceil(s.Model.Words, s.Tensor)
}

// frontKept returns what stands before the blocks, and beside them, keeps.
func (s *Setup) frontKept() engine.Bytes {
	m, first := s.Model, s.of(s.Model.At(0))
	n, h, _ := first.Batch*first.Seq, first.Model.Hidden, s.Compute
	last := s.tail()
	out := last.Batch * last.Seq
	switch m.Ends.Kind {
	case EndT5: // the encoder's last norm, and words of the decoder
		kept := size(n, 4*h+4+4*h) + size(out, 8)
		if m.Dropped {
			kept += size(2*n+out, h)
		}
		return kept
	case EndWhisper: // two convolutions, the encoder's last norm, words and positions of the decoder
		return size(5*n*h, s.Compute) + size(n, 2*h+8) + size(out, 16)
	case EndCLIP: // norms of both
		return size(n, 2*h+8) + size(out, 2*last.Model.Hidden+8) + size(s.Batch*(h+last.Model.Hidden+4*m.Ends.Width),
			2) + s.contrastBytes(48, 6)
	case EndDiffusion:
		text := int64(0)
		if d := m.At(0).Dit; d != nil {
			text = d.Text
		}
		return size(n, m.Ends.Latent) + size(s.Batch*text, m.Ends.Text) + size(s.Batch, m.Ends.Each)
	case EndSigLIP:
		v := last.Model.Hidden
		kept := size(n, 2*h+8) + size(n*h, 2)
		kept += size(out*3*v+s.Batch*(5*v+2*m.Ends.Wide), 2) + size(out*m.Ends.Heads, 2)
		return kept + size(s.Batch*4*m.Ends.Width, 2) + s.contrastBytes(12, 14)
	}
	return 0
}

// contrastBytes returns what a contrastive loss keeps beside the vectors, given its bytes for each
// sample and for each pair of a text and a picture. One sample alone keeps nothing.
func (s *Setup) contrastBytes(each, pair int64) engine.Bytes {
	if s.Batch == 1 {
		return 0
	}
	return size(s.Batch, each) + size(s.Batch*s.Batch, pair)
}

// pooled returns the end behind the last block of pictures.
func (b *builder) pooled(x valueID) valueID {
	h := b.m.Hidden
	switch e := b.m.Ends; {
	case e.Kind == EndDiffusion && !e.Whole:
		return b.add(op{in: []valueID{x}}, "latents", 0)
	case e.Kind == EndCLIP, e.Kind == EndDiffusion: // of the first token, which is a part of all
		return b.add(op{in: []valueID{x}, keeps: []valueID{x}}, "pooled", 0)
	case e.Kind == EndSigLIP:
		y := b.add(op{in: []valueID{x}, keeps: []valueID{x}}, "pooled", 0)
		b.aside("pooled.stat", size(b.outer, 8))
		return y
	case e.Kind == EndClassMean:
		return b.add(op{in: []valueID{b.norm(x, lastNorm, b.outer, h)}}, "pooled", size(2*h*b.s.Batch, b.e))
	}
	return b.norm(x, lastNorm, b.outer, h)
}

// cross is attention of a decoder to what the encoder made.
func (b *builder) cross(n valueID) valueID {
	k, h := b.k, b.m.Hidden
	enc := b.s.encoder
	wide := k.Heads * k.Head
	q := b.linear(n, "cross.q", h, wide, given(k.Bias, wide))
	states := b.add(op{in: []valueID{n}}, "cross.states", 0) // counted where they are first seen
	inner, keys := b.inner, b.keys
	b.inner = enc.Batch * enc.Seq
	key := b.linear(states, "cross.k", enc.Model.Hidden, wide, given(k.Bias && !k.BareKeys, wide))
	v := b.linear(states, "cross.v", enc.Model.Hidden, wide, given(k.Bias, wide))
	b.inner, b.keys, b.crossing = inner, enc.Seq, true
	a := b.attend(q, key, v, wide, wide, wide)
	b.keys, b.crossing = keys, false
	return b.linear(a, "cross.o", wide, h, given(k.Bias || k.OutBias, h))
}

// positionBias is what T5's biases of positions keep: where they are made, the buckets; under
// scaled_dot_product_attention the biases, with a mask in a decoder.
func (b *builder) positionBias(efficient bool) {
	k, q := b.k, b.s.Seq
	if k.FirstBias && !b.crossing {
		b.extra("positions", k.Buckets*k.Heads)
		b.aside("buckets", size(q*q, 8))
	}
	if !efficient {
		return
	}
	scores := size(k.Heads*q*upTo(b.keys, efficientMask), b.e)
	switch {
	case b.crossing || k.Both:
		if k.FirstBias {
			b.aside("bias", scores)
		}
	default:
		b.aside("bias", engine.Bytes(b.s.Batch)*scores)
		b.aside("bias.mask", size(b.s.Batch*q*q, 1))
	}
}
