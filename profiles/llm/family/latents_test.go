package family_test

import (
	"strconv"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
	"memtide/profiles/llm/family"
)

// config returns the model of the measured row called name.
func config(t *testing.T, name string) *llm.Model {
	t.Helper()
	for _, r := range measured(t) {
		if r.Name == name {
			m, err := family.Read(r.Config)
			if err != nil {
				t.Fatal(err)
			}
			return m.Model
		}
	}
	t.Fatalf("there is no row %q", name)
	return nil
}

// TestTokensOfFrames checks that frames and sides give the number of tokens that the networks' own code makes of
// them.
func TestTokensOfFrames(t *testing.T) {
	for _, c := range []struct {
		name                  string
		frames, height, width string
		want                  int64
	}{
		{"chroma-3layers", "", "512", "", 1024}, {"flux1-dev-3layers", "", "1024", "", 4096},
		{"flux2-3layers", "", "1024", "", 4096},
		{"cogvideox-2b-3layers", "9", "480", "720", 4050}, {"cogvideox-2b-3layers", "49", "480", "720", 17550},
		{"cogvideox-1.5-5b-3layers", "81", "768", "1360", 44880}, {"cogvideox-1.5-5b-3layers", "85", "480", "720", 14850},
		{"cogvideox-1.5-5b-3layers", "", "480", "720", 1350},
		{"hunyuan-video-3layers", "17", "512", "", 5120}, {"hunyuan-video-3layers", "33", "544", "960", 18360},
		{"hunyuan-video-1.5-3layers", "25", "480", "832", 10920},
		{"ltx-2-3layers", "121", "512", "704", 5632},
		{"ltx-video-3layers", "25", "512", "704", 1408}, {"ltx-video-3layers", "121", "512", "704", 5632},
		{"pixart-sigma-3layers", "", "1024", "", 4096}, {"qwen-image-3layers", "", "1024", "", 4096},
		{"sana-1.6b-3layers", "", "512", "", 256},
		{"sd3-defaults", "", "512", "", 1024}, {"wan-14b", "17", "480", "832", 7800},
		{"wan-1.3b-3layers", "81", "480", "832", 32760},
		{"wan-i2v-14b-3layers", "81", "512", "", 21504}, {"z-image-3layers", "", "512", "512", 1024},
	} {
		args := engine.Args{"height": c.height}
		for name, value := range map[string]string{"frames": c.frames, "width": c.width} {
			if value != "" {
				args[name] = value
			}
		}
		a, err := llm.New(config(t, c.name), args)
		if err != nil || a.Setup.Seq != c.want {
			t.Errorf("%s of %v: %d tokens (%v), want %d", c.name, args, a.Setup.Seq, err, c.want)
		}
	}
}

// A refusal of a size that a network does not make names sizes that it makes.
func TestSizesRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		args engine.Args
		want string
	}{
		{"apertus-defaults", engine.Args{"height": "512"}, "makes no pictures"},
		{"apertus-defaults", engine.Args{"frames": "5"}, "want seq"},
		{"wan-14b", engine.Args{"frames": "81"}, "-side 480x832"},
		{"wan-14b", engine.Args{"frames": "80", "height": "512"}, "want 77 or 81"},
		{"wan-14b", engine.Args{"height": "500"}, "want 496 or 512"},
		{"wan-14b", engine.Args{"height": "8"}, "want 16 or 32"},
		{"wan-14b", engine.Args{"height": "512", "seq": "1024"}, "want one of them"},
		{"flux1-dev-3layers", engine.Args{"frames": "5", "height": "512"}, "makes pictures, want 1"},
	} {
		if _, err := llm.New(config(t, c.name), c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %v: error %v, want one with %q", c.name, c.args, err, c.want)
		}
	}
}

// TestWithin checks that the size that fits is stated as frames of the chosen sides, and for a picture as the
// sides of a square.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   engine.Args
		tokens int64
		want   string
	}{
		{"wan-14b", engine.Args{"frames": "81", "height": "480", "width": "832"}, 48128, "117 frames of 480 x 832"},
		{"wan-14b", engine.Args{"frames": "81", "height": "480", "width": "832"}, 1024, ""},
		{"cogvideox-1.5-5b-3layers", engine.Args{"frames": "81", "height": "480", "width": "720"}, 12150,
			"69 frames of 480 x 720"},
		{"flux1-dev-3layers", engine.Args{"height": "512"}, 5000, "1120 x 1120 pixels"},
		{"flux1-dev-3layers", nil, 5000, ""},
	} {
		a, err := llm.New(config(t, c.name), c.args)
		if got := a.Setup.Within(c.tokens); err != nil || got != c.want {
			t.Errorf("%s of %v within %d tokens: %q (%v), want %q", c.name, c.args, c.tokens, got, err, c.want)
		}
	}
}

