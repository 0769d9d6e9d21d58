package family

import (
	"cmp"
	"strings"

	"memtide/profiles/llm"
)

// towers counts the towers of a model beside its language part, and notes them. A step on text does not run them:
// their weights are there, and do not train.
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
			c.note("The tower of %s, %q, is not understood and not counted: this is the language part alone.", key, kind)
			continue
		}
		fill(in, kind)
		t, width := build(v, m)
		joint, known := c.joint(v, width, m.Hidden)
		if c.err != nil {
			return
		}
		if !known {
			c.note("What joins the tower of %s to the language part of a %q is not understood and not counted.", key, c.outer)
		}
		t.Name, t.Beside = kind, t.Beside+joint
		m.Beside = append(m.Beside, t)
		c.note("The tower of %s is counted, %d parameters, and not run: the step is one on text.", key, t.Blocks*t.Params+t.Beside)
	}
	if strings.HasSuffix(c.outer, "_thinker") {
		c.note("The thinker is read, the part that is trained; the part that talks is not counted.")
	}
	if c.outer == "gemma3" {
		m.Shorter = len(m.Beside) > 0
	}
}

// towerKinds are the known towers, by their model_type without _vision, or by the model_type of the whole model if they
// have none. A width of 0 means that the tower's parameters include the part that joins it to the language part.
var towerKinds = map[string]func(v *config, m *llm.Model) (t llm.Tower, width int64){
	"siglip_vision_model": siglipTower, "idefics3": siglipTower, "smolvlm": siglipTower, "pixtral": pixtralTower,
	"clip_vision_model": clipTower, "internvl": internTower, "intern_vit_6b": internTower,
	"qwen2_vl": qwen2Tower, "qwen2_5_vl": qwen25Tower, "qwen3_vl": qwen3Tower, "qwen3_vl_moe": qwen3Tower,
	"qwen3_5": qwen3Tower, "qwen3_5_moe": qwen3Tower, "glm4v": glm4Tower, "glm4v_moe": glm4Tower,
	"llama4_vision_model": llama4Tower, "gemma4": gemma4Tower, "gemma4_audio": gemma4Audio,
	"mllama_vision_model": mllamaTower, "qwen2_audio_encoder": whisperTower, "qwen2_5_omni_audio_encoder": omniAudio,
	"qwen2_5_omni_vision_encoder": qwen25Tower, "qwen3_omni_moe_vision_encoder": qwen3Tower,
}

