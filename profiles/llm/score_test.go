package llm

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memtide/engine"
)

func scoreFile(t *testing.T, name string) *ScoreReport {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := ReadRows(data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Score(rows, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestScoreSample checks the sample, which has a row of every kind and one of every fault: the line of the
// summary that a row counts for, or why it is refused.
func TestScoreSample(t *testing.T) {
	want := map[string]string{
		"eager": "reserved_eager", "compiled": "reserved_compiled", "active": "allocated", "guess": "guessed",
		"delta": "guessed",
		"paper": "formula", "paper-share": "formula", "kernel": "loss_kernel", "duration": "time",
		"field": "unknown field", "model": "is not known", "order": "for orders", "selector": "selector",
		"nvml":  "neither allocated nor reserved",
		"empty": "nothing was measured", "card": "card", "kernel-kind": "loss kernel", "mode": "mode",
		"qlora": "allocated", "early": "reserved_eager", "scores": "attention", "five-bits": "0.7 bytes",
		"adapted": "product", "lion": "optimizer", "gather": "gathered",
	}
	r := scoreFile(t, "testdata/rows.json")
	if len(r.Rows) != len(want) {
		t.Errorf("%d rows are scored, want %d", len(r.Rows), len(want))
	}
	for _, s := range r.Rows {
		w := want[s.ID]
		if s.Set == w && s.Predicted > 0 && s.Low <= s.Predicted && s.Predicted <= s.High {
			continue
		}
		if s.Refused == "" || !strings.Contains(s.Refused, w) || w == "" || s.Predicted != 0 {
			t.Errorf("%s: counts for %q, refused as %q, predicted %g in %g..%g; want %q", s.ID, s.Set, s.Refused,
				s.Predicted, s.Low, s.High, w)
		}
	}
}

func TestReadRowsRefuses(t *testing.T) {
	for _, text := range []string{"", "{}", `{"format":"memtide-llm-rows/2","rows":[]}`} {
		if _, err := ReadRows([]byte(text)); err == nil {
			t.Errorf("%q was read; want a refusal", text)
		}
	}
}

// TestSummary checks quantiles by hand: the median of 1, 2, 3, 4 is 2.5, and the 90th percentile is the fourth.
func TestSummary(t *testing.T) {
	var rows []Scored
	for i, e := range []float64{-1, 4, 2, -3} {
		rows = append(rows, Scored{Set: "guessed", Error: e, Measured: float64(i), Low: 1, High: 2})
	}
	s := summarise("guessed", rows)
	if s.N != 4 || s.Median != 2.5 || s.P90 != 4 || s.Worst != 4 || *s.Inside != 50 {
		t.Errorf("got %d rows, median %g, 90th %g, worst %g, inside %g; want 4, 2.5, 4, 4, 50", s.N, s.Median, s.P90,
			s.Worst, *s.Inside)
	}
}

// TestPublishedFigures checks how far the model is from published figures, if these are available. They are facts
// about other people's runs, and nothing in the model is fitted to them.
func TestPublishedFigures(t *testing.T) {
	name := filepath.Join("..", "..", "..", "shared", "data", "peaks", "peaks_public.json")
	if _, err := os.Stat(name); err != nil {
		t.Skip("../shared/data/peaks is not there")
	}
	limits := map[string]struct{ median, worst float64 }{
		"allocated": {0.9, 4}, "reserved_eager": {2.7, 7}, "reserved_compiled": {2.1, 10.2},
		"formula": {0.1, 0.3}, "loss_kernel": {0.1, 0.1}, "time": {15, 45}, "guessed": {math.Inf(1), math.Inf(1)},
	}
	r := scoreFile(t, name)
	for _, k := range r.Kinds {
		l := limits[k.Kind]
		if k.Median > l.median || k.Worst > l.worst {
			t.Errorf("%s: median %.2f %%, worst %.2f %%; want at most %g and %g", k.Kind, k.Median, k.Worst, l.median,
				l.worst)
		}
		if *k.Inside < 90 {
			t.Errorf("%s: %.0f %% lie between low and high, want nine of ten", k.Kind, *k.Inside)
		}
		delete(limits, k.Kind)
	}
	for kind := range limits {
		t.Errorf("%s: no row was scored", kind)
	}
}

// TestScoreRefusesByName checks that a row with impossible or missing values is refused with the name of the
// value, and that it does not stop the other rows.
func TestScoreRefusesByName(t *testing.T) {
	const plain = `"model": "llama3-8b", "seq": 1024, "param_bytes": 2, "norm": "fused"`
	for _, c := range []struct{ kind, config, want string }{
		{"step", plain + `, "in_flight": 1099511627776, "pp": 2`, "in flight"},
		{"step", plain + `, "pp": 4`, "micro batches in flight"},
		{"step", plain + `, "pp": 4, "schedule": "banana"`, `"banana"`},
		{"step", plain + `, "pp": 4, "schedule": "1F1B"`, ""},
		{"step", plain + `, "pp": 64, "in_flight": 1`, "as many layers"},
		{"step", plain + `, "gpus": -1`, "gpus is -1"},
		{"step", plain + `, "opt_bytes": -1`, "bytes of the moments"},
		{"step", plain + `, "grad_bytes": 1099511627776`, "bytes of a gradient"},
		{"step", plain + `, "shard": 1099511627776`, "ranks that share states"},
		{"step", plain + `, "loss_chunk": -1, "loss": "chunked"`, "chunk of the loss"},
		{"step", plain + `, "grad_accum": 1099511627776`, "micro batches of a step"},
		{"step", plain + `, "lora": {"r": -1}`, "rank -1"},
		{"step", plain + `, "pp": 4, "rank": 1, "schedule": "1f2b", "grad_accum": 8`, `"1f2b"`},
		{"step", plain + `, "pp": 4, "rank": 4, "schedule": "1f1b", "grad_accum": 8`, "rank 4"},
		{"step", plain + `, "pp": 4, "rank": 3, "schedule": "1f1b", "grad_accum": 8`, ""},
		{"step", plain + `, "pp": 4, "schedule": "zb-v", "grad_accum": 8`, ""},
		{"step", plain + `, "opt_on_host": true, "opt_bytes": 8`, ""},
		{"step", plain + `, "config_json": "config.json"`, "one of them"},
		{"step", `"config_json": "config.json", "seq": 1024, "param_bytes": 2`, "no config.json is read here"},
		{"step", `"model": "llama3-8b", "seq": 1099511627776`, "tokens"},
		{"step", `"model": "llama3-8b"`, "tokens"},
		{"step", `"model": "llama3-8b", "seq": "1024"`, "seq"},
		{"loss_kernel", `"kind": "flce_liger", "tokens": 4096, "V": 32000`, "h is 0"},
		{"loss_kernel", `"kind": "ce_liger", "tokens": 4096, "V": -1`, "V is -1"},
		{"formula", `"s": 2048, "b": 1, "h": 6144, "L": 48, "a": 64, "t": 8, "p": 1, "mode": "none", "interleave": -1`, "interleave"},
	} {
		text := `{"format": "memtide-llm-rows/1", "rows": [{"id": "it", "kind": "` + c.kind +
			`", "complete": true, "config": {` + c.config + `}, "measured": {"metric": "reserved", "peak_bytes": 1}}]}`
		rows, err := ReadRows([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", c.config, err)
		}
		r, err := Score(rows, nil, nil)
		if err != nil || len(r.Rows) != 1 {
			t.Fatalf("%s: %d rows, %v", c.config, len(r.Rows), err)
		}
		if got := r.Rows[0].Refused; (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: refused as %q; want %q in it", c.config, got, c.want)
		}
	}
}

// TestRowsSayMore checks that a row can give the order of a pipeline and one of its ranks, an optimizer on the
// host, and its model by a config.json or by sizes, some of it beside its configuration. The prediction is that of the
// same step.
func TestRowsSayMore(t *testing.T) {
	read := func(config json.RawMessage) (*Model, error) {
		if string(config) != `"config.json"` {
			t.Errorf("a config.json by %s is read", config)
		}
		return Lookup("qwen3-4b"), nil
	}
	for _, c := range []struct {
		config, beside string
		setup          func() *Result
	}{
		{`"config_json": "config.json", "opt_bytes": 8`, ``, func() *Result {
			return run(t, Setup{Model: Lookup("qwen3-4b"), Work: Work{Seq: 1024},
				Precision: Precision{Weight: 2, Moments: 8}})
		}},
		{`"model": "llama3-8b", "opt_bytes": 8, "opt_on_host": true`, ``, func() *Result {
			return run(t, Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 1024},
				Precision: Precision{Weight: 2, Moments: 8}, Stepping: Stepping{HostStep: true}})
		}},
		{`"model": "llama3-8b", "opt_bytes": 8, "pp": 4, "schedule": "Interleaved", "vpp": 2, "grad_accum": 8, "rank": 2`, ``, func() *Result {
			s := Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 1024, Accumulate: 8},
				Precision: Precision{Weight: 2, Moments: 8},
				Layout:    Layout{Stages: 4, Schedule: "interleaved", Chunks: 2}}
			return playRanks(t, s).List[2].Result
		}},
		{`"model": "own", "opt_bytes": 8, "pp": 2, "grad_accum": 4`, `"arch": {"Layers": 4, "Hidden": 256, "Heads": 4, "Keys": 2, "Head": 64, "Wide": 512, "Words": 1000, "Gated": true}, "sched": "1f1b", "last": true, "host": true`, func() *Result {
			m := &Model{Layers: 4, Hidden: 256, Words: 1000, Block: Block{Heads: 4, Keys: 2, Head: 64, Wide: 512, Gated: true}}
			s := Setup{Model: m, Work: Work{Seq: 1024, Accumulate: 4}, Precision: Precision{Weight: 2, Moments: 8},
				Stepping: Stepping{HostStep: true}, Layout: Layout{Stages: 2, Schedule: "1f1b"}}
			return playRanks(t, s).List[1].Result
		}},
		{`"model": "llama3-8b", "loss": "inplace", "seq": 16384`, `"group": "megatron-golden", "missing": ["dropout 0.1 (default) is not in the model"]`, func() *Result {
			return run(t, Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 16384}, Precision: Precision{Weight: 2},
				Code: Code{Dropout: true}, HeadLoss: HeadLoss{Loss: LossSharded}})
		}},
		{`"model": "llama3-8b", "loss": "inplace", "seq": 16384, "ckpt": "full"`, `"group": "ms-swift"`, func() *Result {
			return run(t, Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 16384}, Precision: Precision{Weight: 2},
				Checkpointing: Checkpointing{Checkpoint: CheckpointFull},
				HeadLoss:      HeadLoss{Loss: LossShardedCompiled}})
		}},
		{`"model": "llama3-8b", "loss": "inplace", "seq": 16384`, `"group": "megatron-bridge"`, func() *Result {
			return run(t, Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 16384}, Precision: Precision{Weight: 2},
				HeadLoss: HeadLoss{Loss: LossInPlace}})
		}},
		{`"model": "llama3-8b", "lora": {"r": 8, "on": {"q": true}}, "lora_pe": 2`, `"group": "fms-acceleration"`, func() *Result {
			return run(t, Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 1024}, Precision: Precision{Weight: 2},
				LoRA: &LoRA{Rank: 8, On: []string{"q"}, Stored: 4}})
		}},
		{`"model": "llama3-8b", "lora": {"r": 8, "on": {"q": true}}, "lora_pe": 2, "zero": 3, "shard": 2, "ckpt": "full"`, `"group": "fms-acceleration"`, func() *Result {
			return run(t, Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 1024}, Precision: Precision{Weight: 2},
				Checkpointing: Checkpointing{Checkpoint: CheckpointFull},
				Layout:        Layout{Zero: 3, Shard: 2, Flat: true},
				LoRA:          &LoRA{Rank: 8, On: []string{"q"}, Stored: 4}})
		}},
		{`"model": "llama3-8b", "lora": {"r": 8, "on": {"q": true}}, "param_bytes": 0.5625, "lora_pe": 2`, `"group": "fms-acceleration"`, func() *Result {
			return run(t, Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 1024},
				Precision: Precision{Weight: 2, Base: BaseNF4Double}, LoRA: &LoRA{Rank: 8, On: []string{"q"}, Stored: 4}})
		}},
		{`"model": "llama3-8b", "lora": {"r": 8, "on": {"q": true}}, "param_bytes": 0.5625, "lora_pe": 4`, `"group": "fms-acceleration"`, func() *Result {
			return run(t, Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 1024}, Code: Code{Written: true},
				Precision: Precision{Weight: 4, Base: BaseNF4Double, Autocast: true},
				LoRA:      &LoRA{Rank: 8, On: []string{"q"}, Stored: 4}})
		}},
	} {
		row := Row{ID: "it", Kind: "step", Complete: true, Measured: Measured{Metric: "allocated", Peak: 1},
			Config: json.RawMessage(`{"param_bytes": 2, "seq": 1024, ` + c.config + `}`)}
		if err := json.Unmarshal([]byte("{"+c.beside+"}"), &row); err != nil {
			t.Fatal(err)
		}
		got, err := Score([]Row{row}, read, nil)
		if err != nil || got.Rows[0].Refused != "" {
			t.Fatalf("%s: %v, refused as %q", c.config, err, got.Rows[0].Refused)
		}
		if want := float64(c.setup().Allocated); got.Rows[0].Predicted != want {
			t.Errorf("%s: %.0f bytes, want %.0f", c.config, got.Rows[0].Predicted, want)
		}
	}
}

