package family

import (
	"cmp"
	"fmt"
	"strings"

	"memtide/profiles/llm"
)

// towers counts what a model has beside its language part, and says so. A step on text alone
// does not run it: its weights are there, and train nothing.
func (c *config) towers(m *llm.Model) {
	for _, key := range []string{"vision_config", "audio_config", "speech_config", "encoder_config"} {
		in, ok := c.value(key).(map[string]any)
		if !ok || len(in) == 0 {
			continue
		}
		v := c.part(in)
		kind := v.text("model_type", cmp.Or(c.outer, m.Family))
		build := towerKinds[strings.TrimSuffix(kind, "_vision")]
		if build == nil {
			c.notes = append(c.notes,
				fmt.Sprintf("The tower of %s, %q, is not understood and not counted: this is the language part alone.", key, kind))
			continue
		}
		fill(in, kind)
		t := build(v, m)
		joint, known := c.joint(v, t.width, m.Hidden)
		if c.err != nil {
			return
		}
		if !known {
			c.notes = append(c.notes, fmt.Sprintf("What joins the tower of %s to the language part of a %q is not understood and not counted.",
				key, c.outer))
		}
		m.Beside = append(m.Beside, llm.Tower{Name: kind, Blocks: t.blocks, Params: t.params, Beside: t.beside + joint})
		c.notes = append(c.notes,
			fmt.Sprintf("The tower of %s is counted, %d parameters, and not run: the step is one on text.", key,
				t.blocks*t.params+t.beside+joint))
	}
	if c.outer == "gemma3" {
		m.Shorter = len(m.Beside) > 0
	}
}

// tower is what a tower has: so many blocks of some parameters each, and those beside them. A
// width of 0 says that what joins it to the language part is among them.
type tower struct{ width, blocks, params, beside int64 }

// towerKinds are the towers that are known, by their model_type without _vision, or that of the whole model
// where they say none.
var towerKinds = map[string]func(v *config, m *llm.Model) tower{
	"siglip_vision_model": siglipTower, "idefics3": siglipTower, "smolvlm": siglipTower, "pixtral": pixtralTower,
	"clip_vision_model": clipTower, "internvl": internTower, "intern_vit_6b": internTower,
	"qwen2_vl": qwen2Tower, "qwen2_5_vl": qwen25Tower, "qwen3_vl": qwen3Tower, "qwen3_vl_moe": qwen3Tower,
	"qwen3_5": qwen3Tower, "qwen3_5_moe": qwen3Tower, "glm4v": glm4Tower, "glm4v_moe": glm4Tower,
	"gemma4": gemma4Tower, "gemma4_audio": gemma4Audio, "qwen2_audio_encoder": whisperTower,
	"voxtral_encoder": whisperTower,
}

// joint returns the parameters of what makes vectors of the language part, h wide, of a tower's, v wide.
func (c *config) joint(in *config, v, h int64) (n int64, known bool) {
	two := func(from int64) int64 { return from*h + h + h*h + h } // products with biases
	switch c.outer {
	case "gemma3":
		return v + v*h, true
	case "paligemma", "qwen2_audio":
		n = in.or(h, "projection_dim")
		return v*n + n, true
	case "llava", "llava_next", "llava_next_video", "llava_onevision":
		n = two(v)
		if layers, ok := c.value("vision_feature_layer").([]any); ok { // of several layers side by side
			n = two(int64(len(layers)) * v)
		}
		if c.outer != "llava" { // and the end of a row
			n += h
		}
		return n, true
	case "mistral3":
		merge := c.or(2, "spatial_merge_size")
		n = v + merge*merge*v*v + v*h + h*h
		if c.flag("multimodal_projector_bias", false) {
			n += 2 * h
		}
		return n, true
	case "idefics3", "smolvlm":
		scale := c.or(2, "scale_factor")
		return scale * scale * v * h, true
	case "internvl", "internvl_chat":
		return 8*v + two(4*v), true
	case "aya_vision":
		wide := c.or(h, "alignment_intermediate_size")
		return 8*v + 4*v*wide + wide + wide/2*h + h, true
	case "voxtral":
		return in.or(5120, "intermediate_size")*h + h*h, true
	}
	return 0, v == 0
}

// seen returns the parameters of a block of a vision transformer: attention and feed-forward net
// with biases, and two LayerNorms.
func seen(h, wide int64) int64 { return 4*(h*h+h) + 2*h*wide + wide + h + 4*h }

// side returns a number of pixels, or the first of a list of two.
func (c *config) side(key string, usual int64) int64 {
	if list, ok := c.value(key).([]any); ok && len(list) > 0 {
		c.all[key] = list[0]
	}
	return max(1, c.or(usual, key))
}

// siglipTower has a pooling attention of its own, unless its file says that there is none.
func siglipTower(v *config, m *llm.Model) tower {
	h, wide := v.need("hidden_size"), v.need("intermediate_size")
	t := tower{h, v.need("num_hidden_layers"), seen(h, wide), v.patched(h, 0, 1) + 2*h}
	if v.text("model_type", "") == "siglip_vision_model" && v.flag("vision_use_head", true) {
		t.beside += h + 4*(h*h+h) + 2*h + 2*h*wide + wide + h
	}
	return t
}

// patched is patches of sides that may be lists.
func (c *config) patched(h, more, bias int64) int64 {
	c.side("patch_size", 16)
	c.side("image_size", 224)
	return c.patches(h, more, bias)
}

