package llm

import (
	"cmp"

	"memtide/engine"
)

// EndKind is the kind of what comes before and after the blocks of a network that is not a plain language model.
type EndKind uint8

// The kinds of ends: T5's encoder and decoder; Whisper's; a classifier of the first token, or of
// the first token and the mean of all; CLIP's and SigLIP's two towers of texts and pictures; a diffusion model's.
const (
	EndT5 EndKind = iota
	EndWhisper
	EndClass
	EndClassMean
	EndCLIP
	EndSigLIP
	EndDiffusion
)

// Ends are what comes before and after the blocks of a network that reads more than words.
type Ends struct {
	Kind   EndKind
	Params int64 // parameters outside the blocks, the last norm and the head
	Fixed  int64 // numbers that are stored as weights are, and are no parameters
	Width  int64 // width of the vectors by which texts and pictures are compared
	Heads  int64 // heads of SigLIP's pooling attention
	Wide   int64 // width of the net after the pooling attention

	Positions int64 // that T5 learns under Megatron-LM

	// Bytes kept before and after the blocks of a diffusion transformer, for each latent token, each token of the
	// text, and each picture; and whether the last norm reads a part of the last block's whole output.
	Latent, Text, Each int64
	Whole              bool
	// While only adapters train, Learned of Latent's bytes are not kept, nothing is kept of the text, and Frozen bytes
	// for each picture. Learned is 0 if that is not known. LastNorms are the norms after the blocks that only autocast
	// computes in 4 bytes.
	Learned, Frozen, LastNorms int64
}

// contrasts reports whether there is no head of words or labels.
func (e *Ends) contrasts() bool { return e != nil && e.Kind >= EndCLIP }

// pictures reports whether the network reads pictures. It then has no embedding of words outside of Params.
func (e *Ends) pictures() bool { return e != nil && e.Kind >= EndClass }

// Own is the width and the number of tokens of a block that differ from the model's.
type Own struct {
	Hidden int64
	Fixed  int64 // tokens of a sequence
	Share  int64 // or one token for each Share tokens of the model
	More   int64 // further tokens
	Last   bool  // the next block belongs to another part
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

// logits returns the number of logits on a rank.
func (s *Setup) logits() int64 {
	t := s.tail()
	inner, _ := t.tokens()
	switch e := s.Model.Ends; {
	case e.contrasts():
		return 0
	case e.pictures(), s.Model.Labels > 0 && s.Model.Masked:
		inner = s.Batch
	}
	if s.Prompt > 0 {
		inner -= ceil(s.Batch*s.Prompt, s.Context)
	}
	return inner * ceil(cmp.Or(s.Model.Labels, s.Model.Words), s.Tensor)
}

// frontKept returns the bytes that are kept before and beside the blocks of a network with Ends.
func (s *Setup) frontKept() engine.Bytes {
	m, first := s.Model, s.of(s.Model.At(0))
	n, h, _ := first.Batch*first.part(), first.Model.Hidden, s.Compute
	last := s.tail()
	out := last.Batch * last.Seq
	switch m.Ends.Kind {
	case EndT5: // the encoder's last norm, and words of the decoder
		if s.TE {
			_, n = first.tokens()
			_, out = last.tokens()
			return size(n, 2*h+8) + size(given(s.Dropout, (n+out)*h), 1)
		}
		kept := size(n, 4*h+4+4*h) + size(out, 8)
		if m.Dropped {
			kept += size(2*n+out, h)
		}
		return kept
	case EndWhisper: // two convolutions, the encoder's last norm, words and positions of the decoder
		return size(5*n*h, s.Compute) + size(n, 2*h+8) + size(out, 16)
	case EndCLIP: // norms of both towers
		return size(n, 2*h+8) + size(out, 2*last.Model.Hidden+8) + size(s.Batch*(h+last.Model.Hidden+4*m.Ends.Width),
			2) + s.contrastBytes(48, 6)
	case EndDiffusion:
		e, text := m.Ends, int64(0)
		latent, wide := e.Latent, given(s.autocast(), 2*h*e.LastNorms) // in 4 bytes instead of 2
		if e.Whole && wide > 0 {
			latent += 2 * h
		}
		if e.Learned > 0 && !s.trains() {
			return size(n, latent-e.Learned+wide) + size(s.Batch, e.Frozen)
		}
		if d := m.At(0).Dit; d != nil {
			text = d.Text
		}
		return size(n, latent+2*wide) + size(s.Batch*text, e.Text) + size(s.Batch, e.Each)
	case EndSigLIP:
		v := last.Model.Hidden
		kept := size(n, 2*h+8) + size(n*h, 2)
		kept += size(out*3*v+s.Batch*(5*v+2*m.Ends.Wide), 2) + size(out*m.Ends.Heads, 2)
		return kept + size(s.Batch*4*m.Ends.Width, 2) + s.contrastBytes(12, 14)
	}
	return 0
}

// contrastBytes returns what a contrastive loss keeps beside the vectors, given its bytes for each sample and for
// each pair of a text and a picture. For a single sample it keeps nothing.
func (s *Setup) contrastBytes(each, pair int64) engine.Bytes {
	if s.Batch == 1 {
		return 0
	}
	return size(s.Batch, each) + size(s.Batch*s.Batch, pair)
}

// pooled is what comes after the last block of a network of pictures.
func (b *builder) pooled(x valueID) valueID {
	h := b.m.Hidden
	switch e := b.m.Ends; {
	case e.Kind == EndDiffusion && (!e.Whole || b.s.autocast()):
		return b.add(op{in: []valueID{x}}, "latents", 0)
	case e.Kind == EndCLIP, e.Kind == EndDiffusion: // the first token, a view of all tokens
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

// cross is the attention of a decoder to the encoder's output.
func (b *builder) cross(n valueID) valueID {
	k, h := b.k, b.m.Hidden
	enc := b.s.encoder
	wide := k.Heads / b.s.Tensor * k.Head
	n = b.collect(n)
	q := b.linear(n, "cross.q", h, wide, given(k.Bias, wide))
	states := b.add(op{in: []valueID{n}}, "cross.states", 0) // counted in the first block that reads them
	inner, keys := b.inner, b.keys
	var outer int64
	var key, v valueID
	if b.inner, outer = enc.tokens(); b.inner != outer {
		states = b.add(op{kind: opCollect, in: []valueID{states}}, "gathered", b.act(enc.Model.Hidden))
	}
	if b.s.FusedQKV {
		both := b.linear(states, "cross.kv", enc.Model.Hidden, 2*wide, given(k.Bias, 2*wide))
		parts := b.split(both, []string{"cross.k", "cross.v"}, []engine.Bytes{b.act(wide), b.act(wide)})
		key, v = parts[0], parts[1]
	} else {
		key = b.linear(states, "cross.k", enc.Model.Hidden, wide, given(k.Bias && !k.BareKeys, wide))
		v = b.linear(states, "cross.v", enc.Model.Hidden, wide, given(k.Bias, wide))
	}
	b.inner, b.keys, b.crossing = inner, enc.Seq, true
	a := b.attend(q, key, v, wide, wide, wide)
	b.keys, b.crossing = keys, false
	return b.scatter(b.linear(a, "cross.o", wide, h, given(k.Bias || k.OutBias, h)))
}

// positionBias adds what T5's biases of positions keep: the buckets, in the block that makes the biases; under
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
