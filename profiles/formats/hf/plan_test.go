package hf

import (
	"fmt"
	"testing"

	"memtide/engine"
	_ "memtide/engine/remat"
	"memtide/engine/sim"
	"memtide/profiles/formats/formattest"
	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
)

// TestConfigIsPlan checks that keeping everything takes the memory that memtide plan predicts for the same
// config.json, exactly for the operations and within 1 % for the blocks.
func TestConfigIsPlan(t *testing.T) {
	const common = `"hidden_size":1024,"num_hidden_layers":6,"num_attention_heads":16,"num_key_value_heads":4,"intermediate_size":2816,"vocab_size":32000,"memtide":{"batch":2,"seq":512}`
	for _, kind := range []string{"llama", "qwen2", "qwen3", "mistral", "gemma"} {
		text := fmt.Appendf(nil, `{"model_type":%q,%s}`, kind, common)
		m, err := family.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		a, err := llm.New(m.Model, engine.Args{"batch": "2", "seq": "512"})
		if err != nil {
			t.Fatal(err)
		}
		want, err := a.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		p := formattest.MustDecode(t, "config.json", text)
		if got := keptPeak(t, &engine.Problem{Graph: p.Graph}); got != want.Allocated {
			t.Errorf("%s: the operations take %d bytes, plan says %d", kind, got, want.Allocated)
		}
		chain := engine.ExpandChain(p.Chain)
		if got := keptPeak(t, &engine.Problem{Chain: chain, Graph: &chain.Graph}); got < want.Allocated ||
			got > want.Allocated+want.Allocated/100 {
			t.Errorf("%s: the chain takes %d bytes, plan says %d; want that, or 1 %% more at most", kind, got,
				want.Allocated)
		}
	}
}

// keptPeak returns the peak of the simulated schedule that keeps everything.
func keptPeak(t *testing.T, p *engine.Problem) engine.Bytes {
	t.Helper()
	p.Device, p.Budget = engine.Device{Memory: engine.NoLimit, ToHost: 1e9, ToDev: 1e9}, engine.NoLimit
	s, err := engine.Lookup(engine.KeepAll).Solve(p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := sim.Play(p, s.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	return tr.Peak
}
