package family

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles/llm"
)

func init() {
	for name, b := range map[string]builder{"FluxTransformer2DModel": flux, "ChromaTransformer2DModel": chroma,
		"SD3Transformer2DModel":       sd3,
		"QwenImageTransformer2DModel": qwenImage, "HunyuanVideoTransformer3DModel": hunyuanVideo,
		"WanTransformer3DModel": wan, "Flux2Transformer2DModel": flux2,
		"ChronoEditTransformer3DModel": wan,
		"CogVideoXTransformer3DModel":  cogvideo, "PixArtTransformer2DModel": pixart, "Transformer2DModel": pixart,
		"ZImageTransformer2DModel": zImage, "SanaTransformer2DModel": sana, "LTXVideoTransformer3DModel": ltx,
		"HunyuanVideo15Transformer3DModel": hunyuanVideo15, "LTX2VideoTransformer3DModel": ltx2} {
		families[name], ownSizes[name] = b, true
	}
}

// denoiser returns the block and the width of a diffusion transformer by the keys of diffusers, and notes what a
// token of its latents is.
func (c *config) denoiser(m *llm.Model, latents llm.Latents, text int64) (block llm.Block, h int64) {
	heads, head := c.need("num_attention_heads", "n_heads"), c.or(0, "attention_head_dim")
	if h = heads * head; h == 0 {
		h = c.need("dim")
		head = h / max(1, heads)
	}
	if heads > 0 && h%heads != 0 {
		c.fail("dim", fmt.Sprintf("dim is %d, which does not divide among %d heads", h, heads),
			"Heads of one width are expected.", correct)
	}
	m.Hidden, m.Words, m.Tied, m.NarrowLoss = h, 1, true, true
	m.Ends = &llm.Ends{Kind: llm.EndDiffusion, Learned: 4 * h, Frozen: 2 * h, LastNorms: 1}
	m.Latents = &latents
	c.note("The tokens of the latents are %s; a text of %d tokens, and no encoder of it, is beside them.", latents.Said(), text)
	c.flags(false, unclear, "use_additional_t_cond", "use_layer3d_rope")
	return llm.Block{Heads: heads, Keys: heads, Head: head, Wide: 4 * h, Both: true}, h
}

// Most autoencoders make a latent of 8 x 8 pixels, and of 4 frames after the first. A token is 2 x 2 latents.
var (
	ofPictures = llm.Latents{Side: 16}
	ofEdits    = llm.Latents{Side: 16, Edits: true}
	ofVideos   = llm.Latents{Frames: 4, Side: 16}
)

// layers appends n layers with the block first, and more layers with the block rest.
func (c *config) layers(m *llm.Model, first, rest llm.Block, n, more int64) {
	if !c.tooMany("num_layers", n, more) {
		row(m, n, first, nil)
		row(m, more, rest, nil)
	}
}

// streams appends blocks with separate weights for latents and text, and then blocks of one row of both.
func (c *config) streams(m *llm.Model, b llm.Block, d llm.Dit) {
	single := d
	single.Single = true
	first, rest := b, b
	first.Dit, rest.Dit = &d, &single
	c.layers(m, first, rest, c.need("num_layers"), c.or(0, "num_single_layers"))
}

// product returns the parameters of a linear layer with a bias.
func product(in, out int64) int64 { return in*out + out }

// timed returns the parameters of the embedding of the time, with two products for each input of the given width,
// and of the norm and the product after the blocks, with out numbers per token. kept is the bytes that they keep.
func timed(h, out int64, inputs ...int64) (params, kept int64) {
	for _, in := range inputs {
		params += product(in, h) + product(h, h)
		kept += 4 * h
		if in == 256 { // sines, which the model makes itself
			kept += 512
		}
	}
	return params + product(h, 2*h) + product(h, out), kept + 4*h
}

// flux has blocks with separate weights for pictures and texts, and then blocks of one row of both.
func flux(c *config, m *llm.Model) {
	b, h := c.denoiser(m, ofEdits, 512)
	in := c.need("in_channels")
	out := c.or(in, "out_channels") * c.or(1, "patch_size") * c.or(1, "patch_size")
	inputs := []int64{256, c.need("pooled_projection_dim")}
	if c.flag("guidance_embeds", false) {
		inputs = append(inputs, 256)
	}
	e := m.Ends
	e.Params, e.Each = timed(h, out, inputs...)
	e.Params += product(c.need("joint_attention_dim"), h) + product(in, h)
	e.Latent, e.Whole = 8+4*h+8*out, true
	d := llm.Dit{Text: 512, Table: 8 * b.Head}
	c.streams(m, b, d)
}