// TestStreamsUnderAutocast checks how wide the stream of a diffusion network is that trains with weights in fp32
// under autocast. Products return 16 bits, and so are sums of their results. Tables of scales and norms after a part
// are in 32 bits, and so are sums with these, but for Wan's, which its code narrows.
func TestStreamsUnderAutocast(t *testing.T) {
	for _, c := range []struct {
		name string
		want int64 // times the bytes of a stream in 16 bits
	}{
		{"flux1-dev-3layers", 1}, {"flux2-3layers", 1}, {"chroma-3layers", 1}, {"qwen-image-3layers", 1},
		{"sd3-defaults", 1}, {"hunyuan-video-3layers", 1}, {"cogvideox-2b-3layers", 1}, {"wan-1.3b-3layers", 1},
		{"hunyuan-video-1.5-3layers", 1}, {"ltx-2-3layers", 2}, {"ltx-video-3layers", 2}, {"pixart-sigma-3layers", 2},
		{"sana-1.6b-3layers", 2}, {"z-image-3layers", 2},
	} {
		last := func(states string) int64 {
			a, err := llm.New(config(t, c.name), engine.Args{"height": "512", "ckpt": "full", "attention": "sdpa",
				"autocast": "yes", "states": states})
			if err != nil {
				t.Fatalf("%s in %s: %v", c.name, states, err)
			}
			kept, err := a.Setup.Kept()
			if err != nil {
				t.Fatalf("%s in %s: %v", c.name, states, err)
			}
			return kept.Blocks[len(kept.Blocks)-1][1]
		}
		if got, narrow := last("fp32"), last("bf16"); got != c.want*narrow {
			t.Errorf("%s: a checkpointed block keeps %d bytes with weights in fp32 and %d in bf16, want %d times as many",
				c.name, got, narrow, c.want)
		}
	}
}

// TestPairs checks what HunyuanVideo 1.5's mask of each pair of tokens costs, which scaled_dot_product_attention gets and
// other kernels do not: 2 bytes of each pair that a block keeps. While it is made there are 2 more, and 4 where its rows
// have to be filled up, which is more than the rest of the last block keeps.
func TestPairs(t *testing.T) {
	for _, c := range []struct {
		side   int64
		filled bool
	}{{976, false}, {1024, true}} {
		var forward, kept [2]int64
		n := (c.side/16)*(c.side/16)*7 + 1985
		for i, attention := range []string{"sdpa", "flash"} {
			a, err := llm.New(config(t, "hunyuan-video-1.5-3layers"), engine.Args{"frames": "25", "attention": attention,
				"height": strconv.FormatInt(c.side, 10), "ckpt": "none"})
			if err != nil {
				t.Fatal(err)
			}
			k, err := a.Setup.Kept()
			if err != nil {
				t.Fatal(err)
			}
			r, err := a.Estimate()
			if err != nil {
				t.Fatal(err)
			}
			kept[i], forward[i] = k.Blocks[len(k.Blocks)-1][1], int64(r.Result.Phases[llm.Forward])
		}
		mask, rows := 2*n*((n+15)/16*16), 4*16*((n+31)/32*32-n)
		if got := kept[0] - kept[1]; got != mask+rows {
			t.Errorf("%d tokens: a block keeps %d bytes more; want %d", n, got, mask+rows)
		}
		if more := forward[0] - forward[1] - 3*(mask+rows); more > 0 != c.filled || more > 4*n*n {
			t.Errorf("%d tokens: the peak of the forward is %d bytes higher beside masks", n, more)
		}
	}
}

