//go:build !js

package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/pagetest"
)

// TestStepPage checks that the page of a real answer has every part once, in well-formed HTML, and that all of
// its controls have names.
func TestStepPage(t *testing.T) {
	s := pagetest.Step(t, "llama3-8b", engine.Args{"gpus": "8", "pp": "2", "ckpt": "full"})
	page := pageOf(t, s)
	for _, id := range []string{"step", "answer-say", "answer-sub", "bar", "peak", "step-time", "rate",
		"step-changes", "step-origins",
		"step-reach", "step-chain", "option-gpus", "device", "option-shard"} {
		if n := strings.Count(page, `data-testid="`+id+`"`); n != 1 {
			t.Errorf("data-testid %q stands %d times in the page; want once", id, n)
		}
	}
	for _, want := range []string{`data-kind="step"`, "Fits: ", "Llama 3 8B", "in the loss backward", "8,030,261,248",
		"read in code", "assumed", "What would help", `aria-label="Cards"`} {
		if !strings.Contains(strings.ReplaceAll(page, "\u202f", ","), want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if n := strings.Count(page, `data-do="step-change"`); n < 5 {
		t.Errorf("%d changes; want five and more", n)
	}
	pagetest.WellFormed(t, page)
	if got, want := answer.Title(s), "Llama 3 8B on 8 × H100: "; !strings.HasPrefix(got, want) || !strings.Contains(got, " of ") {
		t.Errorf("the title is %q; want the model and its verdict", got)
	}
}

// TestStepRange checks that the page marks the step time as a lower bound, and the rate as an upper one, if steps
// of that kind take longer than rates alone predict.
func TestStepRange(t *testing.T) {
	for low, want := range map[time.Duration]bool{1500: true, 1000: false} {
		s, e := pagetest.AskStep(t, "llama3-8b", engine.Args{"gpus": "2", "pp": "2"})
		s.Update(state.StepAnswered{ID: e.ID, Whole: true, Stepped: &proto.Stepped{Time: 1000, TimeLow: low,
			TimeHigh: 2000, Phases: []proto.StepPhase{{}}}})
		n := (&Results{S: s}).Numbers()
		for i, sign := range []string{"> ", "< "} {
			if got := strings.HasPrefix(n[i+1].Value, sign); got != want {
				t.Errorf("from %v: %q; want %q before it: %t", low, n[i+1].Value, sign, want)
			}
		}
	}
}

// TestStepOfFile checks that a config.json has the same options as a language model of
// the list. Choosing an option or a card reads it again with that, a link holds both, and a pipeline opens the step by
// itself.
func TestStepOfFile(t *testing.T) {
	s := pagetest.First(t)
	if page := pageOf(t, s); strings.Contains(page, `class="findings-body"`) {
		t.Error("a network of the list has findings; want none")
	}
	pagetest.Do(t, s, state.SetGPU{ID: "l40s"})
	pagetest.Do(t, s, state.PickFile{Name: "config.json",
		Bytes: []byte(`{"model_type":"llama","hidden_size":2048,"intermediate_size":8192,"num_attention_heads":32,"num_hidden_layers":16,"num_key_value_heads":8,"vocab_size":128256,"tie_word_embeddings":true,"max_position_embeddings":4096}`)})
	if got := s.Network.Profile.Source.Device; got != "L40S" || s.Choice.Device != "l40s" {
		t.Errorf("opened on %q with times of %q; want the L40S for both", s.Choice.Device, got)
	}
	s.Update(state.ToggleMore{})
	page := pageOf(t, s)
	for _, want := range []string{`data-testid="option-batch"`, `data-testid="option-seq"`,
		`data-testid="option-optimizer"`, `data-testid="option-program"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not offer %s", want)
		}
	}
	pagetest.Do(t, s, state.SetOption{Name: "optimizer", Value: "adamw-8bit"})
	const want = "map[device:l40s optimizer:adamw-8bit seq:4096]"
	if s.Step != nil || s.Config() == "" || fmt.Sprint(s.Network.Source.Options) != want || !s.Choice.Roomy() {
		t.Errorf("8-bit AdamW: step %v, options %v in %v; want %s of the file in the room of the card", s.Step,
			s.Network.Source.Options, s.Choice.Budget, want)
	}
	pagetest.Do(t, s, state.SetGPU{ID: "rtx-4090"})
	if got := s.Network.Profile.Source.Device; s.Choice.Device != "rtx-4090" || got != "RTX 4090" ||
		ask.Value(s.Network.Source.Options, "optimizer") != "adamw-8bit" {
		t.Errorf("on an RTX 4090: %q with times of %q, %v; want the same step with its times", s.Choice.Device, got,
			s.Network.Source.Options)
	}
	pagetest.Do(t, s, state.SetBudget{Bytes: 12 * engine.GiB, Settled: true})
	pagetest.Do(t, s, state.SetOption{Name: "gpus", Value: "8"})
	if s.Choice.Budget.Bytes != 12*engine.GiB || ask.Value(s.Network.Source.Options, "gpus") != "8" {
		t.Errorf("eight cards: %v, %v; want the chosen budget to stay", s.Choice.Budget, s.Network.Source.Options)
	}
	pagetest.Do(t, s, state.SetStrategy{Name: "pofo"})
	l := permalink.Of(s, link.Link{})
	_, start, notes := permalink.Read(l.String())
	again := state.New()
	pagetest.Do(t, again, start)
	if !again.Choice.Equal(s.Choice) || !again.Network.Source.Same(s.Network.Source) || len(notes) > 0 {
		t.Errorf("the link opens %+v with %v (%q); want %+v", again.Choice, again.Network.Source.Options, notes,
			s.Choice)
	}
	s.Update(state.SetOption{Name: "pp", Value: "2"})
	if s.Step == nil || ask.Value(s.Choice.StepArgs, "pp") != "2" || ask.Value(s.Choice.StepArgs, "gpus") != "8" {
		t.Errorf("a pipeline: step %v, %v; want the step by itself", s.Step, s.Choice.StepArgs)
	}
}

// TestCardOfFile checks that a config.json that names a card opens on it, whichever card the page has. The same card
// needs no second reading, and one of its owner's figures has the words of a step, too.
func TestCardOfFile(t *testing.T) {
	const own = "24gib-link25gbps-rate165tflops"
	for _, page := range []string{"rtx-4090", "v100-pcie-16gb", own} {
		for _, named := range []string{"rtx-4090", "h100", own} {
			s := pagetest.First(t)
			pagetest.Do(t, s, state.SetGPU{ID: page}, state.PickFile{Name: "config.json", Bytes: fmt.Appendf(nil,
				`{"model_type":"gpt2","n_embd":64,"n_layer":2,"n_head":4,"n_positions":32,"vocab_size":500,"memtide":{"device":%q}}`,
				named)})
			if got := ask.Value(s.Network.Source.Options, "device"); s.Choice.Device != named || got != named ||
				s.Config() == "" || !s.Choice.Roomy() {
				t.Errorf("a file with %s on %s: on %s, with times of %s, in %v; want its own card and its room", named,
					page, s.Choice.Device, got, s.Choice.Budget)
			}
		}
	}
}
