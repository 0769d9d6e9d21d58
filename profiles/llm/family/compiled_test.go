package family_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
)

// blockOf returns the bytes that the block of a layer keeps.
func blockOf(k llm.Kept, layer int64) int64 {
	for _, run := range k.Blocks {
		if layer -= run[0]; layer < 0 {
			return run[1]
		}
	}
	return 0
}

// TestCompiledBlocks compares what compiled blocks keep with PyTorch's own graphs, partitioned by a program of its own.
// testdata/compiled.json says how.
func TestCompiledBlocks(t *testing.T) {
	text, err := os.ReadFile("testdata/compiled.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Rows []struct {
			Name, States, Attention        string
			Config                         json.RawMessage
			Batch, Seq, Layer, LoRA, Block int64
		}
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	far := map[string]float64{
		"wan":       0.032,  // its sums read the stream in 4 bytes, of which the tape has no copy
		"cohere":    0.001,  // means of its norms
		"qwen3_moe": 0.0015, // scores of the chosen experts in 4 bytes
	}
	for _, r := range all.Rows {
		m, err := family.Read(r.Config)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		s := llm.Setup{Model: m.Model, Work: llm.Work{Batch: r.Batch, Seq: r.Seq}}
		llm.FindProgram("hf").Apply(&s)
		s.Attention = llm.AttentionKind(r.Attention)
		if s.Compiled = true; r.States == "bf16" {
			s.Weight, s.Grad = 2, 2
		}
		if r.LoRA > 0 {
			s.LoRA = &llm.LoRA{Rank: r.LoRA, On: []string{"q", "k", "v", "o", "gate", "up", "down"}, Stored: 2}
		}
		got, err := s.Kept()
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		if said := strings.Join(s.Said(), " "); strings.Contains(said, "loop over experts") != (m.MoE != nil) {
			t.Errorf("%s: %q; want a note on experts: %v", r.Name, said, m.MoE != nil)
		}
		n := blockOf(got, r.Layer)
		if off := float64(n)/float64(r.Block) - 1; math.Abs(off) > max(far[r.Name], 0.0003) {
			t.Errorf("%s, %s, rank %d: a compiled block keeps %d bytes, the partitioner saves %d (%+.2f %%)", r.Name,
				r.States, r.LoRA, n, r.Block, 100*off)
		}
	}
	if len(all.Rows) < 35 {
		t.Errorf("%d rows", len(all.Rows))
	}
}

// TestPrograms checks that every family is answered under DeepSpeed, and compiled, or that the refusal names a way out.
func TestPrograms(t *testing.T) {
	seen, compiled := map[string]bool{}, 0
	for _, r := range measured(t) {
		m, err := family.Read(r.Config)
		if err != nil || seen[m.Family] || m.Params() > 1e12 {
			continue
		}
		seen[m.Family] = true
		for _, args := range []engine.Args{{"program": "deepspeed"}, {"compile": "yes"}, {"compile": "yes", "kernels": "yes"}} {
			args["device"], args["states"] = "h200", "bf16"
			if args["program"] != "" {
				delete(args, "states")
			}
			if m.Latents == nil {
				args["seq"] = "256"
			}
			a, err := llm.New(m.Model, args)
			if err == nil {
				_, err = a.Estimate()
			}
			if err == nil && args["compile"] != "" {
				compiled++
			}
			if err != nil && !strings.Contains(err.Error(), "leave -compile out") &&
				!strings.Contains(err.Error(), "leave -kernels out") {
				t.Errorf("%s, %v: %v", m.Family, args, err)
			}
		}
	}
	if compiled < 140 {
		t.Errorf("%d answers about compiled blocks of %d families", compiled, len(seen))
	}
}
