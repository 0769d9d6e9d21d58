package family_test

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
)

// TestOfClass checks the parameters of configs that leave out keys of their class, that have its older name, or that
// set keys which only some files have. The wanted numbers are those of the modules that the classes of diffusers and
// Transformers build, counted from their code.
func TestOfClass(t *testing.T) {
	const cross, plain = "CrossAttnDownBlock2D", "DownBlock2D"
	for _, c := range []struct {
		name   string
		config object
		want   int64
	}{
		{"Flux", object{"_class_name": "FluxTransformer2DModel"}, 11_891_178_560},
		{"Flux without single layers", object{"_class_name": "FluxTransformer2DModel", "num_layers": 1}, 5_774_215_232},
		{"Chroma", object{"_class_name": "ChromaTransformer2DModel"}, 8_899_983_424},
		{"FLUX.2", object{"_class_name": "Flux2Transformer2DModel"}, 32_223_281_152},
		{"Stable Diffusion 3", object{"_class_name": "SD3Transformer2DModel"}, 856_159_552},
		{"Qwen-Image", object{"_class_name": "QwenImageTransformer2DModel"}, 20_430_401_088},
		{"HunyuanVideo, whose guidance is the default", object{"_class_name": "HunyuanVideoTransformer3DModel"},
			12_821_012_544},
		{"HunyuanVideo 1.5", object{"_class_name": "HunyuanVideo15Transformer3DModel"}, 8_326_608_160},
		{"Wan", object{"_class_name": "WanTransformer3DModel"}, 14_288_491_584},
		{"Wan of a first and a last frame", object{"_class_name": "WanTransformer3DModel", "num_layers": 2,
			"in_channels": 36, "image_dim": 1280, "added_kv_proj_dim": 5120, "pos_embed_seq_len": 514}, 1_049_675_072},
		{"ChronoEdit", object{"_class_name": "ChronoEditTransformer3DModel", "num_layers": 2, "in_channels": 36,
			"image_dim": 1280, "added_kv_proj_dim": 5120}, 1_049_017_152},
		{"CogVideoX", object{"_class_name": "CogVideoXTransformer3DModel"}, 1_693_783_872},
		{"CogVideoX of a picture", object{"_class_name": "CogVideoXTransformer3DModel", "num_layers": 2,
			"num_attention_heads": 48, "in_channels": 32, "use_rotary_positional_embeddings": true,
			"use_learned_positional_embeddings": true}, 282_574_400},
		{"Z-Image", object{"_class_name": "ZImageTransformer2DModel"}, 6_154_908_736},
		{"Sana", object{"_class_name": "SanaTransformer2DModel"}, 1_604_462_752},
		{"LTX-Video", object{"_class_name": "LTXVideoTransformer3DModel"}, 1_923_385_472},
		{"LTX-Video in patches", object{"_class_name": "LTXVideoTransformer3DModel", "num_layers": 2, "patch_size": 2,
			"patch_size_t": 2}, 177_330_304},
		{"LTX-2", object{"_class_name": "LTX2VideoTransformer3DModel", "rope_type": "split"}, 18_876_174_592},
		{"LTX-2.3", newLTX, 18_988_838_144},
		{"LTX-2.5", newerLTX, 18_987_859_200},
		{"PixArt-alpha of 1024 pixels", object{"_class_name": "PixArtTransformer2DModel", "num_layers": 2,
			"caption_channels": 4096, "use_additional_conditions": nil}, 58_704_800},
		{"PixArt-alpha of 512 pixels", object{"_class_name": "PixArtTransformer2DModel", "num_layers": 2,
			"caption_channels": 4096, "sample_size": 64}, 58_211_744},
		{"PixArt-alpha by its older class", object{"_class_name": "Transformer2DModel", "num_layers": 2,
			"attention_head_dim": 72, "attention_bias": true, "norm_type": "ada_norm_single", "sample_size": 128,
			"norm_elementwise_affine": false, "cross_attention_dim": 1152, "in_channels": 4, "out_channels": 8,
			"patch_size": 2, "caption_channels": 4096}, 58_704_800},
		{"a U-Net", object{"_class_name": "UNet2DConditionModel"}, 872_300_484},
		{"a U-Net that reads the scale of guidance", object{"_class_name": "UNet2DConditionModel",
			"cross_attention_dim": 768, "time_cond_proj_dim": 256}, 859_602_884},
		{"a U-Net of two levels", object{"_class_name": "UNet2DConditionModel", "block_out_channels": []int{32, 64},
			"down_block_types": []string{plain, cross}, "up_block_types": []string{"CrossAttnUpBlock2D", "UpBlock2D"},
			"cross_attention_dim": 32, "attention_head_dim": []int{2, 4}}, 1_427_012},
		{"T5", object{"model_type": "t5"}, 60_506_624},
		{"Whisper", object{"model_type": "whisper"}, 37_760_640},
		{"ViT", object{"model_type": "vit"}, 85_800_194},
		{"DeiT", object{"model_type": "deit", "hidden_size": 384, "intermediate_size": 1536, "num_attention_heads": 6},
			21_667_202},
		{"DINOv2 with registers", object{"model_type": "dinov2_with_registers", "image_size": 518, "patch_size": 14},
			86_586_626},
	} {
		checkParams(t, c.name, c.config.with(nil), c.want)
	}
}

var (
	newLTX = object{"_class_name": "LTX2VideoTransformer3DModel", "rope_type": "split", "gated_attn": true,
		"cross_attn_mod": true, "audio_gated_attn": true, "audio_cross_attn_mod": true, "use_prompt_embeddings": false}
	newerLTX = object{"_class_name": "LTX2VideoTransformer3DModel", "rope_type": "split", "gated_attn": true,
		"cross_attn_mod": true, "audio_gated_attn": true, "audio_cross_attn_mod": true, "use_prompt_embeddings": false,
		"ff_bias": false, "use_keyframes_abs_pos_embedding": true}
)