// chroma has no products for the scales of its blocks. A separate network makes all scales.
func chroma(c *config, m *llm.Model) {
	b, h := c.denoiser(m, ofPictures, 512)
	in := c.need("in_channels")
	out := c.or(in, "out_channels") * c.or(1, "patch_size") * c.or(1, "patch_size")
	doubles, singles := c.need("num_layers"), c.or(0, "num_single_layers")
	from, wide, deep := c.or(64, "approximator_num_channels"), c.or(5120, "approximator_hidden_dim"),
		c.or(5, "approximator_layers")
	rows := 3*singles + 12*doubles + 2
	e := m.Ends
	e.Params = product(from, wide) + deep*(2*product(wide, wide)+wide) + product(wide, h) +
		product(c.need("joint_attention_dim"), h) + product(in, h) + product(h, out)
	e.Each = rows*(2*from+deep*(12*wide+4)+2*wide) + 2*h
	e.Latent, e.Whole = 8+4*h+8*out, true
	d := llm.Dit{Text: 512, Table: 8 * b.Head, Given: rows}
	c.streams(m, b, d)
}

// sd3 has no rotation, and a last block that does not write the text.
func sd3(c *config, m *llm.Model) {
	b, h := c.denoiser(m, ofPictures, 333)
	c.same(h, "caption_projection_dim")
	d := llm.Dit{Text: 333, Copied: true, Bare: true, Norms: llm.FormInput}
	switch c.text("qk_norm", "") {
	case "":
	case "rms_norm":
		d.Bare = false
	default:
		c.unknown("qk_norm", unclear)
	}
	in, side := c.need("in_channels"), c.or(2, "patch_size")
	out := c.or(in, "out_channels") * side * side
	e := m.Ends
	e.Params, e.Each = timed(h, out, 256, c.need("pooled_projection_dim"))
	e.Params += product(c.need("joint_attention_dim"), h) + product(in*side*side, h)
	e.Latent = 8 + 6*h + 8*out
	table := c.or(96, "pos_embed_max_size") // of positions [diffusers: models/embeddings.py, PatchEmbed]
	e.Fixed = table * table * h
	n := c.need("num_layers")
	listed, _ := c.value("dual_attention_layers").([]any)
	twice := map[int64]bool{}
	for _, v := range listed {
		l, _ := whole(v)
		twice[l] = true
	}
	kinds := map[llm.Dit]*llm.Dit{}
	if !c.tooMany("num_layers", n) {
		row(m, n, b, func(layer int64, b *llm.Block) {
			d := d
			d.Dual, d.TextOut = twice[layer], layer == n-1
			if kinds[d] == nil {
				kinds[d] = &d
			}
			b.Dit = kinds[d]
		})
	}
}

// qwenImage has two rows throughout, and rotates positions as complex numbers.
func qwenImage(c *config, m *llm.Model) {
	b, h := c.denoiser(m, ofEdits, 256)
	in, side, joint := c.need("in_channels"), c.or(2, "patch_size"), c.need("joint_attention_dim")
	c.flags(false, "ends that are not understood", "guidance_embeds")
	out := c.or(in, "out_channels") * side * side
	e := m.Ends
	e.Params, e.Each = timed(h, out, 256)
	e.Params += joint + product(in, h) + product(joint, h)
	e.Latent, e.Text = 8+6*h+8*out, 4*joint
	const rows = 4096 // of the table of texts
	b.Dit = &llm.Dit{Text: 256, Norms: llm.FormInput, Table: 4 * b.Head, TextTable: rows * 4 * b.Head, LatentTab: true,
		Still: c.flag("zero_cond_t", false)}
	if b.Dit.Still {
		e.Each += 512 + 4*h
	}
	c.layers(m, b, b, c.need("num_layers"), 0)
}

