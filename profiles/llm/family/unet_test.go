package family_test

import (
	"encoding/json"
	"os"
	"slices"
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

// TestNarrowedText checks that a product that narrows the text of a UNet, as Kolors has it, counts by its weights, and
// that one that narrows pictures is refused.
func TestNarrowedText(t *testing.T) {
	row := compact(string(measuredUnets(t)[0].Config))
	read := func(more string) (*family.Reading, error) {
		return family.Read([]byte(strings.Replace(row, `"in_channels":4`, `"in_channels":4`+more, 1)))
	}
	m, err := read("")
	if err != nil {
		t.Fatal(err)
	}
	text := m.Model.Pattern[0].Unet.Text
	for _, more := range []string{`,"encoder_hid_dim":96`, `,"encoder_hid_dim":96,"encoder_hid_dim_type":"text_proj"`} {
		n, err := read(more)
		if err != nil || n.Model.Params() != m.Model.Params()+(96+1)*text {
			t.Errorf("%s: %v (%v); want %d parameters more", more, n, err, (96+1)*text)
		}
	}
	if _, err := read(`,"encoder_hid_dim":96,"encoder_hid_dim_type":"image_proj"`); err == nil {
		t.Error("image_proj is read; want an error")
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
		{`"in_channels": 4`, `"in_channels": 4, "time_embedding_dim": 256`, "time_embedding_dim"},
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

// TestUnetAutocast checks what is kept under autocast, counted by hand for Stable Diffusion 1.5 at 64 x 64 latents: a
// norm of groups reads a copy in 4 bytes, SiLU keeps its result in 4, and convolutions keep copies in 2. A ResNet block
// from 960 channels to 320 keeps its input for the third convolution, too. Weights in 4 bytes are copied, and what else
// is kept is the same. Two rows of SimpleTuner for adapters in 16 bits were measured on an H100
// [documentation/experimental/SEGMENTED_CHECKPOINTING.md: SD 1.x, bf16].
func TestUnetAutocast(t *testing.T) {
	of := func(args engine.Args) (llm.Ask, *llm.Estimate) {
		args["height"], args["autocast"] = "512", "yes"
		a, err := llm.New(family.Lookup("sd-1.5"), args)
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		return a, r
	}
	a, none := of(engine.Args{"states": "bf16", "lora": "16", "adapters": "bf16", "attention": "sdpa"})
	kept, err := a.Setup.Kept()
	const n, statistics = 4096, 2 * 32 * 4
	resNet, in := int64(n*((2+4+4+2)*960+(4+4+2)*320)+2*statistics), int64(n*(4+2)*320+statistics)
	has := func(want int64) bool {
		return slices.ContainsFunc(kept.Blocks, func(b [2]int64) bool { return b[1] == want })
	}
	if err != nil || !has(resNet) || !has(in) {
		t.Errorf("blocks keep %v (%v), want one that keeps %d and one that keeps %d", kept.Blocks, err, resNet, in)
	}
	_, full := of(engine.Args{"states": "bf16", "lora": "16", "adapters": "bf16", "attention": "sdpa", "ckpt": "full"})
	for r, want := range map[*llm.Estimate]float64{none: 2.87, full: 1.98} {
		if got := float64(r.Allocated) / (1 << 30); got < want*0.94 || got > want*1.01 {
			t.Errorf("%.2f GiB allocated, want %.2f less at most 6 %%", got, want)
		}
	}
	parts := func(states string) (saved, copied engine.Bytes) {
		_, r := of(engine.Args{"states": states})
		for _, p := range r.PartsOf(llm.Forward) {
			switch p.Class {
			case llm.Saved:
				saved = p.Bytes
			case llm.Gathered:
				copied = p.Bytes
			}
		}
		return saved, copied
	}
	wide, copies := parts("fp32")
	narrow, no := parts("bf16")
	if all := engine.Bytes(2 * 859_520_964); no != 0 || copies < all*99/100 || copies > all {
		t.Errorf("copies of weights have %d and %d bytes, want 99 %% of %d at least, and 0", copies, no, all)
	}
	if wide < narrow*99/100 || wide > narrow*101/100 {
		t.Errorf("%d bytes are kept beside weights in 4 bytes, %d in 2; want the same", wide, narrow)
	}
}
