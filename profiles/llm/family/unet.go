package family

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"memtide/profiles/llm"
)

func init() { families["UNet2DConditionModel"], ownSizes["UNet2DConditionModel"] = unet, true }

// unetUsual maps keys to the only value that is known, besides null.
var unetUsual = map[string]string{"only_cross_attention": "false", "dual_cross_attention": "false",
	"resnet_time_scale_shift": `"default"`, "resnet_skip_time_act": "false",
	"act_fn": `"silu"`, "conv_in_kernel": "3", "conv_out_kernel": "3",
	"time_embedding_type": `"positional"`,
	"attention_type":      `"default"`, "class_embeddings_concat": "false", "dropout": "0.0",
	"addition_embed_type": `"text_time"`, "class_embed_type": "",
	"encoder_hid_dim_type": `"text_proj"`, "num_attention_heads": "",
	"num_class_embeds": "", "time_embedding_dim": "", "time_embedding_act_fn": "", "timestep_post_act": "",
	"cross_attention_norm":           "",
	"mid_block_only_cross_attention": "", "reverse_transformer_layers_per_block": ""}

// unetRow is a UNet whose modules are being put in a row.
type unetRow struct {
	m           *llm.Model
	all         llm.Unet   // the fields that all modules share
	heads, deep []int64    // by level: heads of attention, and blocks of a transformer
	skips       [][2]int64 // skips of the first half: the layer that reads it next, and its channels
	level       int64      // level of the next module
	width       int64      // channels of the next module's input
}

// add appends n equal modules.
func (r *unetRow) add(part llm.UnetPart, out, n int64) *llm.Unet {
	u, heads := r.all, r.heads[r.level]
	u.Part, u.Out, u.Plain = part, out, part != llm.UnetBlock && part != llm.UnetResNet
	b := llm.Block{Heads: heads, Keys: heads, Head: max(1, r.width/heads), Wide: 4 * r.width, Unet: &u,
		Own: llm.Own{Hidden: r.width, Share: 1 << (2 * r.level)}}
	b.Both, b.Layer, b.Gated, b.MLPBias, b.OutBias, b.NoRope, b.NoTables, b.NoIDs = true, true, true, true, true,
		true, true, true
	b.Cross, b.NoMixer = part == llm.UnetBlock, part != llm.UnetBlock
	row(r.m, n, b, nil)
	r.width = out
	return &u
}

// again appends a module that also reads the input of an earlier layer.
func (r *unetRow) again(part llm.UnetPart, out, layer int64) {
	r.m.Pattern[layer].Unet.Again = true
	back := r.m.Layers - layer
	r.add(part, out, 1).Back = back
}

// resNet appends a ResNet block, and a transformer after it if attends is true.
func (r *unetRow) resNet(out int64, attends bool) *llm.Unet {
	u, in := r.add(llm.UnetResNet, out, 1), r.m.Layers
	if attends {
		r.add(llm.UnetIn, out, 1)
		r.add(llm.UnetBlock, out, r.deep[r.level])
		r.again(llm.UnetOut, out, in)
	}
	return u
}

// levels returns numbers by level: one number for all n levels, or a list.
func (c *config) levels(key string, otherwise int64, n int) []int64 {
	out := slices.Repeat([]int64{otherwise}, n)
	for i := range out {
		v := c.value(key)
		if list, ok := v.([]any); ok && len(list) == n {
			v = list[i]
		}
		if v == nil {
			continue
		}
		k, ok := whole(v)
		if !ok || k < 1 || k > 1<<16 {
			c.fail(key, key+" is "+told(c.value(key)),
				fmt.Sprintf("A number of 1 to 65536 is expected, or %d of them, one of each level.", n), correct)
			break
		}
		out[i] = k
	}
	return out
}