// hunyuanVideo refines its text, which has a mask.
func hunyuanVideo(c *config, m *llm.Model) {
	const text = 256
	b, h := c.denoiser(m, ofVideos, text)
	b.Wide = engine.Int64(c.number("mlp_ratio", 4) * float64(h))
	c.usual("rms_norm", "qk_norm")
	if c.text("image_condition_type", "") == "token_replace" {
		c.note("image_condition_type is \"token_replace\": what the first frame's own scales keep is not counted.")
	}
	in, side := c.need("in_channels"), c.or(2, "patch_size")
	patch := side * side * c.or(1, "patch_size_t")
	out := c.or(in, "out_channels") * patch
	inputs := []int64{256, c.need("pooled_projection_dim")}
	if c.flag("guidance_embeds", false) {
		inputs = append(inputs, 256)
	}
	e := m.Ends
	e.Params, e.Each = timed(h, out, inputs...)
	params, kept := c.refined(h, b.Heads, text)
	e.Params += product(in*patch, h) + params
	e.Each += kept
	e.Latent, e.Whole = 8+4*h+8*out, true
	d := llm.Dit{Text: text, Norms: llm.FormInput, Table: 8 * b.Head, LatentTab: true, Masked: true, Twice: true}
	c.streams(m, b, d)
}

// refined returns the parameters of the blocks that refine HunyuanVideo's text, with a mask of each pair of its tokens,
// and what they and the time that they read keep.
func (c *config) refined(h, heads, text int64) (params, kept int64) {
	from, blocks := c.need("text_embed_dim"), c.or(2, "num_refiner_layers")
	params = product(256, h) + product(h, h) + 2*product(from, h) + product(h, h) +
		blocks*(4*h+4*product(h, h)+product(h, 4*h)+product(4*h, h)+product(h, 2*h))
	rows, keys := (text+31)/32*32, (text+15)/16*16 // as the kernel pads statistics and masks
	each := text*(36*h+16) + heads*(4*rows+2*text*keys) + 6*h
	return params, 512 + 10*h + 2*from + blocks*each
}

// hunyuanVideo15 has separate weights for latents and text in all blocks. Its text has tokens of a language model, of
// drawn letters and of a picture; without a picture these are zeros.
func hunyuanVideo15(c *config, m *llm.Model) {
	const words, letters, seen = 1000, 256, 729
	const text, mid = words + letters + seen, 2048
	b, h := c.denoiser(m, ofVideos, text)
	b.Wide = engine.Int64(c.number("mlp_ratio", 4) * float64(h))
	c.flags(false, unclear, "use_meanflow")
	c.same(1, "patch_size")
	c.same(1, "patch_size_t")
	c.usual("rms_norm", "qk_norm")
	in := c.need("in_channels")
	out := c.or(in, "out_channels")
	drawn, picture := c.need("text_embed_2_dim"), c.need("image_embed_dim")
	e := m.Ends
	e.Params, e.Each = timed(h, out, 256)
	params, kept := c.refined(h, b.Heads, words)
	e.Params += product(in, h) + params + 3*h +
		2*drawn + product(drawn, mid) + product(mid, mid) + product(mid, h) +
		2*picture + product(picture, picture) + product(picture, h) + 2*h
	e.Each += kept + letters*(8+2*drawn+8*mid) + seen*(16+6*picture+2*h) + 10*text // with indices and masks
	e.Latent = 8 + 6*h + 8*out
	b.Dit = &llm.Dit{Text: text, Norms: llm.FormInput, Table: 8 * b.Head, LatentTab: true, Masked: true, Pairs: true}
	c.layers(m, b, b, c.need("num_layers"), 0)
	c.note("-attention sdpa is diffusers' code, whose mask of each pair of tokens is as large as their number squared; trainers with a kernel for rows of several lengths, as Tencent's own, have none.")
}