// joint returns the parameters of the part that joins a tower of width v to a language part of width h.
func (c *config) joint(in *config, v, h int64) (n int64, known bool) {
	two := func(from int64) int64 { return from*h + h + h*h + h } // products with biases
	switch c.outer {
	case "gemma3":
		return v + v*h, true
	case "mllama":
		v = in.or(7680, "vision_output_dim")
		return v*h + h, true
	case "paligemma", "qwen2_audio":
		n = in.or(h, "projection_dim")
		return v*n + n, true
	case "llava", "llava_next", "llava_next_video", "llava_onevision":
		n = two(v)
		if layers, ok := c.value("vision_feature_layer").([]any); ok { // of several layers side by side
			n = two(int64(len(layers)) * v)
		}
		if c.outer != "llava" { // a vector for the end of a row
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
	}
	return 0, v == 0
}

// seen returns the parameters of a block of a vision transformer: attention and feed-forward net with biases, and
// two LayerNorms.
func seen(h, wide int64) int64 { return 4*(h*h+h) + 2*h*wide + wide + h + 4*h }

// seenBlocks returns a tower of such blocks, with their width and the width of their nets.
func (c *config) seenBlocks() (t llm.Tower, h, wide int64) {
	h, wide = c.need("hidden_size", "d_model"), c.need("intermediate_size", "encoder_ffn_dim")
	return llm.Tower{Blocks: c.need("num_hidden_layers", "encoder_layers"), Params: seen(h, wide)}, h, wide
}

// siglipTower has a pooling attention, unless its file says otherwise.
func siglipTower(v *config, m *llm.Model) (llm.Tower, int64) {
	t, h, wide := v.seenBlocks()
	t.Beside = v.patches(h, 0, 1) + 2*h
	if v.text("model_type", "") == "siglip_vision_model" && v.flag("vision_use_head", true) {
		t.Beside += h + 4*(h*h+h) + 2*h + 2*h*wide + wide + h
	}
	return t, h
}

func clipTower(v *config, m *llm.Model) (llm.Tower, int64) {
	t, h, _ := v.seenBlocks()
	t.Beside = v.patches(h, 1, 0) + 5*h
	return t, h
}

// internTower scales what is added to the stream, in both of its implementations. If its norms have no biases,
// queries and keys have norms with as many weights.
func internTower(v *config, m *llm.Model) (llm.Tower, int64) {
	t, h, _ := v.seenBlocks()
	t.Beside, t.Params = v.patches(h, 1, 1)+h, t.Params+2*h
	if v.flag("qk_normalization", v.flag("use_qk_norm", false)) != (v.text("norm_type", "layer_norm") == "rms_norm") {
		v.unknown("norm_type", "a tower that is not understood")
	}
	if !v.flag("qkv_bias", v.flag("attention_bias", true)) {
		t.Params -= 3 * h
	}
	return t, h
}

// llama4Tower has nets that make the width that the language part reads.
func llama4Tower(v *config, m *llm.Model) (llm.Tower, int64) {
	t, h, wide := v.seenBlocks()
	in, out := v.or(4096, "projector_input_dim"), v.or(4096, "projector_output_dim")
	t.Beside = v.patches(h, 1, 0) + 5*h + wide*in + in*out + out*m.Hidden
	return t, 0
}

// mllamaTower has gated blocks after others, and positions of patches and of tiles by the shape of a picture.
func mllamaTower(v *config, m *llm.Model) (llm.Tower, int64) {
	t, h, _ := v.seenBlocks()
	gated, tiles, shapes := v.or(8, "num_global_layers"), v.or(4, "max_num_tiles"), int64(8)
	if list, ok := v.value("supported_aspect_ratios").([]any); ok {
		shapes = int64(len(list))
	}
	t.Blocks, t.Params = t.Blocks+gated, t.Params-4*h
	t.Beside = 2*gated + v.patches(h, 1, 0) + h + 4*h + 3 + (shapes+1)*tiles*h*(v.ofPicture()+1+2)
	return t, h
}

// whisperTower is Whisper's encoder.
func whisperTower(v *config, m *llm.Model) (llm.Tower, int64) {
	t, h, _ := v.seenBlocks()
	t.Params, t.Beside = t.Params-h, 3*h*(v.or(128, "num_mel_bins")+h)+4*h+v.or(1500, "max_source_positions")*h
	return t, h
}

// omniAudio is Whisper's encoder without learned positions, with a product to the width of the language part and two
// vectors that frame a sound [transformers: modeling_qwen2_5_omni.py].
func omniAudio(v *config, m *llm.Model) (llm.Tower, int64) {
	t, _ := whisperTower(v, m)
	h, out := v.need("d_model"), v.or(m.Hidden, "output_dim")
	t.Beside += h*out + out + 2*out - v.or(1500, "max_source_positions")*h
	return t, 0
}

// pixtralTower has the blocks of Llama.
func pixtralTower(v *config, m *llm.Model) (llm.Tower, int64) {
	h, patch := v.need("hidden_size"), v.side("patch_size", 16)
	return llm.Tower{Blocks: v.need("num_hidden_layers"), Params: 4*h*h + 3*h*v.need("intermediate_size") + 2*h,
		Beside: v.or(3, "num_channels")*patch*patch*h + h}, h
}

// merged returns the parameters of a convolution over frames without a bias, and of two products that merge
// several patches to one token. four is the width of the merged patches.
func (c *config) merged(h, out, patch int64) (n, four int64) {
	merge, patch := c.or(2, "spatial_merge_size"), c.or(patch, "patch_size")
	four = merge * merge * h
	n = c.or(3, "in_channels", "in_chans") * c.or(2, "temporal_patch_size") * patch * patch * h
	return n + four*four + four + four*out + out, four
}

// qwen3Tower merges four patches for the language model, in deeper layers too.
func qwen3Tower(v *config, m *llm.Model) (llm.Tower, int64) {
	h, out := v.need("hidden_size"), v.or(m.Hidden, "out_hidden_size")
	n, four := v.merged(h, out, 16)
	deep, _ := v.value("deepstack_visual_indexes").([]any)
	n += h + v.or(2304, "num_position_embeddings")*h + 2*h + int64(len(deep))*(2*four+four*four+four+four*out+out)
	return llm.Tower{Blocks: v.need("depth"), Params: seen(h, v.need("intermediate_size")), Beside: n}, 0
}

func qwen2Tower(v *config, m *llm.Model) (llm.Tower, int64) {
	h := v.need("embed_dim")
	n, _ := v.merged(h, m.Hidden, 14)
	return llm.Tower{Blocks: v.need("depth"), Params: seen(h, v.or(4, "mlp_ratio")*h), Beside: n + 2*h}, 0
}

// qwen25Tower has gated nets and norms without biases.
func qwen25Tower(v *config, m *llm.Model) (llm.Tower, int64) {
	h, wide := v.need("hidden_size"), v.need("intermediate_size")
	n, _ := v.merged(h, v.or(m.Hidden, "out_hidden_size"), 14)
	return llm.Tower{Blocks: v.need("depth"), Params: 4*(h*h+h) + 3*h*wide + 2*wide + h + 2*h, Beside: n + h}, 0
}

// glm4Tower has a convolution that merges four tokens to one.
func glm4Tower(v *config, m *llm.Model) (llm.Tower, int64) {
	h, out, merge, patch := v.need("hidden_size"), v.or(m.Hidden, "out_hidden_size"), v.or(2, "spatial_merge_size"),
		max(1, v.or(14, "patch_size"))
	side := v.or(336, "image_size") / patch
	return llm.Tower{Blocks: v.need("depth"), Params: 4*h*h + 3*h*out + 2*h, Beside: 6*patch*patch*h + 3*h +
		side*side*h + merge*merge*h*out + out + out*out + 2*out + 3*out*v.need("intermediate_size")}, 0
}

// gemma4Tower has Gemma's blocks, with norms of queries and keys.
func gemma4Tower(v *config, m *llm.Model) (llm.Tower, int64) {
	h, heads, patch := v.need("hidden_size"), v.need("num_attention_heads"), v.or(16, "patch_size")
	d := v.or(64, "head_dim")
	return llm.Tower{Blocks: v.need("num_hidden_layers"), Params: 2*h*d*(heads+v.or(heads, "num_key_value_heads")) +
		2*d + 4*h + 3*h*v.need("intermediate_size"),
		Beside: (3*patch*patch + 2*v.or(10240, "position_embedding_size") + m.Hidden) * h}, 0
}

// gemma4Audio has two nets around attention and a convolution in each block.
func gemma4Audio(v *config, m *llm.Model) (llm.Tower, int64) {
	h, out := v.need("hidden_size"), v.or(1536, "output_proj_dims")
	d, kernel := h/max(1, v.need("num_attention_heads")), v.or(5, "conv_kernel_size")
	if key := "subsampling_conv_channels"; v.has(key) && told(v.all[key]) != "[128,32]" {
		v.unknown(key, "a tower that is not understood")
	}
	return llm.Tower{Blocks: v.need("num_hidden_layers"), Params: 24*h*h + (9+kernel)*h + d,
		Beside: 128*10 + 9*128*32 + 32 + 128/4*32*h + h*out + out + out*m.Hidden}, 0
}
