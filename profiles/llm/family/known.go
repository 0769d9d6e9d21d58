package family

import "memtide/profiles/llm"

// diffusers are those of package ask, by what their config.json says of the blocks.
var diffusers = map[string]string{
	"flux1-dev": `{"_class_name": "FluxTransformer2DModel", "num_layers": 19, "num_single_layers": 38, "num_attention_heads": 24, "attention_head_dim": 128,
		"in_channels": 64, "joint_attention_dim": 4096, "pooled_projection_dim": 768, "guidance_embeds": true}`,
	"hunyuanvideo": `{"_class_name": "HunyuanVideoTransformer3DModel", "num_layers": 20, "num_single_layers": 40, "num_attention_heads": 24, "attention_head_dim": 128,
		"in_channels": 16, "text_embed_dim": 4096, "pooled_projection_dim": 768, "guidance_embeds": true}`,
	"qwen-image": `{"_class_name": "QwenImageTransformer2DModel", "num_layers": 60, "num_attention_heads": 24, "attention_head_dim": 128,
		"in_channels": 64, "out_channels": 16, "joint_attention_dim": 3584}`,
	"sd-1.5": `{"_class_name": "UNet2DConditionModel", "in_channels": 4, "out_channels": 4, "block_out_channels": [320, 640, 1280, 1280], "layers_per_block": 2,
		"down_block_types": ["CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"],
		"up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"], "attention_head_dim": 8, "cross_attention_dim": 768}`,
	"sdxl-base-1.0": `{"_class_name": "UNet2DConditionModel", "in_channels": 4, "out_channels": 4, "block_out_channels": [320, 640, 1280], "layers_per_block": 2,
		"down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"], "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
		"attention_head_dim": [5, 10, 20], "transformer_layers_per_block": [1, 2, 10], "use_linear_projection": true, "cross_attention_dim": 2048,
		"addition_embed_type": "text_time", "projection_class_embeddings_input_dim": 2816}`,
	"wan2.1-1.3b": `{"_class_name": "WanTransformer3DModel", "num_layers": 30, "num_attention_heads": 12, "attention_head_dim": 128, "ffn_dim": 8960,
		"in_channels": 16, "text_dim": 4096, "patch_size": [1, 2, 2]}`,
	"wan2.1-14b": `{"_class_name": "WanTransformer3DModel", "num_layers": 40, "num_attention_heads": 40, "attention_head_dim": 128, "ffn_dim": 13824,
		"in_channels": 16, "text_dim": 4096, "patch_size": [1, 2, 2]}`,
}

// Diffuser returns the diffusion transformer of a name, or nil if it is not known.
func Diffuser(name string) *llm.Model {
	m, err := Read([]byte(diffusers[name]))
	if err != nil {
		return nil
	}
	m.Name = name
	return m.Model
}
