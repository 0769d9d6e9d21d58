package ask

import (
	"fmt"
	"slices"
)

// The largest sizes of a network. They are above those of any published model, and low enough that no product of sizes
// overflows before it is compared with its own limit.
const (
	mostLayers  = 1 << 10 // published models have up to 126
	mostWidth   = 1 << 20 // numbers per token; the widest feed-forward nets have about 50,000
	mostHeads   = 1 << 14 // heads, and numbers per head
	mostWords   = 1 << 20 // XLM-V has 901,629, Gemma 262,144
	mostExperts = 1 << 14
	mostTokens  = 1 << 26
)

// sizes are the keys of a config.json that are sizes of a model, grouped by their largest value.
var sizes = []struct {
	most int64
	keys []string
}{
	{mostLayers, []string{
		"num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers", "encoder_layers",
		"decoder_layers", "sliding_window_pattern", "no_rope_layer_interval", "decoder_sparse_step",
		"moe_layer_start_index", "moe_layer_interval", "interleave_moe_layer_step", "global_attn_every_n_layers",
		"attn_layer_period", "attn_layer_offset", "expert_layer_period", "expert_layer_offset", "conv1d_width",
		"num_kv_shared_layers", "altup_num_inputs", "num_single_layers", "num_refiner_layers", "n_refiner_layers",
		"approximator_layers", "patch_size_t", "conv_kernel_size", "num_mem_blocks", "n_groups", "mamba_n_groups",
		"linear_conv_kernel_dim", "conv_kernel", "mamba_d_conv", "conv_L_cache", "full_attention_interval",
		"type_vocab_size", "depth", "mlp_ratio", "patch_size", "temporal_patch_size", "spatial_merge_size",
		"in_channels", "num_channels", "n_shared_experts", "num_shared_experts",
		"first_k_dense_replace", "num_dense_layers", "in_chans",
		"scale_factor",
	}},
	{mostWidth, []string{
		"hidden_size", "n_embd", "d_model", "n_embed", "dim", "intermediate_size", "n_inner", "ffn_dim", "d_ff",
		"encoder_ffn_dim", "decoder_ffn_dim", "moe_intermediate_size", "shared_expert_intermediate_size",
		"intermediate_size_mlp", "time_step_rank", "mamba_dt_rank", "lru_width", "index_topk",
		"hidden_size_per_layer_input", "laurel_rank", "projection_dim", "projection_size", "joint_attention_dim",
		"pooled_projection_dim", "caption_projection_dim", "text_embed_dim", "text_dim", "freq_dim", "image_dim",
		"added_kv_proj_dim", "caption_channels", "cross_attention_dim", "timestep_guidance_channels",
		"time_embed_dim", "ofs_embed_dim", "cap_feat_dim", "out_channels", "approximator_num_channels",
		"approximator_hidden_dim", "attention_hidden_size", "adapter_rank", "mamba_headdim", "embedding_size",
		"moe_shared_expert_intermediate_size", "shared_intermediate_size", "block_multiple_of", "embed_dim",
		"out_hidden_size", "num_position_embeddings", "q_lora_rank", "kv_lora_rank", "hidden_dim", "ffn_hidden_size",
		"word_embed_proj_dim", "position_embedding_size", "output_proj_dims", "projector_input_dim",
		"projector_output_dim",
	}},
	{mostHeads, []string{
		"num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads",
		"decoder_attention_heads", "num_key_value_heads", "num_kv_heads", "n_kv_heads", "head_dim", "d_kv",
		"num_cross_attention_heads", "cross_attention_head_dim", "rotary_dim", "kv_n_heads", "linear_num_key_heads",
		"linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim", "mamba_num_heads",
		"mamba_head_dim", "mamba_n_heads", "mamba_d_head", "ssm_state_size", "mamba_d_state", "state_size",
		"global_head_dim", "num_global_key_value_heads", "attention_head_dim", "n_mamba_heads", "mamba_ngroups",
		"o_groups", "o_lora_rank", "index_n_heads", "index_head_dim", "qk_nope_head_dim", "qk_rope_head_dim",
		"v_head_dim", "kv_channels", "multi_query_group_num",
	}},
	{1 << 6, []string{
		"expansion_ratio", "mamba_expand", "expand",
	}},
	{mostWords, []string{
		"vocab_size", "padded_vocab_size", "vocab_size_per_layer_input", "relative_attention_num_buckets",
		"num_mel_bins", "num_labels",
	}},
	{mostTokens, []string{
		"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "sliding_window", "attention_chunk_size",
		"local_attention", "mamba_chunk_size", "chunk_size", "attention_window_size", "max_source_positions",
		"max_target_positions", "pos_embed_seq_len", "max_text_seq_length", "compressed_sparse_attention",
		"heavily_compressed_attention",
	}},
	{mostExperts, []string{
		"num_experts", "num_local_experts", "n_routed_experts", "num_routed_experts", "moe_num_experts",
		"num_experts_per_tok", "moe_topk", "moe_k", "n_group", "topk_group", "moe_num_shared_experts", "top_k_experts",
	}},
	{1 << 7, []string{
		"hc_mult", "hc_sinkhorn_iters",
	}},
	{1 << 14, []string{
		"image_size",
	}},
}

// most returns the largest value of a key of a config.json. It panics for an unknown key: every key that is read
// must be in sizes.
func most(key string) int64 {
	for _, s := range sizes {
		if slices.Contains(s.keys, key) {
			return s.most
		}
	}
	panic("ask: no range is known for " + key)
}

// CheckSize returns an error if n, the value of key, is less than least or more than the largest value of the
// key.
func CheckSize(key string, n, least int64) error {
	if most := most(key); n < least || n > most {
		return fmt.Errorf("%s is %d; want %d to %d: correct it in the config.json", key, n, least, most)
	}
	return nil
}
