package family_test

import (
	"maps"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
)

// TestNewerKeep checks what blocks of newer networks and of reference pictures keep against diffusers' own classes
// (main of 2026-08-22, of few layers), run on PyTorch 1.13's meta device with attention as the flash kernel keeps it. The
// first block also has the text where no product has made it.
func TestNewerKeep(t *testing.T) {
	one, two := engine.Args{"references": "1"}, engine.Args{"references": "2"}
	video := engine.Args{"frames": "17"}
	qwen := func(still bool) object {
		return object{"_class_name": "QwenImageTransformer2DModel", "num_layers": 3, "zero_cond_t": still}
	}
	for _, c := range []struct {
		name   string
		config object
		args   engine.Args
		want   []int64 // by block
	}{
		{"Qwen-Image", qwen(false), nil, []int64{223_328_256, 220_700_672, 220_700_672}},
		{"Qwen-Image with a reference", qwen(false), one, []int64{400_324_608, 397_172_736, 397_172_736}},
		{"Qwen-Image-Edit 2511", qwen(true), nil, []int64{248_463_360, 245_829_632, 245_829_632}},
		{"Qwen-Image-Edit 2511 with a reference", qwen(true), one, []int64{450_631_680, 447_473_664, 447_473_664}},
		{"two of it with two references", qwen(true), engine.Args{"references": "2", "batch": "2"},
			[]int64{1_342_824_448, 1_339_129_856, 1_339_129_856}},
		{"Flux.1 Kontext with a reference", object{"_class_name": "FluxTransformer2DModel", "num_layers": 2,
			"num_single_layers": 2, "guidance_embeds": true}, one,
			[]int64{412_461_056, 409_833_472, 362_547_200, 362_547_200}},
		{"FLUX.2 with two references", object{"_class_name": "Flux2Transformer2DModel", "num_layers": 2,
			"num_single_layers": 2}, two, []int64{1_327_194_112, 1_323_376_640, 1_279_307_776, 1_279_270_912}},
		{"Wan 2.2 5B", object{"_class_name": "WanTransformer3DModel", "num_layers": 3, "num_attention_heads": 24,
			"in_channels": 48, "out_channels": 48, "ffn_dim": 14336}, video,
			[]int64{337_140_736, 333_339_648, 333_339_648}},
		{"ChronoEdit", object{"_class_name": "ChronoEditTransformer3DModel", "num_layers": 3, "in_channels": 36,
			"image_dim": 1280, "added_kv_proj_dim": 5120}, video,
			[]int64{2_065_984_516, 2_055_488_516, 2_055_488_516}},
		{"LTX-2.3", newLTX, engine.Args{"frames": "49"}, []int64{1_015_666_616 + 1024*(4096+2048)*2, 969_562_040}},
		{"LTX-2.5", newerLTX, engine.Args{"frames": "49"}, []int64{1_015_666_616 + 1024*(4096+2048)*2, 969_562_040}},
	} {
		got, _ := keptOf(t, c.config, c.args)
		if n := len(c.want); len(got) < n || !slices.Equal(got[:n], c.want) {
			t.Errorf("%s: blocks keep %v bytes, want %v", c.name, got, c.want)
		}
	}
}

// TestAdaptedKeep is the same with adapters of rank 16 on attention's products, in bf16: convolutions keep their input,
// and of what comes after the blocks there are the last norm and the loss.
func TestAdaptedKeep(t *testing.T) {
	edit := object{"_class_name": "QwenImageTransformer2DModel", "num_layers": 3, "zero_cond_t": true}
	for _, c := range []struct {
		name    string
		config  object
		args    engine.Args
		second  int64 // bytes of the second block, which does not have what blocks share
		outside int64
	}{
		{"Qwen-Image-Edit 2511", edit, nil, 159_461_376, 6_567_936 + 4*1024*64},
		{"Flux", object{"_class_name": "FluxTransformer2DModel", "num_layers": 2, "num_single_layers": 2,
			"guidance_embeds": true}, nil, 142_319_616, 9_713_664 + 4*1024*64},
		{"FLUX.2", object{"_class_name": "Flux2Transformer2DModel", "num_layers": 2, "num_single_layers": 2}, nil,
			378_642_432, 19_419_136 + 4*1024*128},
		{"Wan", object{"_class_name": "WanTransformer3DModel", "num_layers": 3}, engine.Args{"frames": "17"},
			1_214_150_656, 106_219_520 + 4*5*64*64*16},
		{"LTX-2.3", newLTX, engine.Args{"frames": "17"}, 349_594_936, 7_284_720 + 4*(3*256+126)*128},
		{"Sana", object{"_class_name": "SanaTransformer2DModel"}, nil, 46_908_928, 1_186_176 + 4*32*16*16},
	} {
		args := engine.Args{"lora": "16", "adapters": "bf16", "targets": "attention"}
		maps.Copy(args, c.args)
		got, outside := keptOf(t, c.config, args)
		if got[1] != c.second || outside != c.outside {
			t.Errorf("%s: the second block keeps %d bytes, and %d are kept outside; want %d and %d", c.name, got[1],
				outside, c.second, c.outside)
		}
	}
}

// keptOf returns what each block of a network keeps of a picture of 512 pixels in bf16, and what is kept outside.
func keptOf(t *testing.T, config object, more engine.Args) (blocks []int64, outside int64) {
	t.Helper()
	m, err := family.Read(config.with(nil))
	if err != nil {
		t.Fatal(err)
	}
	args := engine.Args{"height": "512", "states": "bf16", "attention": "sdpa"}
	maps.Copy(args, more)
	a, err := llm.New(m.Model, args)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := a.Setup.Kept()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range kept.Blocks {
		blocks = append(blocks, slices.Repeat([]int64{b[1]}, int(b[0]))...)
	}
	return blocks, int64(kept.Outside)
}
