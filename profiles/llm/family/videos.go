package family

import (
	"memtide/engine"
	"memtide/profiles/llm"
)

func init() {
	for name, b := range map[string]builder{"HunyuanVideo15Transformer3DModel": hunyuanVideo15} {
		families[name], ownSizes[name] = b, true
	}
}

// hunyuanVideo refines its text, which has a mask.
func hunyuanVideo(c *config, m *llm.Model) {
	const text = 256
	b, h := c.denoiser(m, ofVideos, text)
	b.Wide = engine.Int64(c.number("mlp_ratio", 4) * float64(h))
	if c.text("qk_norm", "rms_norm") != "rms_norm" {
		c.unknown("qk_norm", unclear)
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

// hunyuanVideo15 has two rows throughout. Its text is that of a language model, letters that are drawn, and a picture,
// which is there without content if there is none.
func hunyuanVideo15(c *config, m *llm.Model) {
	const words, letters, seen = 1000, 256, 729
	const text, mid = words + letters + seen, 2048
	b, h := c.denoiser(m, llm.Latents{Frames: 4, Side: 16 * min(c.or(1, "patch_size"), 64)}, text)
	b.Wide = engine.Int64(c.number("mlp_ratio", 4) * float64(h))
	c.flags(false, unclear, "use_meanflow")
	if c.text("qk_norm", "rms_norm") != "rms_norm" || c.or(1, "patch_size_t") != 1 {
		c.unknown("qk_norm", unclear)
	}
	in, side := c.need("in_channels"), c.or(1, "patch_size")
	out := c.or(in, "out_channels") * side * side
	drawn, picture := c.need("text_embed_2_dim"), c.need("image_embed_dim")
	e := m.Ends
	e.Params, e.Each = timed(h, out, 256)
	params, kept := c.refined(h, b.Heads, words)
	e.Params += product(in*side*side, h) + params + 3*h +
		2*drawn + product(drawn, mid) + product(mid, mid) + product(mid, h) +
		2*picture + product(picture, picture) + product(picture, h) + 2*h
	e.Each += kept + letters*(8+2*drawn+8*mid) + seen*(16+6*picture+2*h) + 10*text // with indices and masks
	e.Latent = 8 + 6*h + 8*out
	b.Dit = &llm.Dit{Text: text, Norms: llm.FormInput, Table: 8 * b.Head, LatentTab: true, Masked: true, Pairs: true}
	c.layers(m, b, b, c.need("num_layers"), 0)
	c.note("-attention sdpa is diffusers' code, whose mask of each pair of tokens is as large as their number squared; trainers with a kernel for rows of several lengths, as Tencent's own, have none.")
}