// TestDriversMetric checks that nvidia-smi shows what PyTorch reserves and CUDA's context, as a plan assumes it.
func TestDriversMetric(t *testing.T) {
	predicted := func(metric string) float64 {
		row := Row{ID: "it", Kind: "step", Measured: Measured{Metric: metric, Peak: 1},
			Config: json.RawMessage(`{"model": "llama3-8b", "param_bytes": 2, "seq": 1024}`)}
		got, err := Score([]Row{row}, nil, nil)
		if err != nil || got.Rows[0].Refused != "" {
			t.Fatalf("%s: %v, refused as %q", metric, err, got.Rows[0].Refused)
		}
		return got.Rows[0].Predicted
	}
	if got, want := predicted("nvidia-smi")-predicted("reserved"), float64(1<<30); got != want {
		t.Errorf("nvidia-smi shows %.0f bytes more than are reserved; want %.0f", got, want)
	}
}

// TestSegments checks that what is reserved is told by expandable segments where a group's scripts set them and the
// card has them, by the allocator's default where the card has none, and else by the middle of both.
func TestSegments(t *testing.T) {
	for _, c := range []struct {
		group, hw string
		want      func(r *Result) engine.Bytes
	}{
		{"torchao", "B200", func(r *Result) engine.Bytes { return r.Expandable }},
		{"ms-swift", "A100-80G", func(r *Result) engine.Bytes { return r.Expandable }},
		{"torchao", "MI300X", func(r *Result) engine.Bytes { return r.Reserved }},
		{"peft", "B200", func(r *Result) engine.Bytes { return (r.Reserved + r.Expandable) / 2 }},
	} {
		s := Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 1024}, Precision: Precision{Weight: 2}}
		s.Workspace = CardOf(c.hw).Workspace
		r := run(t, s)
		if r.Reserved == r.Expandable {
			t.Fatal("both ways of the allocator reserve the same")
		}
		row := Row{ID: "it", Kind: "step", Group: c.group, Measured: Measured{Metric: "reserved", Peak: 1},
			Config: json.RawMessage(`{"model": "llama3-8b", "param_bytes": 2, "seq": 1024, "hw": "` + c.hw + `"}`)}
		got, err := Score([]Row{row}, nil, nil)
		if err != nil || got.Rows[0].Refused != "" {
			t.Fatalf("%s: %v, refused as %q", c.group, err, got.Rows[0].Refused)
		}
		if want := float64(c.want(r)); got.Rows[0].Predicted != want {
			t.Errorf("%s on %s: %.0f bytes, want %.0f", c.group, c.hw, got.Rows[0].Predicted, want)
		}
	}
}
