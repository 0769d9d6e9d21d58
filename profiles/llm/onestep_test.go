package llm

import (
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/sim"
	"memtide/profiles/llm/ask"
)

// layouts lists the options with which every known model is compared.
var layouts = []engine.Args{
	{"seq": "512"},
	{"seq": "512", "gpus": "8"},
	{"seq": "512", "lora": "16"},
}

// TestOneStep compares the chain and the operations that keep everything with the answer's allocated bytes. The
// operations have the same bytes and the same phase, and the chain has at most 1 % more.
func TestOneStep(t *testing.T) {
	for _, m := range ask.Models {
		for _, args := range layouts {
			compare(t, m.ID, args)
		}
	}
}

// TestOneStepOfFSDP does the same for weights that are gathered once a step and for flat parameters.
func TestOneStepOfFSDP(t *testing.T) {
	for _, model := range []string{"llama3.2-1b", "tinyllama", "gpt2-medium"} {
		for _, shard := range []string{"grad-op", "fsdp1", "fsdp1-grad-op"} {
			args := engine.Args{"seq": "1024", "gpus": "8", "shard": shard}
			compare(t, model, args)
		}
	}
}

// compare compares the answer about a step with its operations and its chain.
func compare(t *testing.T, model string, args engine.Args) {
	t.Helper()
	a, err := New(Lookup(model), args)
	if err != nil {
		t.Errorf("%s %v: %v", model, args, err)
		return
	}
	said, err := a.answer(probed)
	if err != nil {
		t.Errorf("%s %v: %v", model, args, err)
		return
	}
	p, err := a.Profile()
	if err != nil {
		t.Errorf("%s %v: %v", model, args, err)
		return
	}
	problem := &engine.Problem{Graph: p.Graph, Device: *p.Device, Budget: engine.NoLimit}
	if err := problem.Validate(); err != nil {
		t.Errorf("%s %v: %v", model, args, err)
		return
	}
	tr := played(t, problem, engine.KeepAll)
	want := said.Allocated
	off := func(n engine.Bytes) float64 { return 100 * (float64(n)/float64(want) - 1) }
	if tr.Peak != want {
		t.Errorf("%s %v: operations %d bytes, the answer %d (%+.3f %%)", model, args, tr.Peak, want, off(tr.Peak))
	}
	at := slices.IndexFunc(tr.Spans, func(s sim.Span) bool {
		return s.Start <= tr.PeakAt && tr.PeakAt <= s.End && phaseOf(p.Graph.Ops[s.Op].Name) == said.Phase
	})
	if at < 0 {
		t.Errorf("%s %v: the operations peak at %v, in none of the %s, where the answer does", model, args, tr.PeakAt,
			said.Phase)
	}
	if got := p.Chain.KeepAllPeak(); got < want || off(got) > 1 {
		t.Errorf("%s %v: chain %d bytes, the answer %d in the %s (%+.3f %%)", model, args, got, want, said.Phase,
			off(got))
	}
}

// phaseOf returns the phase of an operation of a step.
func phaseOf(name string) Phase {
	name = strings.TrimPrefix(name, "gradients of ")
	switch {
	case name == "head and loss":
		return LossForward
	case name == "head and loss backward":
		return LossBackward
	case name == "embedding backward", name == "reduce embedding and head":
		return Reduction
	case strings.HasPrefix(name, "step "):
		return Step
	case strings.HasSuffix(name, " backward"):
		return Backward
	}
	return Forward
}

// TestChainTime checks that the blocks of a chain take as long as the answer's step, also where collectives decide
// how long that is. Answers leave out the embedding.
func TestChainTime(t *testing.T) {
	for _, args := range []engine.Args{
		{"seq": "2048"},
		{"seq": "2048", "gpus": "8"},
		{"seq": "512", "gpus": "64", "device": "a100-sxm-80gb"}, // decided by the network
		{"seq": "8192", "gpus": "2", "cp": "2", "device": "rtx-4090"},
		{"seq": "2048", "gpus": "8", "tp": "2"},
	} {
		a, err := New(Lookup("llama3-8b"), args)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		said, err := a.answer(probed)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		p, err := a.Profile()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		var got time.Duration
		for _, st := range p.Chain.Stages {
			if st.Kind != "embed" {
				got += st.Forward + st.Back
			}
		}
		if d := got - said.Time; d.Abs() > time.Microsecond { // every stage rounds up
			t.Errorf("%v: the chain takes %v, the answer %v", args, got, said.Time)
		}
	}
}
