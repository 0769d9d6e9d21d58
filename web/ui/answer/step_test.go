//go:build !js

package answer

import (
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// told returns the answer about a step whose reply is r.
func told(t *testing.T, r proto.Stepped, args engine.Args) *Answer {
	t.Helper()
	s, e := pagetest.AskStep(t, "llama3-8b", pipelined(args))
	if r.Phases == nil {
		r.Phases = []proto.StepPhase{{Name: "forward", Bytes: r.Allocated,
			Parts: []proto.StepPart{{Name: "weights", Kind: proto.PartStates, Bytes: r.Allocated}}}}
	}
	r.Done, r.Total = 5, 5
	s.Update(state.StepAnswered{ID: e.ID, Stepped: &r, Whole: true})
	return &Answer{S: s}
}

// pipelined returns args with two pipeline ranks, which no strategy plans.
func pipelined(args engine.Args) engine.Args {
	return ask.With(ask.With(args, "gpus", "2"), "pp", "2")
}

// TestStepVerdicts checks the kind and the sentence of the answer about a step. Only a step that surely fits is
// said to fit, which depends on both ends of the range. The slowdown is part of the sentence only if keeping
// everything was played, too.
func TestStepVerdicts(t *testing.T) {
	const g = engine.GiB
	full := engine.Args{"ckpt": "full"}
	for _, c := range []struct {
		r    proto.Stepped
		args engine.Args
		kind string
		want string
	}{
		{proto.Stepped{Low: 40 * g, High: 40 * g, Context: g, Memory: 80 * g, GPUs: 8}, nil, Fits,
			"Fits: 41 of 80 GiB, no slower. 39 GiB stay free."},
		{proto.Stepped{Low: 40 * g, High: 40 * g, Context: g, Memory: 80 * g, GPUs: 8, Time: 138, Fastest: 100,
			Ranks: make([]proto.StepRank, 2), Idle: 0.34}, nil, Fits,
			"Fits: 41 of 80 GiB on rank 0, the fullest, 38 % slower than in the fastest order; ranks wait 34 % of the time. 39 GiB stay free."},
		{proto.Stepped{Low: 40 * g, High: 40 * g, Context: g, Memory: 80 * g, GPUs: 8, Experts: true}, nil, Fits,
			"Fits: 41 of 80 GiB, no slower. Unsure: how busy the experts are."},
		{proto.Stepped{Low: 70 * g, High: 78 * g, Context: g, Memory: 80 * g, GPUs: 1}, full, Should,
			"Should fit: 71 to 79 of 80 GiB. Unsure: PyTorch’s allocator."},
		{proto.Stepped{Low: 76 * g, High: 84 * g, Context: g, Memory: 80 * g, GPUs: 1, Time: 130,
			Policies: []proto.StepChange{{Args: pipelined(nil), Allocated: 99 * g, Time: 100}}}, full, MayNot,
			"May not fit: 77 to 85 of 80 GiB, 30 % slower than if everything fitted. Unsure: PyTorch’s allocator."},
		{proto.Stepped{Low: 90 * g, High: 99 * g, Context: g, Memory: 80 * g, GPUs: 1}, full, DoesNot,
			"Does not fit: 91 to 100 GiB needed, one H100 has 80 GiB."},
		{proto.Stepped{Low: 150 * g, High: 160 * g, States: 120 * g, Context: g, Memory: 80 * g, GPUs: 2}, full,
			DoesNot,
			"Does not fit: weights, gradients and optimizer alone need 120 GiB; each H100 has 80 GiB."},
	} {
		a := told(t, c.r, c.args)
		if got := strings.TrimSpace(a.Word() + a.Sentence() + " " + a.Unsure()); a.Kind() != c.kind || got != c.want {
			t.Errorf("%+v:\ngot  %s: %s\nwant %s: %s", c.r, a.Kind(), got, c.kind, c.want)
		}
	}
	s, e := pagetest.AskStep(t, "gpt2", nil)
	if a := (&Answer{S: s}); a.Kind() != Working || a.Sentence() != wordsBusy {
		t.Errorf("before an answer: %s, %q; want that it is being played", a.Kind(), a.Sentence())
	}
	s.Update(state.StepFailed{ID: e.ID, Text: "3 cards do not divide"})
	if a := (&Answer{S: s}); a.Kind() != None || a.Word()+a.Sentence() != "No answer: 3 cards do not divide." {
		t.Errorf("refused: %s, %s; want that there is no answer, and why", a.Kind(), a.Word()+a.Sentence())
	}
}

// TestStepSubOfStates checks what is said of a step whose states alone are too much: the memory with all activations is
// that without its policy, and is left out if that was not played.
func TestStepSubOfStates(t *testing.T) {
	const g = engine.GiB
	r := proto.Stepped{Low: 150 * g, High: 160 * g, States: 120 * g, Context: g, Memory: 80 * g, GPUs: 1,
		Phases: []proto.StepPhase{{Name: "forward"}}}
	kept := []proto.StepChange{{Args: pipelined(nil), Allocated: 190 * g, High: 200 * g}}
	for _, c := range []struct {
		args     engine.Args
		policies []proto.StepChange
		want     string
	}{
		{nil, nil, wordsNoPlan + " With all activations the step needs 161 GiB."},
		{engine.Args{"ckpt": "full"}, nil, wordsNoPlan},
		{engine.Args{"ckpt": "full"}, kept, wordsNoPlan + " With all activations the step needs 201 GiB."},
	} {
		s, e := pagetest.AskStep(t, "llama3-8b", pipelined(c.args))
		r := r
		r.Policies = c.policies
		s.Update(state.StepAnswered{ID: e.ID, Stepped: &r, Whole: true})
		if got := (&Answer{S: s}).Sub(); got != c.want {
			t.Errorf("%v with %d policies: %q; want %q", c.args, len(c.policies), got, c.want)
		}
	}
}

// TestStepBar checks that the pieces of a step's bar are all that it needs, and that the part that exceeds the
// card lies over the last pieces.
func TestStepBar(t *testing.T) {
	const g = engine.GiB
	a := told(t, proto.Stepped{Allocated: 40 * g, Low: 45 * g, High: 46 * g, Context: 2 * g, Memory: 43 * g, GPUs: 1},
		engine.Args{"ckpt": "full"})
	var got []string
	for _, part := range a.Parts() {
		got = append(got, part.Label+" "+part.Style)
	}
	want := []string{"weights 40 GiB left:0%;width:80%", "allocator 5 GiB left:80%;width:10%",
		"allocator, at worst 1 GiB left:90%;width:2%",
		"CUDA 2 GiB left:92%;width:4%", "5 GiB too much left:86%;width:10%"}
	if !slices.Equal(got, want) {
		t.Errorf("parts\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if marks := a.Marks(); len(marks) != 1 || marks[0].Label != "one H100 has 43 GiB" || marks[0].Style != "left:86%" {
		t.Errorf("marks %+v; want that of the card alone: there is no room for more", marks)
	}
}

// TestStepWork checks that any work under way can be stopped, and that the answer says if it was stopped.
func TestStepWork(t *testing.T) {
	for name, c := range map[string]struct {
		then        func(*state.State, int)
		work, ended string
	}{
		"at work": {func(*state.State, int) {}, wordsMoreWork, ""},
		"ended at its limit": {func(s *state.State, id int) {
			s.Update(state.StepAnswered{ID: id, Stepped: &proto.Stepped{Phases: []proto.StepPhase{{Name: "forward"}}}})
			s.Update(state.StepFailed{ID: id})
		}, "", wordsLimit},
		"at its limit, without a verdict": {func(s *state.State, id int) { s.Update(state.StepFailed{ID: id}) }, wordsMoreWork, ""},
		"stopped by a person":             {func(s *state.State, id int) { s.Update(state.Stop{}) }, "", wordsStopped},
		"whole": {func(s *state.State, id int) {
			s.Update(state.StepAnswered{ID: id, Stepped: &proto.Stepped{Phases: []proto.StepPhase{{Name: "forward"}}},
				Whole: true})
		}, "", ""},
	} {
		s, e := pagetest.AskStep(t, "gpt2", nil)
		if c.then(s, e.ID); Work(s) != c.work || Ended(s) != c.ended {
			t.Errorf("%s: it says %q and %q; want %q and %q", name, Work(s), Ended(s), c.work, c.ended)
		}
	}
}
