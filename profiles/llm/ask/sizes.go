package ask

import (
	"fmt"
	"slices"
)

// Size is a number of a config.json that says what a model is, and what it is at most:
// above that of any published model, and so low that no product of sizes overflows before
// it is compared with a limit of its own.
type Size struct {
	Keys []string // its names in the files of all families, the usual one first
	Most int64
}

// Most of what networks are built of.
const (
	mostLayers  = 1 << 10 // the longest published ones have 126
	mostWidth   = 1 << 20 // numbers of a token; the widest feed-forward nets have some 50,000
	mostHeads   = 1 << 14 // and numbers of a head
	mostWords   = 1 << 20 // XLM-V has 901,629, Gemma 262,144
	mostExperts = 1 << 14
	mostTokens  = 1 << 26
)

// sizes are all of them.
var sizes = []Size{
	{[]string{"num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers", "encoder_layers",
		"decoder_layers"}, mostLayers},
	{[]string{"hidden_size", "n_embd", "d_model", "dim", "n_embed"}, mostWidth},
	{[]string{"num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads",
		"decoder_attention_heads"}, mostHeads},
	{[]string{"num_key_value_heads", "num_kv_heads", "n_kv_heads"}, mostHeads},
	{[]string{"head_dim", "d_kv", "num_cross_attention_heads", "cross_attention_head_dim"}, mostHeads},
	{[]string{"intermediate_size", "n_inner", "ffn_dim", "d_ff", "encoder_ffn_dim", "decoder_ffn_dim",
		"hidden_dim", "ffn_hidden_size", "alignment_intermediate_size", "word_embed_proj_dim"}, mostWidth},
	{[]string{"expansion_ratio"}, 1 << 6},
	{[]string{"vocab_size", "padded_vocab_size"}, mostWords},
	{[]string{"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"}, mostTokens},
	{[]string{"sliding_window"}, mostTokens},
	{[]string{"num_experts", "num_local_experts", "n_routed_experts", "num_routed_experts", "moe_num_experts"},
		mostExperts},
	{[]string{"num_experts_per_tok", "moe_k"}, mostExperts},
	{[]string{"moe_intermediate_size", "shared_expert_intermediate_size"}, mostWidth},
	{[]string{"n_group", "topk_group", "moe_num_shared_experts"}, mostExperts},
	{[]string{"sliding_window_pattern", "no_rope_layer_interval", "decoder_sparse_step", "moe_layer_start_index",
		"moe_layer_interval"}, mostLayers},
	{[]string{"rotary_dim", "kv_n_heads"}, mostHeads},
	{[]string{"attention_chunk_size", "local_attention", "mamba_chunk_size", "chunk_size"}, mostTokens},
	{[]string{"intermediate_size_mlp"}, mostWidth},
	{[]string{"interleave_moe_layer_step", "global_attn_every_n_layers"}, mostLayers},
	{[]string{"linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim"},
		mostHeads},
	{[]string{"mamba_num_heads", "mamba_head_dim", "mamba_n_heads", "mamba_d_head", "ssm_state_size", "mamba_d_state",
		"state_size"}, mostHeads},
	{[]string{"mamba_expand", "expand"}, 1 << 6},
	{[]string{"time_step_rank", "mamba_dt_rank", "lru_width", "index_topk"}, mostWidth},
	{[]string{"attn_layer_period", "attn_layer_offset", "expert_layer_period", "expert_layer_offset", "conv1d_width"},
		mostLayers},
	{[]string{"attention_window_size"}, mostTokens},
	{[]string{"hidden_size_per_layer_input", "laurel_rank"}, mostWidth},
	{[]string{"vocab_size_per_layer_input"}, mostWords},
	{[]string{"num_kv_shared_layers", "altup_num_inputs"}, mostLayers},
	{[]string{"global_head_dim", "num_global_key_value_heads"}, mostHeads},
	{[]string{"top_k_experts"}, mostExperts},
	{[]string{"relative_attention_num_buckets", "num_mel_bins", "num_labels"}, mostWords},
	{[]string{"max_source_positions", "max_target_positions"}, mostTokens},
	{[]string{"projection_dim", "projection_size"}, mostWidth},
	{[]string{"joint_attention_dim", "pooled_projection_dim", "caption_projection_dim", "text_embed_dim", "text_dim",
		"freq_dim", "image_dim", "added_kv_proj_dim", "caption_channels", "cross_attention_dim",
		"timestep_guidance_channels", "time_embed_dim", "ofs_embed_dim", "cap_feat_dim"}, mostWidth},
	{[]string{"out_channels", "approximator_num_channels"}, mostWidth},
	{[]string{"num_single_layers", "num_refiner_layers", "n_refiner_layers", "approximator_layers", "patch_size_t"},
		mostLayers},
	{[]string{"approximator_hidden_dim"}, mostWidth},
	{[]string{"pos_embed_seq_len", "max_text_seq_length"}, mostTokens},
	{[]string{"conv_kernel_size", "num_mem_blocks"}, mostLayers},
	{[]string{"attention_head_dim", "n_mamba_heads", "mamba_ngroups"}, mostHeads},
	{[]string{"attention_hidden_size", "adapter_rank", "mamba_headdim"}, mostWidth},
	{[]string{"embedding_size"}, mostWidth},
	{[]string{"hc_mult", "hc_sinkhorn_iters"}, 1 << 7},
	{[]string{"o_groups", "o_lora_rank"}, mostHeads},
	{[]string{"compressed_sparse_attention", "heavily_compressed_attention"}, mostTokens},
	{[]string{"index_n_heads", "index_head_dim"}, mostHeads},
	{[]string{"n_groups", "mamba_n_groups", "linear_conv_kernel_dim", "conv_kernel", "mamba_d_conv", "conv_L_cache",
		"full_attention_interval"}, mostLayers},
	{[]string{"moe_shared_expert_intermediate_size", "shared_intermediate_size", "block_multiple_of"}, mostWidth},
	{[]string{"type_vocab_size"}, mostLayers},
	{[]string{"depth", "mlp_ratio"}, mostLayers}, // of towers
	{[]string{"embed_dim", "out_hidden_size", "num_position_embeddings", "position_embedding_size",
		"output_proj_dims"}, mostWidth},
	{[]string{"patch_size", "temporal_patch_size", "spatial_merge_size", "in_channels", "num_channels",
		"in_chans", "scale_factor"}, mostLayers},
	{[]string{"image_size"}, 1 << 14},
	{[]string{"n_shared_experts"}, mostLayers},
	{[]string{"first_k_dense_replace"}, mostLayers},
	{[]string{"q_lora_rank"}, mostWidth},
	{[]string{"kv_lora_rank"}, mostWidth},
	{[]string{"qk_nope_head_dim"}, mostHeads},
	{[]string{"qk_rope_head_dim"}, mostHeads},
	{[]string{"v_head_dim"}, mostHeads},
}

// SizeOf returns the size that a key of a config.json gives; it panics if there is none, since
// who reads a key has to have said here what it may be.
func SizeOf(key string) *Size {
	for i := range sizes {
		if slices.Contains(sizes[i].Keys, key) {
			return &sizes[i]
		}
	}
	panic("ask: no range is known for " + key)
}

// CheckSize refuses what a key cannot be: less than least, or more than its size is at most.
func CheckSize(key string, n, least int64) error {
	if most := SizeOf(key).Most; n < least || n > most {
		return fmt.Errorf("%s is %d; want %d to %d: correct it in the config.json", key, n, least, most)
	}
	return nil
}
