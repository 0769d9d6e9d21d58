package family_test

import (
	"reflect"
	"slices"
	"testing"

	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
)

// hub are config.json files from the hub, without keys that change nothing, and the parameters that the hub
// counts in the model's safetensors files.
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
	"meta-llama/Llama-4-Scout-17B-16E-Instruct":     {`{"model_type":"llama4","text_config":{"model_type":"llama4_text","attention_bias":false,"hidden_size":5120,"head_dim":128,"intermediate_size":8192,"intermediate_size_mlp":16384,"num_attention_heads":40,"num_key_value_heads":8,"num_hidden_layers":48,"num_local_experts":16,"num_experts_per_tok":1,"interleave_moe_layer_step":1,"vocab_size":202048,"use_qk_norm":true},"vision_config":{"model_type":"llama4_vision_model","hidden_size":1408,"intermediate_size":5632,"num_hidden_layers":34,"num_attention_heads":16,"image_size":336,"patch_size":14,"vision_output_dim":4096,"projector_input_dim":4096,"projector_output_dim":4096}}`, 108_641_793_536},
	"Qwen/Qwen3-VL-8B-Instruct":                     {`{"model_type":"qwen3_vl","tie_word_embeddings":false,"text_config":{"attention_bias":false,"attention_dropout":0.0,"head_dim":128,"hidden_size":4096,"intermediate_size":12288,"model_type":"qwen3_vl_text","num_attention_heads":32,"num_hidden_layers":36,"num_key_value_heads":8,"vocab_size":151936},"vision_config":{"deepstack_visual_indexes":[8,16,24],"depth":27,"hidden_size":1152,"in_channels":3,"intermediate_size":4304,"model_type":"qwen3_vl","num_heads":16,"num_position_embeddings":2304,"out_hidden_size":4096,"patch_size":16,"spatial_merge_size":2,"temporal_patch_size":2}}`, 8_767_123_696},
	"Qwen/Qwen2.5-VL-3B-Instruct":                   {`{"model_type":"qwen2_5_vl","text_config":{"model_type":"qwen2_5_vl_text","hidden_size":2048,"intermediate_size":11008,"num_attention_heads":16,"num_hidden_layers":36,"num_key_value_heads":2,"tie_word_embeddings":true,"vocab_size":151936,"layer_types":["full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention","full_attention"],"use_sliding_window":false,"sliding_window":null,"max_window_layers":36},"vision_config":{"model_type":"qwen2_5_vl","depth":32,"hidden_size":1280,"intermediate_size":3420,"num_heads":16,"in_chans":3,"in_channels":3,"out_hidden_size":2048,"patch_size":14,"spatial_merge_size":2,"temporal_patch_size":2}}`, 3_754_622_976},
	"mistral-community/pixtral-12b":                 {`{"model_type":"llava","text_config":{"head_dim":128,"hidden_size":5120,"max_position_embeddings":1024000,"model_type":"mistral","num_hidden_layers":40,"sliding_window":null,"vocab_size":131072},"vision_config":{"head_dim":64,"hidden_act":"silu","image_size":1024,"model_type":"pixtral","patch_size":16},"vision_feature_layer":-1}`, 12_682_739_712},
	"Skywork/Skywork-Reward-Llama-3.1-8B":           {`{"model_type":"llama","architectures":["LlamaForSequenceClassification"],"id2label":{"0":"LABEL_0"},"hidden_size":4096,"intermediate_size":14336,"num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,"vocab_size":128256}`, 7_504_928_768},
	"textattack/bert-base-uncased-SST-2":            {`{"model_type":"bert","architectures":["BertForSequenceClassification"],"hidden_size":768,"intermediate_size":3072,"max_position_embeddings":512,"num_attention_heads":12,"num_hidden_layers":12,"type_vocab_size":2,"vocab_size":30522}`, 109_483_778},
	"facebook/opt-125m":                             {`{"model_type":"opt","activation_function":"relu","attention_dropout":0.0,"do_layer_norm_before":true,"dropout":0.1,"ffn_dim":3072,"hidden_size":768,"max_position_embeddings":2048,"num_attention_heads":12,"num_hidden_layers":12,"prefix":"</s>","vocab_size":50272,"word_embed_proj_dim":768,"_remove_final_layer_norm":false}`, 125_239_296},
	"facebook/opt-6.7b":                             {`{"model_type":"opt","activation_function":"relu","attention_dropout":0.0,"do_layer_norm_before":true,"dropout":0.1,"ffn_dim":16384,"hidden_size":4096,"max_position_embeddings":2048,"num_attention_heads":32,"num_hidden_layers":32,"vocab_size":50272,"word_embed_proj_dim":4096}`, 6_658_473_984},
	"bigscience/bloom-560m":                         {`{"apply_residual_connection_post_layernorm":false,"attention_dropout":0.0,"attention_softmax_in_fp32":true,"hidden_dropout":0.0,"model_type":"bloom","n_embed":1024,"n_inner":null,"n_layer":24,"num_attention_heads":16,"seq_length":2048,"vocab_size":250880}`, 559_214_592},
	"bigscience/bloom-7b1":                          {`{"apply_residual_connection_post_layernorm":false,"attention_dropout":0.0,"hidden_dropout":0.0,"model_type":"bloom","hidden_size":4096,"n_layer":30,"n_head":32,"vocab_size":250880}`, 7_069_016_064},
	"EleutherAI/gpt-j-6b":                           {`{"activation_function":"gelu_new","attn_pdrop":0.0,"embd_pdrop":0.0,"model_type":"gptj","n_embd":4096,"n_head":16,"n_inner":null,"n_layer":28,"n_positions":2048,"resid_pdrop":0.0,"rotary":true,"rotary_dim":64,"tie_word_embeddings":false,"vocab_size":50400}`, 6_050_882_784},
	"EleutherAI/gpt-neo-125m":                       {`{"activation_function":"gelu_new","attention_dropout":0,"attention_layers":["global","local","global","local","global","local","global","local","global","local","global","local"],"attention_types":[[["global","local"],6]],"embed_dropout":0,"hidden_size":768,"intermediate_size":null,"max_position_embeddings":2048,"model_type":"gpt_neo","num_heads":12,"num_layers":12,"resid_dropout":0,"vocab_size":50257,"window_size":256}`, 125_198_592},
	"EleutherAI/gpt-neo-2.7B":                       {`{"activation_function":"gelu_new","attention_dropout":0,"embed_dropout":0,"hidden_size":2560,"max_position_embeddings":2048,"model_type":"gpt_neo","num_heads":20,"num_layers":32,"resid_dropout":0,"vocab_size":50257}`, 2_651_307_520},
	"bigcode/starcoder":                             {`{"activation_function":"gelu","attention_softmax_in_fp32":true,"multi_query":true,"attn_pdrop":0.1,"embd_pdrop":0.1,"model_type":"gpt_bigcode","n_embd":6144,"n_head":48,"n_inner":24576,"n_layer":40,"n_positions":8192,"resid_pdrop":0.1,"vocab_size":49152}`, 15_517_456_384},
	"bigcode/starcoderbase-1b":                      {`{"activation_function":"gelu_pytorch_tanh","multi_query":true,"model_type":"gpt_bigcode","n_embd":2048,"n_head":16,"n_inner":8192,"n_layer":24,"n_positions":8192,"vocab_size":49152}`, 1_137_207_296},
	"Salesforce/codegen-350M-mono":                  {`{"activation_function":"gelu_new","attn_pdrop":0.0,"embd_pdrop":0.0,"model_type":"codegen","n_ctx":2048,"n_embd":1024,"n_head":16,"n_inner":null,"n_layer":20,"n_positions":2048,"resid_pdrop":0.0,"rotary_dim":32,"tie_word_embeddings":false,"vocab_size":51200}`, 356_712_448},
	"allenai/OLMo-1B-hf":                            {`{"attention_bias":false,"attention_dropout":0.0,"clip_qkv":null,"hidden_act":"silu","hidden_size":2048,"intermediate_size":8192,"max_position_embeddings":2048,"model_type":"olmo","num_attention_heads":16,"num_hidden_layers":16,"num_key_value_heads":16,"tie_word_embeddings":true,"vocab_size":50304}`, 1_176_764_416},
	"allenai/OLMo-7B-hf":                            {`{"attention_bias":false,"clip_qkv":null,"hidden_act":"silu","hidden_size":4096,"intermediate_size":11008,"max_position_embeddings":2048,"model_type":"olmo","num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":32,"tie_word_embeddings":false,"vocab_size":50304}`, 6_888_095_744},
	"LGAI-EXAONE/EXAONE-3.5-2.4B-Instruct":          {`{"activation_function":"silu","attention_dropout":0.0,"embed_dropout":0.0,"head_dim":80,"hidden_size":2560,"intermediate_size":7168,"max_position_embeddings":32768,"model_type":"exaone","num_attention_heads":32,"num_key_value_heads":8,"num_layers":30,"tie_word_embeddings":true,"vocab_size":102400}`, 2_405_327_360},
	"LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct":          {`{"activation_function":"silu","attention_dropout":0.0,"embed_dropout":0.0,"head_dim":128,"hidden_size":4096,"intermediate_size":14336,"max_position_embeddings":32768,"model_type":"exaone","num_attention_heads":32,"num_key_value_heads":8,"num_layers":32,"tie_word_embeddings":false,"vocab_size":102400}`, 7_818_448_896},
	"internlm/internlm2-7b":                         {`{"bias":false,"hidden_act":"silu","hidden_size":4096,"intermediate_size":14336,"max_position_embeddings":32768,"model_type":"internlm2","num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,"tie_word_embeddings":false,"vocab_size":92544}`, 7_737_708_544},
	"baichuan-inc/Baichuan2-7B-Base":                {`{"hidden_act":"silu","hidden_size":4096,"intermediate_size":11008,"max_position_embeddings":4096,"model_max_length":4096,"model_type":"baichuan","num_attention_heads":32,"num_hidden_layers":32,"tie_word_embeddings":false,"vocab_size":125696}`, 7_505_973_248},
	"Qwen/Qwen-7B":                                  {`{"attn_dropout_prob":0.0,"emb_dropout_prob":0.0,"hidden_size":4096,"intermediate_size":22016,"kv_channels":128,"max_position_embeddings":32768,"model_type":"qwen","no_bias":true,"num_attention_heads":32,"num_hidden_layers":32,"rotary_pct":1.0,"tie_word_embeddings":false,"vocab_size":151936}`, 7_721_324_544},
	"zai-org/chatglm3-6b":                           {`{"add_bias_linear":false,"add_qkv_bias":true,"apply_residual_connection_post_layernorm":false,"attention_dropout":0.0,"ffn_hidden_size":13696,"hidden_dropout":0.0,"hidden_size":4096,"kv_channels":128,"model_type":"chatglm","multi_query_attention":true,"multi_query_group_num":2,"num_attention_heads":32,"num_layers":28,"original_rope":true,"padded_vocab_size":65024,"post_layer_norm":true,"rmsnorm":true,"seq_length":8192,"tie_word_embeddings":false}`, 6_243_584_000},
	"zai-org/glm-4-9b-chat":                         {`{"add_bias_linear":false,"add_qkv_bias":true,"ffn_hidden_size":13696,"hidden_size":4096,"kv_channels":128,"model_type":"chatglm","multi_query_attention":true,"multi_query_group_num":2,"num_attention_heads":32,"num_hidden_layers":40,"num_layers":40,"padded_vocab_size":151552,"post_layer_norm":true,"rmsnorm":true,"seq_length":131072,"tie_word_embeddings":false}`, 9_399_951_360},
	"openbmb/MiniCPM-2B-sft-bf16":                   {`{"attention_bias":false,"attention_dropout":0.0,"hidden_act":"silu","hidden_size":2304,"intermediate_size":5760,"max_position_embeddings":4096,"model_type":"minicpm","num_attention_heads":36,"num_hidden_layers":40,"num_key_value_heads":36,"scale_depth":1.4,"scale_emb":12,"dim_model_base":256,"vocab_size":122753}`, 2_724_880_896},
	"deepseek-ai/deepseek-moe-16b-base":             {`{"attention_bias":false,"attention_dropout":0.0,"first_k_dense_replace":1,"hidden_act":"silu","hidden_size":2048,"intermediate_size":10944,"max_position_embeddings":4096,"model_type":"deepseek","moe_intermediate_size":1408,"moe_layer_freq":1,"n_routed_experts":64,"n_shared_experts":2,"norm_topk_prob":false,"num_attention_heads":16,"num_experts_per_tok":6,"num_hidden_layers":28,"num_key_value_heads":16,"scoring_func":"softmax","tie_word_embeddings":false,"vocab_size":102400}`, 16_375_728_128},
	"distilbert/distilbert-base-uncased":            {`{"activation":"gelu","attention_dropout":0.1,"dim":768,"dropout":0.1,"hidden_dim":3072,"max_position_embeddings":512,"model_type":"distilbert","n_heads":12,"n_layers":6,"sinusoidal_pos_embds":false,"tie_weights_":true,"vocab_size":30522}`, 66_985_530},
	"LiquidAI/LFM2-8B-A1B":                          {`{"block_auto_adjust_ff_dim":false,"conv_L_cache":3,"conv_bias":false,"hidden_size":2048,"intermediate_size":7168,"layer_types":["conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","conv","full_attention","conv","conv","full_attention","conv","conv"],"max_position_embeddings":128000,"model_type":"lfm2_moe","moe_intermediate_size":1792,"norm_topk_prob":true,"num_attention_heads":32,"num_dense_layers":2,"num_experts":32,"num_experts_per_tok":4,"num_hidden_layers":24,"num_key_value_heads":8,"routed_scaling_factor":1.0,"tie_embedding":true,"use_expert_bias":true,"vocab_size":65536}`, 8_339_929_856},
	"zai-org/GLM-4.1V-9B-Thinking":                  {`{"model_type":"glm4v","text_config":{"model_type":"glm4v_text","hidden_size":4096,"intermediate_size":13696,"num_attention_heads":32,"num_hidden_layers":40,"num_key_value_heads":2,"vocab_size":151552,"attention_bias":true},"vision_config":{"model_type":"glm4v","depth":24,"hidden_size":1536,"out_hidden_size":4096,"intermediate_size":13696,"image_size":336,"patch_size":14}}`, 10_292_777_472},
	// The hub counts 2,334 numbers more, which are buffers: two of the tower's width and one a layer.
	"google/gemma-4-26B-A4B-it": {`{"model_type":"gemma4","tie_word_embeddings":true,"audio_config":null,"vision_config":{"model_type":"gemma4_vision","hidden_size":1152,"intermediate_size":4304,"num_hidden_layers":27,"num_attention_heads":16,"num_key_value_heads":16,"head_dim":72,"patch_size":16,"position_embedding_size":10240,"standardize":true},"text_config":{"model_type":"gemma4_text","vocab_size":262144,"hidden_size":2816,"intermediate_size":2112,"num_hidden_layers":30,"num_attention_heads":16,"num_key_value_heads":8,"num_global_key_value_heads":2,"attention_k_eq_v":true,"head_dim":256,"global_head_dim":512,"num_kv_shared_layers":0,"enable_moe_block":true,"num_experts":128,"top_k_experts":8,"moe_intermediate_size":704,"hidden_size_per_layer_input":0,"sliding_window":1024,"layer_types":["sliding_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention"]}}`, 25_805_936_206 - 2*1152 - 30},
	// The hub counts keys and values of the 20 layers that read those of an earlier layer, which no code has, and
	// buffers: one a layer and four of each product of the towers.
	"google/gemma-4-E2B-it": {`{"model_type":"gemma4","tie_word_embeddings":true,"audio_config":{"model_type":"gemma4_audio","hidden_size":1024,"num_hidden_layers":12,"num_attention_heads":8,"conv_kernel_size":5,"subsampling_conv_channels":[128,32],"output_proj_dims":1536},"vision_config":{"model_type":"gemma4_vision","hidden_size":768,"intermediate_size":3072,"num_hidden_layers":16,"num_attention_heads":12,"num_key_value_heads":12,"head_dim":64,"patch_size":16,"position_embedding_size":10240,"use_clipped_linears":true},"text_config":{"model_type":"gemma4_text","vocab_size":262144,"hidden_size":1536,"intermediate_size":6144,"num_hidden_layers":35,"num_attention_heads":8,"num_key_value_heads":1,"head_dim":256,"global_head_dim":512,"num_kv_shared_layers":20,"use_double_wide_mlp":true,"hidden_size_per_layer_input":256,"vocab_size_per_layer_input":262144,"sliding_window":512,"layer_types":["sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","full_attention"]}}`,
		5_123_178_979 - 16*(2*1536*256+256) - 4*(2*1536*512+512) - 35 - 4*(16*7+12*10)},
}

