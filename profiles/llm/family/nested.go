package family

import (
	"fmt"
	"slices"
	"strings"
)

// ofWhole are keys of the whole model that describe its parts.
var ofWhole = []string{"tie_word_embeddings", "quantization_config", "_name_or_path", "architectures",
	"vision_config", "audio_config", "speech_config", "encoder_config", "vision_feature_layer",
	"multimodal_projector_bias", "spatial_merge_size", "scale_factor"}

// language continues with the language part of a model that has other parts, if there is one.
func (c *config) language() {
	c.outer = c.text("outer_model_type", "") // links have it for the language part of a file
	whole, kind, key := c.all, c.text("model_type", ""), "text_config"
	if whole[key] == nil {
		key = "llm_config"
	}
	text, ok := whole[key].(map[string]any)
	if !ok || ownSizes[kind] || c.has("hidden_size") && c.has("num_hidden_layers") {
		return
	}
	c.all, c.outer = text, kind
	if text["model_type"] == nil {
		text["model_type"] = kind
	}
	if added := fill(text, fmt.Sprint(text["model_type"])); len(added) > 0 {
		c.note("%s leaves out %s, as save_pretrained does with sizes of the class of %q: they are those.", key, strings.Join(added, ", "), text["model_type"])
	}
	text["outer_model_type"] = kind
	for _, key := range ofWhole {
		if whole[key] != nil {
			text[key] = whole[key]
		}
	}
}

// fill adds to a nested config the sizes of its class that it leaves out, and returns their keys.
func fill(in map[string]any, kind string) (added []string) {
	kind = strings.TrimSuffix(kind, "_vision")
	usual, _ := open([]byte(classSizes[kind]))
	if usual == nil {
		return nil
	}
	for key, v := range usual.all {
		if _, given := in[key]; !given {
			in[key] = v
			added = append(added, key)
		}
	}
	slices.Sort(added)
	return added
}

// classSizes are the default sizes of classes of Transformers whose configs are nested. save_pretrained writes
// only keys that differ from these.
var classSizes = map[string]string{
	"llama":               `{"vocab_size":32000,"hidden_size":4096,"intermediate_size":11008,"num_hidden_layers":32,"num_attention_heads":32}`,
	"mistral":             `{"vocab_size":32000,"hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"sliding_window":4096}`,
	"qwen2":               `{"vocab_size":151936,"hidden_size":4096,"intermediate_size":22016,"num_hidden_layers":32,"num_attention_heads":32}`,
	"qwen2_vl_text":       `{"vocab_size":152064,"hidden_size":8192,"intermediate_size":29568,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8}`,
	"qwen2_5_vl_text":     `{"vocab_size":152064,"hidden_size":8192,"intermediate_size":29568,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8}`,
	"qwen3_vl_text":       `{"vocab_size":151936,"hidden_size":4096,"intermediate_size":22016,"num_hidden_layers":32,"num_attention_heads":32,"head_dim":128}`,
	"gemma":               `{"vocab_size":256000,"hidden_size":3072,"intermediate_size":24576,"num_hidden_layers":28,"num_attention_heads":16,"head_dim":256}`,
	"gemma2":              `{"vocab_size":256000,"hidden_size":2304,"intermediate_size":9216,"num_hidden_layers":26,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,"sliding_window":4096}`,
	"gemma3_text":         `{"vocab_size":262208,"hidden_size":2304,"intermediate_size":9216,"num_hidden_layers":26,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,"sliding_window":4096}`,
	"gemma4_text":         `{"vocab_size":262144,"hidden_size":2304,"intermediate_size":9216,"num_hidden_layers":30,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,"sliding_window":512}`,
	"clip_text_model":     `{"hidden_size":512,"intermediate_size":2048,"num_hidden_layers":12,"num_attention_heads":8,"vocab_size":49408}`,
	"siglip_text_model":   `{"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,"num_attention_heads":12,"vocab_size":32000}`,
	"clip_vision_model":   `{"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,"num_attention_heads":12,"image_size":224,"patch_size":32}`,
	"siglip_vision_model": `{"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,"num_attention_heads":12,"image_size":224,"patch_size":16}`,
	"idefics3":            `{"hidden_size":1152,"intermediate_size":3072,"num_hidden_layers":12,"image_size":224,"patch_size":32}`,
	"smolvlm":             `{"hidden_size":1152,"intermediate_size":3072,"num_hidden_layers":12,"image_size":224,"patch_size":32}`,
	"internvl":            `{"hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,"image_size":448,"patch_size":14,"attention_bias":false}`,
	"pixtral":             `{"hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,"patch_size":16}`,
	"qwen2_vl":            `{"depth":32,"embed_dim":1280}`,
	"qwen2_5_vl":          `{"depth":32,"hidden_size":3584,"intermediate_size":3420,"out_hidden_size":3584}`,
	"qwen3_vl":            `{"depth":27,"hidden_size":1152,"intermediate_size":4304,"out_hidden_size":3584,"deepstack_visual_indexes":[8,16,24]}`,
}