// wan attends to its text, and multiplies by scales of the time in 4 bytes.
func wan(c *config, m *llm.Model) {
	b, h := c.denoiser(m, ofVideos, 512)
	b.Wide = c.need("ffn_dim")
	c.flags(true, unclear, "cross_attn_norm")
	c.usual(wholeNorm, "qk_norm")
	patch := int64(1)
	if sides, ok := c.value("patch_size").([]any); ok && len(sides) == 3 {
		for _, s := range sides {
			n, _ := whole(s)
			patch *= min(max(n, 1), 64)
		}
	} else {
		c.fail("patch_size", "patch_size is "+told(c.all["patch_size"]), "Three numbers are expected.", correct)
	}
	in, from, freq := c.need("in_channels"), c.need("text_dim"), c.or(256, "freq_dim")
	if in == 48 { // Wan 2.2's autoencoder has latents of 16 x 16 pixels
		m.Latents.Side = 32
		c.note("All tokens have one time. Where a trainer gives each its own, as for the first frame of a video, a block keeps three eighths more.")
	}
	out := c.or(in, "out_channels") * patch
	e := m.Ends
	e.Params = 2*h + product(in*patch, h) + product(freq, h) + product(h, h) + product(h, 6*h) + product(from, h) +
		product(h, h) + product(h, out)
	e.Each, e.Text, e.Latent = 2*freq+8*h+2*h, 4*h, 8*h+8+2*h+8*out
	e.Learned, e.LastNorms = 6*h, 0
	d := &llm.Dit{Text: 512, Cross: true, Table: 4 * b.Head}
	if seen := c.or(0, "image_dim"); seen > 0 { // a picture of 257 tokens, or the first and the last, with positions
		positions := c.or(0, "pos_embed_seq_len")
		tokens := max(257, positions)
		d.Seen = tokens
		if c.need("added_kv_proj_dim"); c.err == nil {
			c.same(h, "added_kv_proj_dim")
		}
		e.Params += positions*seen + 2*seen + product(seen, seen) + product(seen, h) + 2*h
		e.Each += tokens*(4*seen+8+6*seen+4*h+8) + 8*seen + 8*h
	}
	b.Dit = d
	c.layers(m, b, b, c.need("num_layers"), 0)
}

// flux2 has one set of scales for all blocks of a kind, no biases, and nets with a gate.
func flux2(c *config, m *llm.Model) {
	b, h := c.denoiser(m, ofEdits, 512)
	b.Wide = engine.Int64(c.number("mlp_ratio", 3) * float64(h))
	in, freq := c.need("in_channels"), c.or(256, "timestep_guidance_channels")
	out := c.or(in, "out_channels") * c.or(1, "patch_size") * c.or(1, "patch_size")
	times := int64(1)
	if c.flag("guidance_embeds", true) {
		times = 2
	}
	e := m.Ends
	e.Params = times*(freq*h+h*h) + 15*h*h + in*h + c.need("joint_attention_dim")*h + 2*h*h + h*out
	e.Each, e.Latent, e.Whole = times*(2*freq+4*h)+12*h, 8+4*h+8*out, true
	d := llm.Dit{Text: 512, Table: 8 * b.Head, Shared: true, Plain: true, Swish: true}
	c.streams(m, b, d)
}

// wholeNorm is the norm of queries and keys of all heads at once.
const wholeNorm = "rms_norm_across_heads"

// tabled adds the ends of a network whose blocks have tables of scales: a product makes six vectors from the
// time, and two products embed the text.
func (c *config) tabled(m *llm.Model, h, in, out int64) {
	e := m.Ends
	e.Params += 2*h + product(in, h) + product(256, h) + product(h, h) + product(h, 6*h) +
		product(c.need("caption_channels"), h) + product(h, h) + product(h, out)
	e.Each, e.Text, e.Latent = e.Each+512+8*h+2*h, e.Text+4*h, 8+6*h+8*out
}

// pixart attends to its text without norms and positions. Files of PixArt-alpha have the class from which diffusers has
// taken it, Transformer2DModel, whose other networks are not known.
func pixart(c *config, m *llm.Model) {
	const text = 300
	b, h := c.denoiser(m, ofPictures, text)
	c.usual("ada_norm_single", "norm_type")
	c.same(h, "cross_attention_dim")
	c.flags(true, unclear, "attention_bias")
	c.flags(false, unclear, "norm_elementwise_affine")
	c.without("dropout")
	if c.flag("use_additional_conditions", c.or(0, "sample_size") == 128) { // a height, a width and their ratio
		m.Ends.Params = 2 * (product(256, h/3) + product(h/3, h/3))
		m.Ends.Each = 3 * (512 + 4*(h/3))
	}
	in, side := c.need("in_channels"), c.or(2, "patch_size")
	c.tabled(m, h, in*side*side, c.or(in, "out_channels")*side*side)
	b.Dit = &llm.Dit{Text: text, Cross: true, Narrow: true, Bare: true}
	c.layers(m, b, b, c.need("num_layers"), 0)
}

