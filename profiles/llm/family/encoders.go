package family

import (
	"fmt"
	"maps"
	"strings"

	"memtide/profiles/llm"
)

func init() {
	maps.Copy(families, map[string]builder{"t5": t5, "mt5": t5, "umt5": t5, "whisper": whisper, "vit": vit, "deit": vit,
		"dinov2": dinov2, "dinov2_with_registers": dinov2, "clip": clip, "siglip": siglip})
}

// row appends the layers of one part of a network, with blocks whose fields do not depend on the rest.
func row(m *llm.Model, layers int64, block llm.Block, change func(layer int64, b *llm.Block)) {
	known := map[llm.Block]*llm.Block{}
	for l := range layers {
		b := block
		b.Own.Last = block.Own.Last && l == layers-1
		if change != nil {
			change(l, &b)
		}
		if known[b] == nil {
			known[b] = &b
		}
		m.Pattern = append(m.Pattern, known[b])
	}
	m.Layers += layers
	if n := len(m.Pattern); n > 0 {
		m.Block = *m.Pattern[n-1]
	}
}

// tooMany refuses more layers, together, than a model can have. It reports whether there is an error.
func (c *config) tooMany(key string, layers ...int64) bool {
	n := int64(0)
	for _, l := range layers {
		n += l
	}
	if n > 1024 || n < 1 {
		c.fail(key, fmt.Sprintf("%s and the layers beside it are %d", key, n),
			"1 to 1024 layers in all are expected.", correct)
	}
	return c.err != nil
}

// t5 has an encoder, a decoder of a quarter of its tokens, and biases of positions.
func t5(c *config, m *llm.Model) {
	m.Hidden, m.Words = c.need("d_model"), c.need("vocab_size")
	b := llm.Block{Heads: c.need("num_heads"), Head: c.or(64, "d_kv"), Wide: c.need("d_ff"), Form: llm.FormInput,
		NoIDs: true, NoTables: true, NoRope: true, Narrow: true, Both: true,
		Buckets: max(1, c.or(32, "relative_attention_num_buckets"))}
	b.Keys = b.Heads
	net := c.text("feed_forward_proj", "relu")
	b.Gated = strings.HasPrefix(net, "gated-")
	known := false
	if b.Act, known = acts[strings.TrimPrefix(net, "gated-")]; !known {
		c.unknown("feed_forward_proj", "a t5 whose blocks are not understood")
	}
	if net == "gated-gelu" {
		b.Act = llm.ActNew
	}
	c.read["dense_act_fn"], c.read["is_gated_act"] = true, true
	dropped := c.above(0.1, "dropout_rate")
	b.Dropout, b.DropAttn, b.DropNet, m.Dropped = dropped, dropped, dropped, dropped
	layers := c.need("num_layers")
	decoders := layers
	if c.has("num_decoder_layers") {
		decoders = c.need("num_decoder_layers")
	}
	if c.tooMany("num_layers", layers, decoders) {
		return
	}
	m.Ends = &llm.Ends{Kind: llm.EndT5, Params: m.Hidden, Positions: c.or(512, "n_positions")}
	m.NarrowLoss, m.Megatron = true, m.Family == "t5"
	first := func(l int64, b *llm.Block) { b.FirstBias = l == 0 || m.Family == "umt5" }
	b.Own.Last = true
	row(m, layers, b, first)
	b.Own, b.Both, b.Cross = llm.Own{Share: 4}, false, true
	row(m, decoders, b, first)
	c.note("The decoder reads a quarter of the encoder's tokens, which -seq says.")
	c.note("Transformers' biases of positions are taken for a mask of attention's kernel. PyTorch 2.11 took a kernel in 4 bytes on an H200, where a step allocated up to 1.8 times as much.")
}