func clipTower(v *config, m *llm.Model) tower {
	h := v.need("hidden_size")
	return tower{h, v.need("num_hidden_layers"), seen(h, v.need("intermediate_size")), v.patched(h, 1, 0) + 5*h}
}

// internTower scales what joins the stream, in both of its implementations.
func internTower(v *config, m *llm.Model) tower {
	h := v.need("hidden_size")
	t := tower{h, v.need("num_hidden_layers"), seen(h, v.need("intermediate_size")) + 2*h, v.patched(h, 1, 1) + h}
	if v.flag("use_qk_norm", false) || v.flag("qk_normalization", false) {
		t.params += 2 * h
	}
	if v.text("norm_type", "layer_norm") == "rms_norm" {
		t.params -= 2 * h
	}
	if !v.flag("qkv_bias", v.flag("attention_bias", true)) {
		t.params -= 3 * h
	}
	return t
}

// pixtralTower has the blocks of Llama.
func pixtralTower(v *config, m *llm.Model) tower {
	h, patch := v.need("hidden_size"), v.side("patch_size", 16)
	return tower{h, v.need("num_hidden_layers"), 4*h*h + 3*h*v.need("intermediate_size") + 2*h,
		v.or(3, "num_channels")*patch*patch*h + h}
}

// qwen3Tower merges four patches for the language model, in deeper layers too.
func qwen3Tower(v *config, m *llm.Model) tower {
	h, merge := v.need("hidden_size"), v.or(2, "spatial_merge_size")
	four, out := merge*merge*h, v.or(m.Hidden, "out_hidden_size")
	deep, _ := v.value("deepstack_visual_indexes").([]any)
	merger := four*four + four + four*out + out
	return tower{0, v.need("depth"), seen(h, v.need("intermediate_size")), v.frames(16)*h + h + v.or(2304,
		"num_position_embeddings")*h + 2*h + merger + int64(len(deep))*(2*four+merger)}
}

// frames returns the numbers of a patch of some frames.
func (c *config) frames(patch int64) int64 {
	patch = c.or(patch, "patch_size")
	return c.or(3, "in_channels", "in_chans") * c.or(2, "temporal_patch_size") * patch * patch
}

func qwen2Tower(v *config, m *llm.Model) tower {
	h, merge := v.need("embed_dim"), v.or(2, "spatial_merge_size")
	four := merge * merge * h
	return tower{0, v.need("depth"), seen(h, v.or(4, "mlp_ratio")*h), v.frames(14)*h + 2*h + four*four + four +
		four*m.Hidden + m.Hidden}
}

// qwen25Tower has gated nets and norms without biases.
func qwen25Tower(v *config, m *llm.Model) tower {
	h, merge, wide := v.need("hidden_size"), v.or(2, "spatial_merge_size"), v.need("intermediate_size")
	four, out := merge*merge*h, v.or(m.Hidden, "out_hidden_size")
	return tower{0, v.need("depth"), 4*(h*h+h) + 3*h*wide + 2*wide + h + 2*h, v.frames(14)*h + h + four*four + four +
		four*out + out}
}

// glm4Tower has a convolution that makes one token of four.
func glm4Tower(v *config, m *llm.Model) tower {
	h, out, merge := v.need("hidden_size"), v.or(m.Hidden, "out_hidden_size"), v.or(2, "spatial_merge_size")
	n := v.or(336, "image_size") / max(1, v.or(14, "patch_size"))
	return tower{0, v.need("depth"), 4*h*h + 3*h*out + 2*h, v.frames(14)*h + h + n*n*h + 2*h + merge*merge*h*out + out +
		out*out + 2*out + 3*out*v.need("intermediate_size")}
}

// gemma4Tower has Gemma's blocks, with norms of queries and keys.
func gemma4Tower(v *config, m *llm.Model) tower {
	h, heads, patch := v.need("hidden_size"), v.need("num_attention_heads"), v.or(16, "patch_size")
	d := v.or(64, "head_dim")
	return tower{0, v.need("num_hidden_layers"), 2*h*d*(heads+v.or(heads, "num_key_value_heads")) + 2*d + 4*h +
		3*h*v.need("intermediate_size"), (3*patch*patch + 2*v.or(10240, "position_embedding_size") + m.Hidden) * h}
}

// gemma4Audio has two nets around attention and a convolution in each block.
func gemma4Audio(v *config, m *llm.Model) tower {
	h, out := v.need("hidden_size"), v.or(1536, "output_proj_dims")
	sub := []int64{128, 32}
	if list, _ := v.value("subsampling_conv_channels").([]any); len(list) == 2 {
		sub[0], _ = whole(list[0])
		sub[1], _ = whole(list[1])
	}
	d, kernel := h/max(1, v.need("num_attention_heads")), v.or(5, "conv_kernel_size")
	return tower{0, v.need("num_hidden_layers"), 24*h*h + (9+kernel)*h + d,
		sub[0]*(10+9*sub[1]) + sub[1] + sub[0]/4*sub[1]*h + h*out + out + out*m.Hidden}
}

// whisperTower is Whisper's encoder.
func whisperTower(v *config, m *llm.Model) tower {
	h, wide := v.need("d_model", "hidden_size"), v.need("encoder_ffn_dim", "intermediate_size")
	return tower{h, v.need("encoder_layers", "num_hidden_layers"), seen(h, wide) - h,
		3*h*(v.or(128, "num_mel_bins")+h) + 2*h + v.or(1500, "max_source_positions")*h + 2*h}
}