// ltx has RMS norms without weights before its parts.
func ltx(c *config, m *llm.Model) {
	const text = 128
	deep, side := c.or(1, "patch_size_t"), 32*c.or(1, "patch_size")
	b, h := c.denoiser(m, llm.Latents{Frames: 8, Deep: deep, Side: side}, text)
	c.same(h, "cross_attention_dim")
	c.flags(false, unclear, "norm_elementwise_affine")
	c.flags(true, unclear, "attention_bias", "attention_out_bias")
	c.usual(wholeNorm, "qk_norm")
	in := c.need("in_channels") // of a token
	c.tabled(m, h, in, c.or(in, "out_channels"))
	b.Dit = &llm.Dit{Text: text, Cross: true, Narrow: true, Roots: true, Table: 8 * h}
	c.layers(m, b, b, c.need("num_layers"), 0)
}

// ltx2 has two streams, latents and a sound of five seconds, of 25 tokens each. LTX-2.3's blocks also have gates of
// attention and scales of the text.
func ltx2(c *config, m *llm.Model) {
	const text, sound = 1024, 126
	b, h := c.denoiser(m, llm.Latents{Frames: 8, Side: 32}, text)
	newer, projects := c.flag("gated_attn", false), c.flag("use_prompt_embeddings", true)
	for _, key := range []string{"cross_attn_mod", "audio_gated_attn", "audio_cross_attn_mod"} {
		if c.flag(key, false) != newer {
			c.unknown(key, unclear)
		}
	}
	c.flags(false, unclear, "norm_elementwise_affine")
	c.flags(true, unclear, "attention_bias", "attention_out_bias", "audio_ff_bias", "use_prompt_adaln_single")
	head := c.need("audio_attention_head_dim")
	width := b.Heads * head
	c.same(b.Heads, "audio_num_attention_heads")
	c.same(h, "cross_attention_dim")
	c.same(width, "audio_cross_attention_dim")
	c.same(1, "patch_size")
	c.same(1, "patch_size_t")
	c.usual("split", "rope_type")
	c.usual(wholeNorm, "qk_norm")
	e, in, heard := m.Ends, c.need("in_channels"), c.need("audio_in_channels")
	c.tabled(m, width, heard, c.or(heard, "audio_out_channels"))
	e.Each, e.Frozen = e.Each+sound*e.Latent, 2*(h+width)+sound*(e.Latent-4*width)
	c.tabled(m, h, in, c.or(in, "out_channels"))
	for _, h := range []int64{h, width} { // four scales and a gate of what streams hear
		e.Params += 2*(product(256, h)+product(h, h)) + 5*product(h, h)
		e.Each += 2 * (512 + 8*h)
		if newer { // three scales of the attention to the text, and two of the text
			e.Params += product(256, h) + 6*product(h, h)
			e.Each += 512 + 8*h
		}
		if !projects { // the text comes as wide as the stream
			e.Params -= product(c.need("caption_channels"), h) + product(h, h)
			e.Text -= 4 * h
		}
	}
	if c.flag("use_keyframes_abs_pos_embedding", false) {
		e.Params += h
	}
	b.Dit = &llm.Dit{Text: text, Cross: true, Narrow: true, Roots: true, Table: 4 * (h + width), Sound: sound,
		SoundHead: head, Newer: newer, NetPlain: !c.flag("ff_bias", true)}
	c.layers(m, b, b, c.need("num_layers"), 0)
	c.note("A sound of %d tokens, of five seconds, is beside the latents, too.", sound)
}

// cogvideo has one set of weights for latents and text. Its positions are added.
func cogvideo(c *config, m *llm.Model) {
	text := c.or(226, "max_text_seq_length")
	deep, later := c.or(1, "patch_size_t"), c.has("patch_size_t") // CogVideoX 1.5
	b, h := c.denoiser(m, llm.Latents{Frames: 4, Deep: deep, Side: 16}, text)
	c.flags(true, unclear, "norm_elementwise_affine")
	c.without("dropout")
	in, side, time := c.need("in_channels"), c.or(2, "patch_size"), c.or(512, "time_embed_dim")
	patch, e := side*side*deep, m.Ends
	out := c.or(in, "out_channels") * patch
	e.Params = in*patch*h + product(c.need("text_embed_dim"), h) + product(h, time) + product(time, time) + 4*h +
		product(time, 2*h) + product(h, out)
	if c.flag("patch_bias", true) || later {
		e.Params += h
	}
	e.Each, e.Latent, e.LastNorms = 4*h+6*time, 2*(2*h+8)+4*h+8*out, 2
	if later { // patches are copies, and a product reads them
		e.Latent, e.Learned = e.Latent+2*in*patch, e.Learned+2*in*patch
	}
	if c.flag("use_learned_positional_embeddings", false) { // a table for the one size that the network then makes
		frames := (c.or(49, "sample_frames")-1)/max(1, c.or(4, "temporal_compression_ratio")) + 1
		e.Fixed = (text + frames*(c.or(90, "sample_width")/side)*(c.or(60, "sample_height")/side)) * h
	}
	if second := c.or(0, "ofs_embed_dim"); second > 0 { // another embedding beside the time's
		e.Params += 2 * product(second, second)
		e.Each += 6 * second
	}
	b.Dit = &llm.Dit{Text: text, Time: time, Copied: true, Plain: !c.flag("attention_bias", true)}
	if c.flag("use_rotary_positional_embeddings", false) { // in place, by tables of the latents in 4 bytes
		b.Dit.Table, b.Dit.LatentTab = 8*b.Head, true
	}
	c.layers(m, b, b, c.need("num_layers"), 0)
}