// TestTargets counts adapters by their moments, 8 bytes a number. Those of the latents are as many as trainers tell:
// Flux's of rank 4 in huggingface/blog, flux-qlora.md, and HunyuanVideo's of rank 128 in huggingface/finetrainers#184,
// without eight in what refines its text. Wan's second attention to a picture has none.
func TestTargets(t *testing.T) {
	for _, c := range []struct {
		model, rank, targets string
		want                 int64
	}{
		{"flux1-dev", "4", "latents", 4_669_440}, {"flux1-dev", "4", "attention", 4_669_440 + 19*4*4*2*3072},
		{"hunyuanvideo", "128", "latents", 163_577_856 - 8*128*2*3072},
		{"sd-3.5-medium", "8", "latents", (24 + 13) * 4 * 8 * 2 * 1536},
		{"wan2.1-14b", "8", "latents", 40 * 8 * 8 * 2 * 5120}, {"wan2.1-i2v-14b", "8", "latents", 40 * 8 * 8 * 2 * 5120},
	} {
		args := engine.Args{"height": "512", "lora": c.rank, "targets": c.targets, "kernel": "foreach"}
		of := func(optimizer string) engine.Bytes {
			args["optimizer"] = optimizer
			a, err := llm.New(family.Lookup(c.model), args)
			if err != nil {
				t.Fatal(err)
			}
			return answer(t, a).States
		}
		if got := of("adamw") - of("sgd"); got != engine.Bytes(8*c.want) {
			t.Errorf("%s, %s: %d numbers of adapters; want %d", c.model, c.targets, got/8, c.want)
		}
	}
	a, err := llm.New(family.Lookup("llama3-8b"), engine.Args{"lora": "8", "targets": "latents"})
	if err == nil {
		_, err = a.Estimate()
	}
	if err == nil {
		t.Error("latents of a Llama are answered; want a refusal")
	}
}

// TestReferences checks that a reference picture adds as many tokens as the picture that is made, as a note says, and is
// refused by networks that read none.
func TestReferences(t *testing.T) {
	for _, k := range ask.Diffusers {
		args := engine.Args{"height": "1024"}
		one, err := llm.New(family.Lookup(k.ID), args)
		if err != nil {
			t.Fatal(err)
		}
		if notes := family.Lookup(k.ID).Notes; strings.Contains(strings.Join(notes, " "), "-references") != ask.Edits(k.ID) {
			t.Errorf("%s: notes %q; want -references in them only if it reads some", k.ID, notes)
		}
		args["references"] = "2"
		a, err := llm.New(family.Lookup(k.ID), args)
		switch s := &a.Setup; {
		case !ask.Edits(k.ID):
			if err == nil || !strings.Contains(err.Error(), "reads no reference pictures") {
				t.Errorf("%s with references: %v; want a refusal", k.ID, err)
			}
		case err != nil || s.Seq != 3*one.Setup.Seq || s.Pictured() != "1024 x 1024 pixels and 2 as reference" ||
			s.Within(4*s.Seq) != "2048 x 2048 pixels and 2 as reference":
			t.Errorf("%s: %d tokens of %q, in four times as many %q (%v); want %d, 1024 x 1024 and twice the sides", k.ID,
				s.Seq, s.Pictured(), s.Within(4*s.Seq), err, 3*one.Setup.Seq)
		}
	}
}

// TestZeroTime checks what each block of Qwen-Image-Edit 2511 keeps more of S tokens, whose scales and gates are chosen
// for each token by torch.where [diffusers: transformer_qwenimage.py, _modulate]: two scales and two gates as wide as
// the stream in place of one scale twice and the product of all six, three conditions for each choice, and the time
// of references.
func TestZeroTime(t *testing.T) {
	const h, S = 3072, 2 * 64 * 64
	kept := func(zero bool) int64 {
		m, err := family.Read(object{"_class_name": "QwenImageTransformer2DModel"}.with(object{"zero_cond_t": zero}))
		if err != nil {
			t.Fatal(err)
		}
		a, err := llm.New(m.Model, engine.Args{"height": "1024", "references": "1", "states": "bf16"})
		if err != nil {
			t.Fatal(err)
		}
		k, err := a.Setup.Kept()
		if err != nil {
			t.Fatal(err)
		}
		return k.Blocks[len(k.Blocks)-1][1]
	}
	const want = 2*2*h*(S-1) + 2*2*h*S - 2*6*h + 2*3*S + 2*h
	if got := kept(true) - kept(false); got != want {
		t.Errorf("a block keeps %d bytes more, want %d", got, want)
	}
}
