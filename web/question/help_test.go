package question_test

import (
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/question"

	_ "memtide/engine/remat"
	_ "memtide/profiles/llm"
	_ "memtide/profiles/llm/family"
)

// tried returns the answers about the preset ref, the step of a small language model, which keeps everything, in
// the given budget. others are the other methods that are tried.
func tried(t *testing.T, ref string, budget engine.Bytes, others ...whatif.Method) (out []proto.Suggestion) {
	t.Helper()
	p, batch, err := preset.Parse(ref)
	if err != nil {
		t.Fatal(err)
	}
	problem, err := p.Problem(batch)
	if err != nil {
		t.Fatal(err)
	}
	w := &question.Work{Problem: problem.WithBudget(budget),
		Method: whatif.Method{Strategy: engine.Lookup("keepall")}, Methods: others, Preset: ref,
		Emit: func(a *proto.Suggestion, _ error) { out = append(out, *a) }}
	if err := w.Answer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if last := out[len(out)-1]; last.Done != len(out) || last.Total != len(out) {
		t.Errorf("%s: the last of %d answers is %d of %d", ref, len(out), last.Done, last.Total)
	}
	return out
}

// TestLeversOfConfig checks that the step of a config.json gets the answers that the same step of the list gets, with
// the options to choose instead of a preset, and the largest batch.
func TestLeversOfConfig(t *testing.T) {
	const config = `{"model_type":"llama","hidden_size":2048,"intermediate_size":8192,"num_attention_heads":32,"num_hidden_layers":16,"num_key_value_heads":8,"vocab_size":128256,"tie_word_embeddings":true}`
	options := engine.Args{"seq": "512"}
	p, err := preset.Play(config, options)
	if err != nil {
		t.Fatal(err)
	}
	problem := engine.NewChainProblem(p.Chain, engine.Device{}, engine.Whole, engine.NoLimit)
	for _, budget := range []engine.Bytes{30 * engine.GiB, 2304 * engine.MiB} {
		var got []proto.Suggestion
		w := &question.Work{Problem: problem.WithBudget(budget),
			Method: whatif.Method{Strategy: engine.Lookup("keepall")}, Model: config, Options: options,
			Emit: func(a *proto.Suggestion, _ error) { got = append(got, *a) }}
		if err := w.Answer(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := tried(t, "llama3.2-1b-step-512tok-b1", budget)
		if len(got) != len(want) {
			t.Fatalf("%d answers in %d bytes; want %d", len(got), budget, len(want))
		}
		for i, a := range got {
			b := want[i]
			if a.Name != b.Name || a.Peak != b.Peak || a.StepTime != b.StepTime || a.Batch != b.Batch ||
				(a.Options != nil) != (b.Preset != "") {
				t.Errorf("answer %d is %+v; want %+v", i, a, b)
			}
		}
	}
}

// TestLeversThatChangeNothing checks that a change without an effect is not among the answers, where the step runs on
// several cards and was read from a file, which does not have what runs beside its blocks.
func TestLeversThatChangeNothing(t *testing.T) {
	options := engine.Args{"frames": "9", "height": "256", "width": "256", "lora": "16", "gpus": "2"}
	p, err := preset.Play("wan2.1-1.3b", options)
	if err != nil {
		t.Fatal(err)
	}
	some := false
	for i := range p.Chain.Stages {
		some = some || p.Chain.Stages[i].Asides != [2]engine.Aside{}
		p.Chain.Stages[i].Asides = [2]engine.Aside{}
	}
	if !some {
		t.Fatal("nothing runs beside the blocks: the test would see nothing")
	}
	w := &question.Work{Problem: engine.NewChainProblem(p.Chain, engine.Device{}, engine.Whole, 64*engine.GiB),
		Method: whatif.Method{Strategy: engine.Lookup("keepall")}, Model: "wan2.1-1.3b", Options: options,
		Emit: func(a *proto.Suggestion, _ error) {
			if strings.HasPrefix(a.Name, "kernels for linear attention") {
				t.Errorf("%s is an answer about a model without it", a.Name)
			}
		}}
	if err := w.Answer(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestLastLevers checks that adapters and more cards are tried only if nothing else has a schedule, because they
// change the training or the hardware.
func TestLastLevers(t *testing.T) {
	const ref = "llama3.2-1b-step-512tok-b1"
	for _, c := range []struct {
		budget engine.Bytes
		cards  int
		lora   int
	}{{64 * engine.GiB, 0, 0}, {2 * engine.GiB, 3, 2}} {
		var lora, cards int
		list := tried(t, ref, c.budget)
		for _, a := range list {
			p, _, err := preset.Parse(a.Preset)
			if a.Preset == "" {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			args := preset.StepArgs(p.Options().Step)
			if ask.Value(args, "lora") != "0" {
				lora++
			}
			if ask.Value(args, "gpus") != "1" {
				cards++
			}
		}
		if lora != c.lora || cards != c.cards {
			t.Errorf("in %d bytes %d trainings of adapters and %d of more cards were tried; want %d and %d", c.budget,
				lora, cards, c.lora, c.cards)
		}
	}
}

// TestLastLeversArePlanned checks that the last changes are tried with the best other method in place of keeping
// everything, and say so: adapters fit into 6.3 GiB if blocks are computed again, and not if all is kept.
func TestLastLeversArePlanned(t *testing.T) {
	const ref, name = "llama3.2-1b-step-512tok-b4", "LoRA, rank 16"
	rotor := whatif.Method{Strategy: engine.Lookup("rotor")}
	for _, others := range [][]whatif.Method{nil, {rotor}} {
		found := 0
		for _, a := range tried(t, ref, 6500*engine.MiB, others...) {
			if a.Name != name && a.Name != name+", by recompute" {
				continue
			}
			if found++; (a.StepTime > 0) != (others != nil) || (a.Strategy == "rotor") != (others != nil) {
				t.Errorf("with %v: %+v; want a schedule if it can be planned, and by whom", others, a)
			}
		}
		if found != 1 {
			t.Errorf("with %v adapters were tried %d times; want once", others, found)
		}
	}
}

// TestRoomForMore checks that, if everything can be kept, an answer has the largest batch that can be kept: one
// more sequence would not fit.
func TestRoomForMore(t *testing.T) {
	const id, budget = "llama3.2-1b-step-512tok", 30 * engine.GiB
	list := tried(t, id+"-b1", budget)
	got := list[len(list)-1]
	p, _, err := preset.Parse(id + "-b1")
	if err != nil {
		t.Fatal(err)
	}
	more, err := p.Problem(got.Batch + 1)
	if err != nil {
		t.Fatal(err)
	}
	if need := more.Chain.Chain.KeepAllPeak(); got.Batch < 2 || got.Peak > budget || need <= budget ||
		got.Preset != preset.Ref(id, got.Batch) {
		t.Errorf("the last answer is %+v, and a sequence more needs %d bytes; want the largest batch in %d", got,
			need, budget)
	}
}

// TestLeversOfAdapters checks that weights in 4 bits are tried if adapters are trained already, because they do
// not change the work then.
func TestLeversOfAdapters(t *testing.T) {
	list := tried(t, "llama3.2-1b-step-512tok-lora.16-b1", 64*engine.GiB)
	if !slices.ContainsFunc(list, func(a proto.Suggestion) bool { return strings.Contains(a.Preset, "base.nf4") }) {
		t.Errorf("%+v: want weights in 4 bits among them", list)
	}
}

// TestCardsByStates checks that no fewer cards are tried than the states need: those of 19.8 GB in 5 GiB need four.
func TestCardsByStates(t *testing.T) {
	var got []string
	for _, a := range tried(t, "llama3.2-1b-step-512tok-b1", 5*engine.GiB) {
		if strings.HasSuffix(a.Name, " cards instead of 1") {
			got = append(got, a.Name)
		}
	}
	if want := "4 cards instead of 1; 8 cards instead of 1; 16 cards instead of 1"; strings.Join(got, "; ") != want {
		t.Errorf("tried are %q; want %q", got, want)
	}
}

// TestPairs checks that pairs of changes are tried only if no single change has a schedule.
func TestPairs(t *testing.T) {
	const in4 = " cards instead of 1 + LoRA, rank 16, frozen products in 4 bits"
	for budget, want := range map[engine.Bytes]string{2336 * engine.MiB: "8" + in4 + "; 16" + in4 +
		"; 32 cards instead of 1 + LoRA, rank 16; 32" + in4, 3 * engine.GiB: ""} {
		var got []string
		for _, a := range tried(t, "llama3.2-1b-step-512tok-b1", budget) {
			if !strings.Contains(a.Name, " + ") {
				continue
			}
			if a.StepTime <= 0 || a.Peak > budget {
				t.Errorf("in %d bytes %s takes %v and %d bytes; want a schedule", budget, a.Name, a.StepTime, a.Peak)
			}
			got = append(got, a.Name)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("in %d bytes the pairs are %q; want %q", budget, got, want)
		}
	}
}
