package family

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles/llm"
)

// TestSharedSequences checks what a rank of two that share sequences keeps of blocks as they are written: what a rank
// keeps of sequences half as long, and in a diffusion transformer attention's result twice, with all heads of half of
// the latents beside all of the text, unless that was copied before. It checks that a step takes longer, for the
// attention to the other half.
func TestSharedSequences(t *testing.T) {
	text := func(whole, half string) [2]engine.Args { return [2]engine.Args{{"seq": whole}, {"seq": half}} }
	side := func(height string) [2]engine.Args {
		return [2]engine.Args{{"height": height, "width": "1024"}, {"height": height, "width": "512"}}
	}
	for _, c := range []struct {
		model string
		sizes [2]engine.Args
		more  []int64 // bytes of each run of equal blocks, more than of half of the sequence
	}{
		{"gemma3-4b", text("8192", "4096"), make([]int64, 10)}, {"glm4.5-air", text("8192", "4096"), make([]int64, 3)},
		{"gpt-oss-20b", text("4096", "2048"), make([]int64, 3)}, {"olmo2-7b", text("4096", "2048"), make([]int64, 3)},
		{"llama3-8b", text("4096", "2048"), make([]int64, 3)}, {"cogvideox-5b", side("512"), make([]int64, 3)},
		{"flux1-dev", side("1024"), []int64{(2048 + 512) * 3072 * 2, (2048 + 512) * 3072 * 2, 0}},
		{"sd-3.5-medium", side("1024"), []int64{2048 * 1536 * 2, 2048 * 1536 * 2, 0, 0}}, // of latents that attend alone
		{"qwen-image", side("1024"), []int64{(2048 + 256) * 3072 * 2, (2048 + 256) * 3072 * 2}},
		{"wan2.1-1.3b", side("512"), []int64{1024 * 1536 * 2, 1024 * 1536 * 2}},
		// and in its single blocks the mask's other half
		{"hunyuanvideo", side("512"), []int64{(1024+256)*3072*2 + 2048, (1024+256)*3072*2 + 2048, 2048}},
	} {
		ask := func(args, size engine.Args) llm.Ask {
			args = maps.Clone(args)
			maps.Copy(args, size)
			a, err := llm.New(Lookup(c.model), args)
			if err != nil {
				t.Fatalf("%s %v: %v", c.model, args, err)
			}
			return a
		}
		kept := func(a llm.Ask) [][2]int64 {
			k, err := a.Setup.Kept()
			if err != nil {
				t.Fatalf("%s: %v", c.model, err)
			}
			return k.Blocks
		}
		shared, half := engine.Args{"gpus": "2", "cp": "2"}, engine.Args{"gpus": "2"}
		got, want := kept(ask(shared, c.sizes[0])), kept(ask(half, c.sizes[1]))
		for i := range want {
			want[i][1] += c.more[i]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: two that share %v keep %v of blocks, want %v", c.model, c.sizes[0], got, want)
		}
		shared["lora"], half["lora"], shared["shard"], half["shard"] = "8", "8", "none", "none"
		time := func(a llm.Ask) time.Duration {
			e, err := a.Estimate()
			if err != nil {
				t.Fatalf("%s: %v", c.model, err)
			}
			return e.Time
		}
		if long, short := time(ask(shared, c.sizes[0])), time(ask(half, c.sizes[1])); long <= short {
			t.Errorf("%s: a step on half of %v takes %v, one on %v %v", c.model, c.sizes[0], long, c.sizes[1], short)
		}
	}
}

// TestUnsharedSequences checks the refusal of ranks that share sequences where attention has a mask, where a block has
// none, and where tokens beside a token are read.
func TestUnsharedSequences(t *testing.T) {
	for _, c := range []struct {
		model string
		args  engine.Args
		want  string
	}{
		{"gemma3-4b", engine.Args{"attention": "sdpa"}, "as Transformers writes them, not with context parallel ranks"},
		{"qwen3-next-80b-a3b", nil, "as Transformers writes them, not with context parallel ranks"},
		{"sdxl-base-1.0", nil, "as diffusers writes them, not with context parallel ranks"},
		{"ltx-2", nil, "as diffusers writes them, not with context parallel ranks"},
		{"llama3-8b", engine.Args{"ep": "2", "cp": "1"}, "llama3-8b has no experts that ranks could share; want -ep 1"},
	} {
		args := engine.Args{"gpus": "2", "cp": "2"}
		maps.Copy(args, c.args)
		a, err := llm.New(Lookup(c.model), args)
		if err == nil {
			_, err = a.Setup.Kept()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v; want an error with %q", c.model, args, err, c.want)
		}
	}
}

// TestOneGraph checks the refusal of one graph of a model whose decoder reads an encoder, of one whose blocks differ in
// their tokens, and of one that is too deep.
func TestOneGraph(t *testing.T) {
	r, err := Read([]byte(`{"model_type":"umt5","d_model":32,"d_ff":64,"d_kv":8,"num_heads":4,"num_layers":2,"num_decoder_layers":1,"vocab_size":64,"feed_forward_proj":"gated-gelu"}`))
	if err != nil {
		t.Fatal(err)
	}
	deep := *Lookup("gpt2")
	deep.Layers = 257
	for m, want := range map[*llm.Model]string{
		r.Model:           "read an encoder or differ in width or tokens are not compiled as one graph",
		Lookup("z-image"): "read an encoder or differ in width or tokens are not compiled as one graph",
		&deep:             "one graph of more than 256 blocks"} {
		a, err := llm.New(m, engine.Args{"compile": "yes", "ckpt": "budget", "graph": "model"})
		if err == nil {
			_, err = a.Estimate()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want a refusal with %q", m.Name, err, want)
		}
	}
}