// unet is the UNet of Stable Diffusion: two halves of levels with a middle, and skips between the halves.
func unet(c *config, m *llm.Model) {
	channels, _ := c.value("block_out_channels").([]any)
	n := len(channels)
	if n < 1 || n > 8 {
		c.fail("block_out_channels", "block_out_channels is "+told(channels),
			"The channels of 1 to 8 levels are expected.", correct)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(unetUsual)) {
		if v := c.value(key); v != nil && told(v) != unetUsual[key] {
			c.unknown(key, unclear)
		}
	}
	width, layers := c.levels("block_out_channels", 1, n), c.levels("layers_per_block", 2, n)
	r := &unetRow{m: m, heads: c.levels("attention_head_dim", 8, n),
		deep: c.levels("transformer_layers_per_block", 1, n), width: width[0]}
	c.usual("UNetMidBlock2DCrossAttn", "mid_block_type")
	if v, given := c.all["mid_block_type"]; given && v == nil { // as in BK-SDM, whose halves meet without a block
		c.unknown("mid_block_type", unclear)
	}
	in, out, text, groups := c.need("in_channels"), c.need("out_channels"), c.need("cross_attention_dim"),
		c.levels("norm_num_groups", 32, 1)[0]
	if c.err != nil || c.tooMany("layers_per_block", append(slices.Clone(layers), r.deep...)...) {
		return
	}
	attends := make([]bool, n)
	down, up := c.list("down_block_types", int64(n)), c.list("up_block_types", int64(n))
	for i, w := range width {
		if len(down) != n || len(up) != n || down[i] != "CrossAttnDownBlock2D" && down[i] != "DownBlock2D" ||
			told(up[n-1-i]) != strings.Replace(told(down[i]), "Down", "Up", 1) || w%r.heads[i] != 0 || w%groups != 0 {
			c.unknown("down_block_types",
				fmt.Sprintf("a level of %d channels with %d heads and %d groups that is not understood", w,
					r.heads[i], groups))
			return
		}
		attends[i] = down[i] != "DownBlock2D"
	}
	time := 4 * width[0]
	r.all = llm.Unet{Time: time, Text: text, Groups: groups, Linear: c.flag("use_linear_projection", false)}
	m.Hidden, m.Words, m.Tied, m.NarrowLoss = width[0], 1, true, true
	m.Ends = &llm.Ends{Kind: llm.EndDiffusion, Latent: 8 * out}
	m.Latents = &llm.Latents{Side: 8, Step: 1 << (n - 1)}
	m.Ends.Params = product(9*in, width[0]) + product(width[0], time) + product(time, time)
	r.all.Latent, r.all.Each = in, width[0]+2*time
	if c.has("addition_embed_type") {
		from := c.levels("projection_class_embeddings_input_dim", 2816, 1)[0]
		m.Ends.Params += product(from, time) + product(time, time)
		r.all.Each += from + 2*time
	}
	if c.has("encoder_hid_dim") { // a product narrows the text of 77 tokens
		from := c.levels("encoder_hid_dim", 768, 1)[0]
		m.Ends.Params += product(from, text)
		r.all.Each += 77 * from
	}
	if more := c.or(0, "time_cond_proj_dim"); more > 0 { // the scale of guidance, of models that need few steps
		m.Ends.Params += more * width[0]
		r.all.Each += more
	}
	r.halves(width, layers, attends, out)
	c.notes = append(c.notes,
		"The tokens of the latents are height / 8 x width / 8, and a quarter of them on each further level; a text of 77 tokens is beside them. "+
			"Its encoders and the autoencoder are not counted: latents and texts are taken as computed before. Adapters stand beside the queries, keys, values and outputs of attention.")
}

func (r *unetRow) halves(width, layers []int64, attends []bool, out int64) {
	last := len(width) - 1
	for i, w := range width {
		for j := range layers[i] + 1 { // the outputs of each, and of the convolution before, are skips
			if j > 0 {
				r.resNet(w, attends[i])
			}
			r.skips = append(r.skips, [2]int64{r.m.Layers, r.width})
		}
		if i < last {
			r.add(llm.UnetDown, w, 1)
			r.level++
		}
	}
	r.resNet(r.width, true).Plain = true // the middle always has attention
	r.add(llm.UnetResNet, r.width, 1)
	for i := last; i >= 0; i-- {
		for range layers[i] + 1 {
			from := r.skips[len(r.skips)-1]
			r.skips = r.skips[:len(r.skips)-1]
			r.again(llm.UnetSkip, r.width+from[1], from[0])
			r.resNet(width[i], attends[i])
		}
		if i > 0 {
			r.add(llm.UnetUp, r.width, 1)
			r.level--
		}
	}
	r.add(llm.UnetLast, out, 1)
}
