package family_test

import (
	"reflect"
	"slices"
	"testing"

	"memtide/profiles/llm/family"
)

// hub are config.json files as they stand on the hub, less keys that change nothing, with the parameters
// that the hub counts in the model's safetensors files.
var hub = map[string]struct {
	config string
	want   int64
}{
	"google/gemma-3-4b-it":                          {`{"model_type":"gemma3","text_config":{"hidden_size":2560,"intermediate_size":10240,"model_type":"gemma3_text","num_hidden_layers":34,"rope_scaling":{"factor":8.0,"rope_type":"linear"},"sliding_window":1024},"vision_config":{"hidden_size":1152,"image_size":896,"intermediate_size":4304,"model_type":"siglip_vision_model","num_attention_heads":16,"num_hidden_layers":27,"patch_size":14,"vision_use_head":false}}`, 4_300_079_472},
	"Qwen/Qwen2.5-VL-7B-Instruct":                   {`{"hidden_act":"silu","hidden_size":3584,"intermediate_size":18944,"max_position_embeddings":128000,"max_window_layers":28,"model_type":"qwen2_5_vl","num_attention_heads":28,"num_hidden_layers":28,"num_key_value_heads":4,"sliding_window":32768,"tie_word_embeddings":false,"use_sliding_window":false,"vision_config":{"depth":32,"hidden_act":"silu","hidden_size":1280,"intermediate_size":3420,"num_heads":16,"in_chans":3,"out_hidden_size":3584,"patch_size":14,"spatial_merge_size":2,"spatial_patch_size":14,"window_size":112,"temporal_patch_size":2},"rope_scaling":{"type":"mrope","mrope_section":[16,24,24]},"vocab_size":152064}`, 8_292_166_656},
	"llava-hf/llava-1.5-7b-hf":                      {`{"model_type":"llava","projector_hidden_act":"gelu","text_config":{"_name_or_path":"lmsys/vicuna-7b-v1.5","max_position_embeddings":4096,"model_type":"llama","vocab_size":32064},"tie_word_embeddings":false,"vision_config":{"hidden_size":1024,"image_size":336,"intermediate_size":4096,"model_type":"clip_vision_model","num_attention_heads":16,"num_hidden_layers":24,"patch_size":14,"projection_dim":768},"vision_feature_layer":-2}`, 7_063_427_072},
	"llava-hf/llava-v1.6-mistral-7b-hf":             {`{"model_type":"llava_next","text_config":{"_name_or_path":"mistralai/Mistral-7B-Instruct-v0.2","intermediate_size":14336,"max_position_embeddings":32768,"model_type":"mistral","num_key_value_heads":8,"sliding_window":null,"vocab_size":32064},"tie_word_embeddings":false,"vision_config":{"hidden_size":1024,"image_size":336,"intermediate_size":4096,"model_type":"clip_vision_model","num_attention_heads":16,"num_hidden_layers":24,"patch_size":14}}`, 7_566_747_648},
	"mistralai/Mistral-Small-3.1-24B-Instruct-2503": {`{"model_type":"mistral3","multimodal_projector_bias":false,"spatial_merge_size":2,"text_config":{"head_dim":128,"hidden_size":5120,"intermediate_size":32768,"model_type":"mistral","num_attention_heads":32,"num_hidden_layers":40,"num_key_value_heads":8,"sliding_window":null,"vocab_size":131072},"vision_config":{"head_dim":64,"hidden_size":1024,"image_size":1540,"intermediate_size":4096,"model_type":"pixtral","num_attention_heads":16,"num_channels":3,"num_hidden_layers":24,"patch_size":14}}`, 24_011_361_280},
	"google/paligemma-3b-pt-224":                    {`{"hidden_size":2048,"model_type":"paligemma","projection_dim":2048,"text_config":{"hidden_size":2048,"intermediate_size":16384,"model_type":"gemma","num_attention_heads":8,"num_hidden_layers":18,"num_key_value_heads":1,"vocab_size":257216},"vision_config":{"hidden_size":1152,"intermediate_size":4304,"model_type":"siglip_vision_model","num_attention_heads":16,"num_hidden_layers":27,"patch_size":14,"projection_dim":2048,"vision_use_head":false}}`, 2_923_466_480},
	"HuggingFaceTB/SmolVLM-256M-Instruct":           {`{"model_type":"idefics3","scale_factor":4,"tie_word_embeddings":false,"text_config":{"head_dim":64,"hidden_size":576,"intermediate_size":1536,"model_type":"llama","num_attention_heads":9,"num_hidden_layers":30,"num_key_value_heads":3,"vocab_size":49280},"vision_config":{"hidden_size":768,"image_size":512,"intermediate_size":3072,"model_type":"idefics3","num_attention_heads":12,"patch_size":16}}`, 256_484_928},
	"HuggingFaceTB/SmolVLM2-2.2B-Instruct":          {`{"model_type":"smolvlm","scale_factor":3,"tie_word_embeddings":false,"text_config":{"hidden_size":2048,"intermediate_size":8192,"model_type":"llama","num_hidden_layers":24,"num_key_value_heads":32,"vocab_size":49280},"vision_config":{"hidden_size":1152,"image_size":384,"intermediate_size":4304,"model_type":"smolvlm_vision","num_attention_heads":16,"num_hidden_layers":27,"patch_size":14}}`, 2_246_784_880},
	"OpenGVLab/InternVL3-8B":                        {`{"model_type":"internvl_chat","llm_config":{"model_type":"qwen2","hidden_size":3584,"intermediate_size":18944,"num_attention_heads":28,"num_hidden_layers":28,"num_key_value_heads":4,"vocab_size":151674,"tie_word_embeddings":false,"use_sliding_window":false},"vision_config":{"model_type":"intern_vit_6b","hidden_size":1024,"image_size":448,"intermediate_size":4096,"norm_type":"layer_norm","num_attention_heads":16,"num_hidden_layers":24,"patch_size":14,"qk_normalization":false,"qkv_bias":true}}`, 7_944_373_760},
	"Qwen/Qwen2-Audio-7B-Instruct":                  {`{"model_type":"qwen2_audio","text_config":{"model_type":"qwen2","intermediate_size":11008,"max_position_embeddings":8192,"vocab_size":156032},"audio_config":{"model_type":"qwen2_audio_encoder","num_mel_bins":128,"encoder_layers":32,"encoder_attention_heads":20,"encoder_ffn_dim":5120,"d_model":1280,"max_source_positions":1500}}`, 8_397_094_912},
}