// whisper has an encoder of a fixed number of frames.
func whisper(c *config, m *llm.Model) {
	m.Hidden, m.Words = c.need("d_model"), c.need("vocab_size")
	h, frames := m.Hidden, c.or(1500, "max_source_positions")
	b := llm.Block{Heads: c.need("encoder_attention_heads"), Wide: c.need("encoder_ffn_dim"), Layer: true, Bias: true,
		BareKeys: true, Both: true, NoIDs: true, NoTables: true,
		NoRope: true, Narrow: true, Apart: true, Act: c.gelu("activation_function", "gelu"),
		Dropout: c.above(0, "dropout"), DropAttn: c.above(0, "attention_dropout"),
		DropNet: c.above(0, "activation_dropout")}
	decoder := b
	decoder.Heads, decoder.Wide = c.need("decoder_attention_heads"), c.need("decoder_ffn_dim")
	for _, of := range []*llm.Block{&b, &decoder} {
		if of.Heads > 0 && h%of.Heads != 0 {
			c.fail("d_model", fmt.Sprintf("d_model is %d, which does not divide among %d heads", h, of.Heads),
				"Heads of one width are expected.", correct)
		}
		of.Head, of.Keys = h/max(1, of.Heads), of.Heads
	}
	layers, decoders := c.need("encoder_layers"), c.need("decoder_layers")
	if c.tooMany("encoder_layers", layers, decoders) {
		return
	}
	if b.Dropout {
		c.unknown("dropout", "ends that are not understood")
	}
	m.Ends = &llm.Ends{Kind: llm.EndWhisper,
		Params: 3*h*(c.or(80, "num_mel_bins")+h) + 2*h + frames*h + 2*h + c.or(448, "max_target_positions")*h}
	m.NarrowLoss = true
	b.Own = llm.Own{Fixed: frames, Last: true}
	row(m, layers, b, nil)
	decoder.Both, decoder.Cross = false, true
	row(m, decoders, decoder, nil)
	c.note("The encoder reads %d frames; -seq says the tokens of the decoder.", frames)
}

// seer returns a block of a transformer that reads patches or texts, with norms before each part and biases everywhere.
func (c *config) seer(m *llm.Model) llm.Block {
	h, heads := c.need("hidden_size"), c.need("num_attention_heads")
	if heads > 0 && h%heads != 0 {
		c.fail("hidden_size", fmt.Sprintf("hidden_size is %d, which does not divide among the %d of num_attention_heads", h, heads), "Heads of one width are expected.", correct)
	}
	m.Hidden = h
	b := llm.Block{Heads: heads, Keys: heads, Head: h / max(1, heads), Wide: c.or(4*h, "intermediate_size"),
		Layer: true, Both: true,
		OutBias: true, MLPBias: true, QKVBias: c.flag("qkv_bias", true), NoIDs: true, NoTables: true, NoRope: true}
	b.Act, b.Dropout = c.gelu("hidden_act", "gelu"), c.above(0, "hidden_dropout_prob")
	b.DropAttn = c.above(0, "attention_probs_dropout_prob") || c.above(0, "attention_dropout")
	return b
}

// patches returns the weights of an embedding of pictures, with a position for each patch and more positions.
func (c *config) patches(h, more, bias int64) int64 {
	side := c.side("patch_size", 16)
	return c.or(3, "num_channels")*side*side*h + bias*h + (c.ofPicture()+more)*h
}

// ofPicture returns the patches of a picture of the size that the model is made for.
func (c *config) ofPicture() int64 {
	n := c.side("image_size", 224) / c.side("patch_size", 16)
	return n * n
}

// labels returns the number of labels of a classifier.
func (c *config) labels() int64 {
	if of, ok := c.value("id2label").(map[string]any); ok && len(of) > 0 {
		return int64(len(of))
	}
	return c.or(2, "num_labels")
}

// sees says that a model classifies pictures.
func (c *config) sees(m *llm.Model) {
	m.Words = c.labels()
	m.HeadBias, m.NarrowLoss, m.Patches = true, true, c.ofPicture()
	c.note("-seq says the patches of a picture, %d of its usual size; the step is one of a classifier.", m.Patches)
}

// vit classifies pictures by a token of its own. DeiT has another, which learns from a teacher.
func vit(c *config, m *llm.Model) {
	b := c.seer(m)
	b.Own.More = 1
	if m.Family == "deit" {
		b.Own.More = 2
	}
	c.sees(m)
	m.Tied = false
	m.Ends = &llm.Ends{Kind: llm.EndClass, Params: c.patches(m.Hidden, b.Own.More, 1) + b.Own.More*m.Hidden}
	layers := c.need("num_hidden_layers")
	if b.Dropout {
		c.unknown("hidden_dropout_prob", "ends that are not understood")
	}
	if !c.tooMany("num_hidden_layers", layers) {
		row(m, layers, b, nil)
	}
}