// TestNewLTX checks what a block of LTX-2.3 keeps more than one of LTX-2, of each stream of T tokens of width w that
// trains. Three attentions have gates for 32 heads: a sigmoid, twice that, and their product with the result. A norm is
// scaled before the attention to the text, whose 1,024 tokens are scaled for each block, and whose result has a gate; the
// table of scales has three more.
func TestNewLTX(t *testing.T) {
	kept := func(o object) int64 {
		m, err := family.Read(o.with(nil))
		if err != nil {
			t.Fatal(err)
		}
		a, err := llm.New(m.Model, engine.Args{"frames": "17", "height": "512", "states": "bf16"})
		if err != nil {
			t.Fatal(err)
		}
		k, err := a.Setup.Kept()
		if err != nil {
			t.Fatal(err)
		}
		return k.Blocks[len(k.Blocks)-1][1]
	}
	stream := func(T, w int64) int64 {
		gates := 3*2*2*T*32 + 2*T*(2*w+2048)
		scaled := 2*T*w + 2*w + 2*1024*w
		return gates + scaled + 2*T*w + 2*3*w
	}
	old := object{"_class_name": "LTX2VideoTransformer3DModel", "rope_type": "split", "use_prompt_embeddings": false}
	want := stream(3*16*16, 4096) + stream(126, 2048)
	if got := kept(newLTX) - kept(old); got != want {
		t.Errorf("a block keeps %d bytes more, want %d (%+d)", got, want, got-want)
	}
}

// A refusal names the key that makes the blocks unlike those that are known, and not another key of the class.
func TestKeyOfRefusal(t *testing.T) {
	for _, c := range []struct {
		class, key string
		value      any
	}{
		{"LTXVideoTransformer3DModel", "attention_bias", false}, {"LTXVideoTransformer3DModel", "qk_norm", "rms_norm"},
		{"LTX2VideoTransformer3DModel", "rope_type", "interleaved"},
		{"LTX2VideoTransformer3DModel", "audio_cross_attn_mod", true}, {"LTX2VideoTransformer3DModel", "audio_gated_attn", true},
		{"SanaTransformer2DModel", "qk_norm", "rms_norm_across_heads"}, {"SanaTransformer2DModel", "guidance_embeds", true},
		{"SanaTransformer2DModel", "cross_attention_head_dim", 56}, {"SanaTransformer2DModel", "dropout", 0.1},
		{"PixArtTransformer2DModel", "cross_attention_dim", 576}, {"PixArtTransformer2DModel", "norm_type", "ada_norm_zero"},
		{"Transformer2DModel", "norm_type", "layer_norm"}, {"ZImageTransformer2DModel", "n_kv_heads", 15},
		{"ZImageTransformer2DModel", "siglip_feat_dim", 1152}, {"ZImageTransformer2DModel", "qk_norm", false},
		{"WanTransformer3DModel", "cross_attn_norm", false}, {"CogVideoXTransformer3DModel", "dropout", 0.1},
		{"UNet2DConditionModel", "mid_block_type", nil},
	} {
		_, err := family.Read(object{"_class_name": c.class}.with(object{c.key: c.value}))
		p := profiles.Problems(err)
		if len(p) != 1 || !strings.HasPrefix(p[0].Found, c.key+" is ") || p[0].Remedy == "" {
			t.Errorf("%s with %s of %v: %v; want a refusal of that key with a remedy", c.class, c.key, c.value, err)
		}
	}
	_, err := family.Read(object{"_class_name": "WanTransformer3DModel"}.with(object{"image_dim": 1280}))
	if err == nil || !strings.Contains(err.Error(), "added_kv_proj_dim") {
		t.Errorf("Wan with a picture that no block reads: %v; want a refusal", err)
	}
}

// TestPartsOfClass checks what keys of a class add outside of blocks: what an embedding of a picture's size keeps, a
// table of positions that is no parameter, and further tokens of each block.
func TestPartsOfClass(t *testing.T) {
	read := func(o, more object) *llm.Model {
		m, err := family.Read(o.with(more))
		if err != nil {
			t.Fatal(err)
		}
		return m.Model
	}
	pixart := object{"_class_name": "PixArtTransformer2DModel", "caption_channels": 4096}
	with, without := read(pixart, nil), read(pixart, object{"use_additional_conditions": false})
	if got, want := with.Ends.Each-without.Ends.Each, int64(3*(2*256+2*2*384)); got != want {
		t.Errorf("PixArt-alpha keeps %d bytes for a picture's size, want %d", got, want)
	}
	video := read(object{"_class_name": "CogVideoXTransformer3DModel"}, object{"use_learned_positional_embeddings": true})
	if got, want := video.Ends.Fixed, int64((226+13*45*30)*1920); got != want {
		t.Errorf("CogVideoX has %d numbers of positions, want %d", got, want)
	}
	for kind, want := range map[string]int64{"vit": 1, "deit": 2, "dinov2": 1, "dinov2_with_registers": 5} {
		if got := read(object{"model_type": kind}, nil).At(0).Own.More; got != want {
			t.Errorf("%s has %d tokens beside the patches, want %d", kind, got, want)
		}
	}
}

// TestReplacedFrame checks that a note says which scales of HunyuanVideo are not counted.
func TestReplacedFrame(t *testing.T) {
	m, err := family.Read(object{"_class_name": "HunyuanVideoTransformer3DModel"}.with(object{"image_condition_type": "token_replace"}))
	if err != nil || !strings.Contains(strings.Join(m.Notes, " "), "token_replace") {
		t.Errorf("read with %v; want a note of what is not counted", err)
	}
}
