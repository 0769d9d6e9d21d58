package family

import (
	"fmt"

	"memtide/profiles/llm"
)

// towers counts what a model has beside its language part, and says so. A step on text alone
// does not run it: its weights are there, and train nothing.
func (c *config) towers(m *llm.Model) {
	for _, key := range []string{"vision_config", "audio_config", "speech_config"} {
		in, ok := c.value(key).(map[string]any)
		if !ok || len(in) == 0 {
			continue
		}
		v := c.part(in)
		kind := v.text("model_type", "")
		build := towerKinds[kind]
		if build == nil {
			c.notes = append(c.notes,
				fmt.Sprintf("The tower of %s, %q, is not understood and not counted: this is the language part alone.", key, kind))
			continue
		}
		t := build(v, m)
		if c.err != nil {
			return
		}
		t.Name = kind
		m.Beside = append(m.Beside, t)
		c.notes = append(c.notes,
			fmt.Sprintf("The tower of %s is counted, %d parameters, and not run: the step is one on text.", key,
				t.Blocks*t.Params+t.Beside))
	}
	if c.outer == "gemma3" {
		m.Shorter = len(m.Beside) > 0
	}
}

// towerKinds are the towers that are known, by their model_type.
var towerKinds = map[string]func(v *config, m *llm.Model) llm.Tower{
	"siglip_vision_model": siglipTower, "qwen3_vl_vision": qwen3Tower, "qwen3_vl_moe_vision": qwen3Tower,
	"qwen3_vl": qwen3Tower, "qwen3_vl_moe": qwen3Tower,
	"qwen3_5_vision": qwen3Tower, "qwen3_5_moe_vision": qwen3Tower, "qwen3_5": qwen3Tower, "qwen3_5_moe": qwen3Tower,
	"qwen2_vl_vision": qwen2Tower, "qwen2_vl": qwen2Tower,
}

// seen returns the parameters of a block of a vision transformer: attention and feed-forward net
// with biases, and two LayerNorms.
func seen(h, wide int64) int64 { return 4*(h*h+h) + 2*h*wide + wide + h + 4*h }

// siglipTower is SigLIP's with Gemma 3's projection behind it.
func siglipTower(v *config, m *llm.Model) llm.Tower {
	h, patch := v.need("hidden_size"), v.or(14, "patch_size")
	side := v.or(896, "image_size") / max(patch, 1)
	return llm.Tower{Blocks: v.need("num_hidden_layers"), Params: seen(h, v.need("intermediate_size")),
		Beside: v.or(3, "num_channels")*patch*patch*h + h + side*side*h + 2*h + h*m.Hidden + h}
}

// qwen3Tower merges four patches for the language model, in deeper layers too.
func qwen3Tower(v *config, m *llm.Model) llm.Tower {
	h, merge := v.need("hidden_size"), v.or(2, "spatial_merge_size")
	four, out := merge*merge*h, v.or(m.Hidden, "out_hidden_size")
	patch := v.or(16, "patch_size")
	deep, _ := v.value("deepstack_visual_indexes").([]any)
	merger := four*four + four + four*out + out
	return llm.Tower{Blocks: v.need("depth"), Params: seen(h, v.need("intermediate_size")),
		Beside: v.or(3, "in_channels")*v.or(2, "temporal_patch_size")*patch*patch*h + h + v.or(2304,
			"num_position_embeddings")*h + 2*h + merger + int64(len(deep))*(2*four+merger)}
}

func qwen2Tower(v *config, m *llm.Model) llm.Tower {
	h, merge := v.need("embed_dim"), v.or(2, "spatial_merge_size")
	four, patch := merge*merge*h, v.or(14, "patch_size")
	return llm.Tower{Blocks: v.need("depth"), Params: seen(h, v.or(4, "mlp_ratio")*h),
		Beside: v.or(3, "in_channels")*v.or(2, "temporal_patch_size")*patch*patch*h + 2*h + four*four + four +
			four*m.Hidden + m.Hidden}
}