// Parameters are those that the hub counts, also of what stands beside a language part, and of what is
// passed on of such a file.
func TestHub(t *testing.T) {
	for name, c := range hub {
		m, err := family.Read([]byte(c.config))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := m.Params(); got != c.want {
			t.Errorf("%s: %d parameters, want %d (%+d)", name, got, c.want, got-c.want)
		}
		again, err := family.Read([]byte(m.Config))
		if err == nil {
			again.Notes = m.Notes // which told what the first file left out
		}
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%s: passed on as %s it reads as %+v (%v), want %+v", name, m.Config, again, err, m)
		}
	}
}

// What of a model is not understood is told, and so is what its file leaves out.
func TestNotes(t *testing.T) {
	for _, c := range []struct{ config, want string }{
		{`{"model_type":"new","text_config":{"model_type":"llama"},"vision_config":{"model_type":"clip_vision_model"}}`, `text_config leaves out hidden_size, intermediate_size, num_attention_heads, num_hidden_layers, vocab_size, as save_pretrained does with sizes of the class of "llama": they are those.`},
		{`{"model_type":"new","text_config":{"model_type":"llama"},"vision_config":{"model_type":"clip_vision_model"}}`, `What joins the tower of vision_config to the language part of a "new" is not understood and not counted.`},
		{`{"model_type":"llava","text_config":{"model_type":"llama"},"vision_config":{"model_type":"newest"}}`, `The tower of vision_config, "newest", is not understood and not counted: this is the language part alone.`},
	} {
		m, err := family.Read([]byte(c.config))
		if err != nil {
			t.Errorf("%s: %v", c.config, err)
			continue
		}
		if !slices.Contains(m.Notes, c.want) {
			t.Errorf("%s: notes %q, want %q among them", c.config, m.Notes, c.want)
		}
	}
}