// zImage refines latents and text separately before its blocks read both.
func zImage(c *config, m *llm.Model) {
	const text, mid = 256, 1024
	b, h := c.denoiser(m, ofPictures, text)
	b.Wide = 8 * h / 3
	sides, ok := c.value("all_patch_size").([]any)
	frames, also := c.value("all_f_patch_size").([]any)
	c.flags(true, unclear, "qk_norm")
	c.same(b.Heads, "n_kv_heads")
	c.same(0, "siglip_feat_dim") // of pictures beside the text
	if !ok || !also || len(sides) != 1 || len(frames) != 1 || told(frames[0]) != "1" {
		c.unknown("all_patch_size", unclear)
		return
	}
	side, _ := whole(sides[0])
	if side < 1 || side > 64 {
		c.fail("all_patch_size", "all_patch_size is "+told(sides), "The side of a patch is expected.", correct)
	}
	out, words := c.need("in_channels")*side*side, c.need("cap_feat_dim")
	e := m.Ends
	e.Params = 2*h + product(out, h) + product(h, out) + product(256, h) + product(256, mid) + product(mid, 256) +
		words + product(words, h)
	e.Latent, e.Learned = 2*out+1+6*h+8+8*out, 2*out+1+4*h
	e.Each = 512 + 4*mid + 512 + 2*h + text*(4*words+1+6*h+8)
	d := llm.Dit{Around: true, Scaled: true, Plain: true, Norms: llm.FormInput, Table: 4 * b.Head}
	bare := d
	bare.Scaled = false
	refiners, n := c.or(2, "n_refiner_layers"), c.need("n_layers")
	if c.tooMany("n_layers", refiners, refiners, n) {
		return
	}
	latents, texts, both := b, b, b
	latents.Dit, latents.Own, latents.RopeName = &d, llm.Own{Last: true}, "latents"
	texts.Dit, texts.Own, texts.RopeName = &bare, llm.Own{Fixed: text, Last: true}, "text"
	both.Dit, both.Own, both.RopeName = &d, llm.Own{More: text}, "both"
	row(m, refiners, latents, nil)
	row(m, refiners, texts, nil)
	row(m, n, both, nil)
}

// sana has attention without a softmax, and nets of convolutions.
func sana(c *config, m *llm.Model) {
	const text = 300
	b, h := c.denoiser(m, llm.Latents{Side: 32}, text)
	cross := c.need("num_cross_attention_heads")
	if cross*c.need("cross_attention_head_dim") != h {
		c.unknown("cross_attention_head_dim", unclear)
	}
	c.same(h, "cross_attention_dim")
	c.flags(false, unclear, "attention_bias", "guidance_embeds", "norm_elementwise_affine")
	c.usual("", "qk_norm")
	c.without("dropout")
	b.Wide = engine.Int64(c.number("mlp_ratio", 2.5) * float64(h))
	in, side := c.need("in_channels"), c.or(1, "patch_size")
	c.tabled(m, h, in*side*side, c.or(in, "out_channels")*side*side)
	m.Ends.Params += h
	m.Ends.Text += 8*h + 4
	b.Dit = &llm.Dit{Text: text, Cross: true, Narrow: true, Bare: true, Plain: true, Linear: true, Heads: cross}
	c.layers(m, b, b, c.need("num_layers"), 0)
}
