package family_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
)

// measuredUnets returns the measurements of profiles/torchtest/write_unet.py.
func measuredUnets(t *testing.T) (rows []struct {
	Config                   json.RawMessage
	Bytes, Batch, Side, Rank int64
	Full                     bool
	Parameters, Kept         int64
}) {
	t.Helper()
	text, err := os.ReadFile("testdata/unet.json")
	if err != nil {
		t.Fatal(err)
	}
	file := struct{ Rows any }{&rows}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestUnetKeeps checks that a UNet keeps exactly the bytes that PyTorch keeps of one that is built as diffusers
// builds it. The rows train all weights or adapters, keep everything or checkpoints, and use two types.
func TestUnetKeeps(t *testing.T) {
	for _, r := range measuredUnets(t) {
		m, err := family.Read(r.Config)
		if err != nil {
			t.Fatal(err)
		}
		s := llm.Setup{Model: m.Model}
		llm.FindProgram("hf").Apply(&s)
		s.Batch, s.Height, s.Width = r.Batch, r.Side, r.Side
		s.Seq = r.Side / 8 * (r.Side / 8)
		s.Weight, s.Compute, s.Moments = r.Bytes, r.Bytes, 0
		if r.Rank > 0 {
			s.LoRA = &llm.LoRA{Rank: r.Rank, On: []string{"q", "k", "v", "o"}}
		}
		if r.Full {
			s.Checkpoint = llm.CheckpointFull
		}
		kept, err := s.Kept()
		got := int64(kept.Outside)
		for _, b := range kept.Blocks {
			got += b[0] * b[1]
		}
		if err != nil || got != r.Kept || m.Params() != r.Parameters {
			t.Errorf("%d levels, %d bytes a number, batch %d, rank %d, checkpoints %t: %d bytes are kept and %d parameters (%v), measured %d and %d", m.Latents.Step, r.Bytes, r.Batch, r.Rank, r.Full,
				got, m.Params(), err, r.Kept, r.Parameters)
		}
	}
}

// TestUnetRefused checks that the error for a UNet of another design names the key that sets it.
func TestUnetRefused(t *testing.T) {
	row := string(measuredUnets(t)[0].Config)
	for _, c := range [][3]string{
		{`"layers_per_block": 2`, `"layers_per_block": 0`, "layers_per_block"},
		{`"layers_per_block": 2`, `"layers_per_block": 9000`, "layers_per_block"},
		{`"UpBlock2D"`, `"AttnUpBlock2D"`, "down_block_types"},
		{`"norm_num_groups": 4`, `"norm_num_groups": 5`, "down_block_types"},
		{`"in_channels": 4`, `"in_channels": 4, "dual_cross_attention": true`, "dual_cross_attention"},
		{`"in_channels": 4`, `"in_channels": 4, "time_cond_proj_dim": 256`, "time_cond_proj_dim"},
	} {
		text := strings.Replace(compact(row), strings.ReplaceAll(c[0], ": ", ":"), c[1], 1)
		if _, err := family.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: error %v, want one about %s", c[1], err, c[2])
		}
	}
}

func compact(text string) string { return strings.NewReplacer("\n", "", ": ", ":").Replace(text) }

// TestUnetHoldsSkips checks that values that a skip reads later are held through the first half, even if no
// operator before the first adapter keeps them for a backward.
func TestUnetHoldsSkips(t *testing.T) {
	m, err := family.Read(measuredUnets(t)[0].Config)
	if err != nil {
		t.Fatal(err)
	}
	a, err := llm.New(m.Model, engine.Args{"height": "128", "lora": "4"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Profile()
	if err != nil {
		t.Fatal(err)
	}
	const skip = 16 * 16 * 16 * 2 // latents, channels, bytes
	for i, want := range []engine.Bytes{skip, skip, skip, skip / 4} {
		if st := p.Chain.Stages[2+i]; st.Saved != want {
			t.Errorf("%s keeps %d bytes, want the %d of the skip that it reads", st.Name, st.Saved, want)
		}
	}
}

// TestUnetOptions checks that options that do not work with skips are refused, and sides that the levels cannot
// halve.
func TestUnetOptions(t *testing.T) {
	for _, c := range []struct {
		args engine.Args
		want string
	}{
		{engine.Args{"height": "1000"}, "want 992 or 1024"},
		{engine.Args{"height": "512", "group": "2", "ckpt": "full"}, "skips"},
		{engine.Args{"height": "512", "pp": "2", "gpus": "2"}, "skips"},
		{engine.Args{"height": "512", "lora": "4", "swap-blocks": "2"}, "skips"},
	} {
		a, err := llm.New(family.Lookup("sdxl-base-1.0"), c.args)
		if err == nil {
			_, err = llm.Run(a.Setup)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c.args, err, c.want)
		}
	}
}

// TestDitKeeps checks that blocks of Stable Diffusion 3.5 with adapters keep what PyTorch keeps of the same code, in 16
// bits or under autocast: norms of what frozen scales and gates multiply, and nothing for the gradients of these.
func TestDitKeeps(t *testing.T) {
	text, err := os.ReadFile("testdata/dit.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rows []struct {
			Dual, Autocast, Dropout bool
			Stored, Kept            int64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	m, err := family.Read([]byte(`{"_class_name":"SD3Transformer2DModel","num_layers":4,"num_attention_heads":4,"attention_head_dim":32,"caption_projection_dim":128,"dual_attention_layers":[0,1],"in_channels":16,"joint_attention_dim":256,"pooled_projection_dim":64,"qk_norm":"rms_norm"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Rows {
		s := llm.Setup{Model: m.Model, Work: llm.Work{Batch: 2, Seq: 256}}
		llm.FindProgram("hf").Apply(&s)
		s.Weight, s.Grad, s.CastsAll = 2, 2, r.Autocast
		s.LoRA = &llm.LoRA{Rank: 8, On: []string{"q", "k", "v", "o"}, Stored: r.Stored, Dropout: r.Dropout}
		kept, err := s.Kept()
		layer := int64(2)
		if r.Dual {
			layer = 1
		}
		if got := blockOf(kept, layer); err != nil || got != r.Kept {
			t.Errorf("%+v: a block keeps %d bytes (%v)", r, got, err)
		}
	}
	if len(file.Rows) != 12 {
		t.Errorf("%d rows", len(file.Rows))
	}
}