// TestHub checks that parameters agree with the hub's counts, also for parts other than the language part, and
// for the part of a file that links contain.
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
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%s: passed on as %s it reads as %+v (%v), want %+v", name, m.Config, again, err, m)
		}
	}
}

// TestNotes checks that notes name what is not understood of a model and what its file leaves out.
func TestNotes(t *testing.T) {
	for _, c := range []struct{ config, want string }{
		{`{"model_type":"new","text_config":{"model_type":"llama"},"vision_config":{"model_type":"clip_vision_model"}}`, `text_config leaves out hidden_size, intermediate_size, num_attention_heads, num_hidden_layers, vocab_size: they are those of the class of "llama".`},
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

// What special blocks of two families keep agrees with a sum worked out by hand: OLMo's LayerNorms have no
// weights and widen their input to 4 bytes; GPT-Neo scores queries and keys in 4 bytes.
func TestKeptByHand(t *testing.T) {
	const h, a, d, f, S = 32, 4, 8, 48, 64
	for kind, want := range map[string]int64{
		"olmo":    2*(4*h+8+2*h) + 4*2*a*d + 4*a + 8*f,
		"gpt_neo": 2*(2*h+8+2*h) + 4*2*h + 2*h + (4+2)*a*S + 2*h + 8*f + 2*f,
	} {
		m, err := family.Read(smallConfig(kind).with(object{"num_key_value_heads": a}))
		if err != nil {
			t.Fatal(err)
		}
		s := llm.Setup{Model: m.Model, Work: llm.Work{Batch: 1, Seq: S}}
		llm.FindProgram("hf").Apply(&s)
		s.Weight, s.Grad, s.Attention = 2, 2, llm.AttentionSDPA
		if m.OnlyEager {
			s.Attention = llm.AttentionEager
		}
		kept, err := s.Kept()
		if err != nil || kept.Blocks[len(kept.Blocks)-1][1] != want*S {
			t.Errorf("%s: the last block keeps %v (%v), want %d", kind, kept.Blocks, err, want*S)
		}
	}
}