// dinov2 scales what is added to the stream, and classifies also by the mean of all patches. Registers are further
// tokens.
func dinov2(c *config, m *llm.Model) {
	b := c.seer(m)
	registers := c.or(0, "num_register_tokens")
	b.Own.More, b.Scales, b.Narrow = 1+registers, true, true
	b.Wide = c.or(4, "mlp_ratio") * m.Hidden
	if c.flag("use_swiglu_ffn", false) {
		b.Gated, b.Act, b.Wide = true, llm.ActKernel, (b.Wide*2/3+7)/8*8
	}
	if c.above(0, "drop_path_rate") {
		c.unknown("drop_path_rate", unclear)
	}
	if b.Dropout {
		c.unknown("hidden_dropout_prob", "ends that are not understood")
	}
	c.sees(m)
	m.Tied = false
	m.Ends = &llm.Ends{Kind: llm.EndClassMean, Params: c.patches(m.Hidden, 1, 1) + (1+registers+m.Words)*m.Hidden}
	if c.flag("use_mask_token", true) {
		m.Ends.Params += m.Hidden
	}
	if layers := c.need("num_hidden_layers"); !c.tooMany("num_hidden_layers", layers) {
		row(m, layers, b, nil)
	}
}

// tower returns one of the two parts of a network that compares texts and pictures: its config, its block and the
// number of its layers.
func (c *config) tower(m *llm.Model, key string) (*config, llm.Block, int64) {
	in := map[string]any{}
	if given, ok := c.value(key).(map[string]any); ok {
		in = maps.Clone(given)
	}
	fill(in, m.Family+"_"+strings.Replace(key, "config", "model", 1))
	of := c.part(in)
	return of, of.seer(m), of.need("num_hidden_layers")
}

// clip has a text of a fixed length for each picture.
func clip(c *config, m *llm.Model) {
	text, b, layers := c.tower(m, "text_config")
	th, tokens := m.Hidden, text.or(77, "max_position_embeddings")
	words := text.need("vocab_size")
	seen, p, more := c.tower(m, "vision_config")
	v := m.Hidden
	m.Patches = seen.ofPicture()
	width := c.or(512, "projection_dim")
	b.Act, p.Act = text.gelu("hidden_act", "quick_gelu"), seen.gelu("hidden_act", "quick_gelu")
	m.Ends = &llm.Ends{Kind: llm.EndCLIP, Width: width,
		Params: 1 + (words+tokens)*th + 2*th + v + seen.patches(v, 1, 0) + 4*v + (th+v)*width}
	b.Both = false
	p.Own.More = 1
	c.compare(m, b, p, tokens, layers, more, text)
}

// siglip has no token of its own for the picture, and a pooling attention after its patches.
func siglip(c *config, m *llm.Model) {
	text, b, layers := c.tower(m, "text_config")
	th, tokens := m.Hidden, text.or(64, "max_position_embeddings")
	words := text.need("vocab_size")
	seen, p, more := c.tower(m, "vision_config")
	v := m.Hidden
	m.Patches = seen.ofPicture()
	width := text.or(th, "projection_size")
	if width != v && c.err == nil {
		c.fail("projection_size", fmt.Sprintf("projection_size is %d, and pictures are %d wide", width, v),
			"Vectors of one width are expected.", correct)
	}
	b.Act, p.Act = text.gelu("hidden_act", "gelu_pytorch_tanh"), seen.gelu("hidden_act", "gelu_pytorch_tanh")
	m.Ends = &llm.Ends{Kind: llm.EndSigLIP, Width: width, Heads: p.Heads, Wide: p.Wide,
		Params: 2 + (words+tokens)*th + 2*th + th*width + width + seen.patches(v, 0, 1) + 2*v + v + 4*(v*v+v) + 2*v +
			2*v*p.Wide + p.Wide + v}
	c.compare(m, b, p, tokens, layers, more, text)
}

// compare puts the two towers in a row, texts first.
func (c *config) compare(m *llm.Model, text, seen llm.Block, tokens, layers, more int64, of *config) {
	if tokens < 1 && c.err == nil {
		c.fail("max_position_embeddings", "max_position_embeddings is 0", "The tokens of a text are expected.", correct)
	}
	if c.tooMany("num_hidden_layers", layers, more) {
		return
	}
	m.Words, m.Tied, m.NarrowLoss = 1, true, true
	text.Own = llm.Own{Hidden: of.size("hidden_size"), Fixed: tokens, Last: true}
	row(m, layers, text, nil)
	row(m, more, seen, nil)
	c.read["text_config"], c.read["vision_config"] = true, true
	c.note("-seq says the patches of a picture; each has a text of %d tokens beside it.", tokens)
}
