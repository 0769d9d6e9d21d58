package state

import (
	"memtide/web/link"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// stepOf returns the choice of a whole step of a model, as it is in a link.
func stepOf(model string, args engine.Args) Choice {
	c := choice.Default()
	c.Step, c.StepArgs = model, args
	return c
}

// alone is an option of a step that no strategy can plan, so that the step is not opened as a network.
var alone = engine.Args{"gpus": "2", "pp": "2"}

// stepped returns a page that shows the complete answer about a step.
func stepped(t *testing.T) *player {
	t.Helper()
	p := &player{State: New()}
	p.play(Start{Choice: stepOf("llama3-8b", alone)})
	id := last[AskStep](t, p).ID
	p.play(StepAnswered{ID: id, Stepped: &proto.Stepped{High: 1}})
	if p.Step == nil || p.Step.Shown == nil || p.Phase() != "solving" {
		t.Fatalf("after a part of the answer: %+v, phase %s; want it shown, solving", p.Step, p.Phase())
	}
	painted := p.Paint
	defer func() {
		if p.Paint == painted {
			t.Error("the whole answer does not have the picture of the ranks painted again")
		}
	}()
	p.play(StepAnswered{ID: id, Whole: true, Stepped: &proto.Stepped{High: 2,
		Changes:  []proto.StepChange{{Args: engine.Args{"gpus": "2", "pp": "2", "loss": "chunked"}}},
		Policies: []proto.StepChange{{Names: []string{"full"}, Args: engine.Args{"gpus": "2", "pp": "2", "ckpt": "full"}}},
		Fixes:    []proto.StepChange{{Args: engine.Args{"gpus": "8", "pp": "2"}}}}})
	if p.Step.Shown.High != 2 || p.Phase() != "ready" || p.Late() {
		t.Fatalf("after the whole answer: %+v, phase %s, late %v; want it shown, ready", p.Step.Shown, p.Phase(),
			p.Late())
	}
	return p
}

// TestChangeStep checks that the page asks about a new choice and keeps showing the previous answer. It does not
// ask again about a choice whose answer is known, and ignores answers about other choices.
func TestChangeStep(t *testing.T) {
	p := stepped(t)
	if got, want := names(p.play(SetOption{"gpus", "8"})), "WriteURL push, AskStep"; got != want {
		t.Errorf("eight cards: effects %s; want %s", got, want)
	}
	ask := last[AskStep](t, p)
	if ask.Request.Args["gpus"] != "8" || !p.Late() || p.Step.Shown.High != 2 {
		t.Errorf("asked for %v, late %v, shown %+v; want eight cards, and the answer before stays", ask.Request.Args,
			p.Late(), p.Step.Shown)
	}
	if got, want := names(p.play(SetOption{"gpus", "4"})), "WriteURL push, Cancel, AskStep"; got != want {
		t.Errorf("four instead: effects %s; want %s", got, want)
	}
	p.play(StepAnswered{ID: ask.ID, Stepped: &proto.Stepped{High: 8}, Whole: true})
	if p.Step.Shown.High != 2 {
		t.Errorf("the late answer is shown: %+v", p.Step.Shown)
	}
	if got, want := names(p.play(Navigate{Choice: stepOf("llama3-8b", alone)})), "Cancel"; got != want || p.Late() ||
		p.Phase() != "ready" {
		t.Errorf("back: effects %s, late %v, %s; want %s and the answer that was there", got, p.Late(), p.Phase(), want)
	}
	if got := names(p.play(SetOption{"colour", "red"})); got != "" {
		t.Errorf("something that no step has: effects %s; want none", got)
	}
}

// TestUseChange checks that UseChange sets all options of a change.
func TestUseChange(t *testing.T) {
	for _, c := range []struct {
		m    UseChange
		want string
	}{{UseChange{0, SingleChanges}, "llama3-8b,gpus=2,loss=chunked,pp=2"},
		{UseChange{0, FixingChanges}, "llama3-8b,gpus=8,pp=2"},
		{UseChange{0, PolicyChanges}, "llama3-8b,ckpt=full,gpus=2,pp=2"}, {UseChange{3, FixingChanges}, "llama3-8b,gpus=2,pp=2"}} {
		p := stepped(t)
		p.play(c.m)
		if got := p.Choice.StepKey(); got != c.want {
			t.Errorf("%+v: %s; want %s", c.m, got, c.want)
		}
	}
}

// TestStepRefused checks that a refusal replaces the verdict and does not change the controls.
func TestStepRefused(t *testing.T) {
	p := stepped(t)
	p.play(SetOption{"tp", "3"})
	p.play(StepFailed{ID: last[AskStep](t, p).ID, Text: "1 cards do not divide among 3 ranks"})
	if !strings.Contains(p.Step.Failed, "3 ranks") || p.Phase() != "error" || p.Choice.StepArgs["tp"] != "3" {
		t.Errorf("failed %q, phase %s, args %v; want what is wrong, and what was chosen", p.Step.Failed, p.Phase(),
			p.Choice.StepArgs)
	}
	p.play(SetOption{"tp", "1"})
	if p.Step.Failed != "" || p.Phase() != "ready" {
		t.Errorf("undone: %q, %s; want the answer again", p.Step.Failed, p.Phase())
	}
}

// TestStepOfPictures checks that PickStep gives a diffusion model a usual size of what it makes.
func TestStepOfPictures(t *testing.T) {
	p := shown(t)
	for _, c := range []struct{ model, frames, height, width string }{
		{"wan2.1-14b", "81", "480", "832"},
		{"flux1-dev", "", "512", "512"},
		{"hunyuanvideo", "81", "480", "832"},
	} {
		p.play(PickStep{c.model})
		o := p.Opening
		if o == nil || o.Choice.Source.Model != c.model || o.Choice.Source.Options["seq"] != "" ||
			o.Choice.Source.Options["frames"] != c.frames || o.Choice.Source.Options["height"] != c.height ||
			o.Choice.Source.Options["width"] != c.width {
			t.Errorf("%s opens %+v; want %q frames of %s x %s and no number of tokens", c.model, o, c.frames, c.height,
				c.width)
		}
	}
}

// TestStepInstead checks that opening a step closes the network, and vice versa, and that the device stays.
func TestStepInstead(t *testing.T) {
	p := shown(t)
	p.play(Navigate{Choice: stepOf("llama3-8b", engine.Args{"gpus": "8", "pp": "8"})})
	if p.Network != nil || p.Shown != nil || p.Step == nil {
		t.Errorf("a step: network %v, step %+v; want the step alone", p.Network, p.Step)
	}
	p.play(StepAnswered{ID: last[AskStep](t, p).ID, Stepped: &proto.Stepped{}})
	p.play(Navigate{Choice: chosen("net-b8")})
	if p.Step == nil {
		t.Error("the step is gone while the network is being read; want that it stays")
	}
	if got := names(p.play(opened(last[Open](t, p).ID, chain("net")))); p.Step != nil || p.Choice.Step != "" ||
		!strings.HasPrefix(got, "Cancel, ") {
		t.Errorf("the network: step %+v, %q, effects %s; want none, and what was under way given up", p.Step,
			p.Choice.Step, got)
	}
}

// TestPlannedStep checks that a step of a known model opens as a network, for a strategy to plan it: in a link and by
// a control with everything kept, from the list of models with the plan that fits best. A pipeline stays by itself.
func TestPlannedStep(t *testing.T) {
	link := func(args engine.Args) Message { return Start{Choice: stepOf("llama3-8b", args)} }
	for _, c := range []struct {
		what   string
		m      Message
		preset string // "" if the step stays by itself
		plan   string
	}{
		{"a link", link(nil), "llama3-8b-step-b1", engine.KeepAll},
		{"on eight cards", link(engine.Args{"gpus": "8", "seq": "4096", "device": "a100-sxm-80gb"}),
			"llama3-8b-step-4096tok-gpus.8-on-a100-sxm-80gb-b1", engine.KeepAll},
		{"a policy", link(engine.Args{"ckpt": "full"}), "llama3-8b-step-b1", engine.KeepAll},
		{"one graph", link(engine.Args{"ckpt": "budget", "graph": "model", "compile": "yes"}), "", ""},
		{"a pipeline", link(engine.Args{"gpus": "8", "pp": "8"}), "", ""},
		{"an engine for rollouts", link(engine.Args{"objective": "grpo", "rollout": "24"}),
			"llama3-8b-step-objective.grpo-rollout.24-b1", engine.KeepAll},
		{"swapped blocks", link(engine.Args{"lora": "16", "swap-blocks": "8"}), "llama3-8b-step-lora.16-b1", engine.KeepAll},
		{"more tokens than positions", Start{Choice: stepOf("gpt2", engine.Args{"seq": "2048"})}, "", ""},
		{"the list", PickStep{"gpt2"}, "gpt2-step-b1", choice.DefaultStrategy},
	} {
		p := &player{State: New()}
		p.play(c.m)
		if c.preset == "" {
			if p.Step == nil || p.Opening != nil {
				t.Errorf("%s: step %+v, opening %+v; want the step by itself", c.what, p.Step, p.Opening)
			}
			continue
		}
		o := p.Opening
		if p.Step != nil || o == nil || o.Choice.Source.Preset != c.preset || o.Choice.Strategy != c.plan ||
			!o.Choice.Roomy() {
			t.Errorf("%s: step %+v, opening %+v; want %s by %s in the room of the card", c.what, p.Step, o, c.preset,
				c.plan)
		}
	}
	p := stepped(t) // "no checkpointing" instead of what no strategy plans
	p.play(SetOption{"pp", "1"})
	if o := p.Opening; o == nil || o.Choice.Source.Preset != "llama3-8b-step-gpus.2-b1" ||
		o.Choice.Strategy != choice.DefaultStrategy || p.Step == nil {
		t.Errorf("a control: opening %+v, step %+v; want the network, and the step until it is read", o, p.Step)
	}
}

// TestExploreStep checks that ExploreStep opens the step as a network on its card, without what no strategy plans: a
// known model by its preset, another one by itself.
func TestExploreStep(t *testing.T) {
	p := stepped(t)
	p.play(ExploreStep{})
	if e := last[Open](t, p); e.Request.Preset != "llama3-8b-step-gpus.2-b1" || p.Opening.Choice.Device != "h100" {
		t.Errorf("opens %+v on %q; want the preset on its card", e.Request, p.Opening.Choice.Device)
	}
	p = &player{State: New()}
	p.play(Start{Choice: stepOf("flux1-dev", engine.Args{"height": "512", "width": "512", "device": "l40s",
		"lora": "16", "swap-blocks": "8"})})
	p.play(StepAnswered{ID: last[AskStep](t, p).ID, Stepped: &proto.Stepped{High: 1}, Whole: true})
	p.play(ExploreStep{})
	if e := last[Open](t, p).Request; e.Model != "flux1-dev" || e.Options["swap-blocks"] != "" ||
		e.Options["height"] != "512" || e.File != "Flux.1 dev" || p.Opening.Choice.Device != "l40s" {
		t.Errorf("opens %+v on %q; want the model without its swap, on its card", e, p.Opening.Choice.Device)
	}
}

// TestConfigInStep checks that the link contains only the part of a config.json that was read.
func TestConfigInStep(t *testing.T) {
	p := &player{State: New()}
	p.play(Start{Choice: stepOf(`{"a": 1, "b": 2}`, nil)})
	if got, want := names(p.play(StepAnswered{ID: last[AskStep](t, p).ID,
		Stepped: &proto.Stepped{Config: `{"a":1}`}})), "WriteURL replace"; got != want ||
		p.Choice.Step != `{"a":1}` || p.Late() {
		t.Errorf("effects %s, step %s; want %s and what was understood", got, p.Choice.Step, want)
	}
}

// TestStepLimits checks that an answer for an address has a time limit and, in a view, only the first three
// stages. An answer that the user asks for has no limit.
func TestStepLimits(t *testing.T) {
	for _, c := range []struct {
		what  string
		embed bool
		then  []Message
		limit time.Duration
		parts int
	}{
		{"a link", false, nil, pageLimit, 0},
		{"a link in a view", true, nil, viewLimit, 3},
		{"another link", false, []Message{Navigate{Choice: stepOf("gpt2", alone)}}, pageLimit, 0},
		{"a control", false, []Message{SetOption{"gpus", "8"}}, 0, 0},
		{"the list of models", false, []Message{PickStep{"flux1-dev"}}, 0, 0},
	} {
		p := &player{State: New()}
		p.play(Start{Choice: stepOf("llama3-8b", alone), Look: link.Look{Frame: link.Frame{Embed: c.embed}}})
		for _, m := range c.then {
			if got := names(p.play(GoOn{})); got != "" {
				t.Errorf("%s, going on before the end: effects %s; want none", c.what, got)
			}
			p.play(m)
		}
		if got := last[AskStep](t, p).Request; got.Limit != c.limit || got.Parts != c.parts {
			t.Errorf("%s: a limit of %v, %d parts; want %v, %d", c.what, got.Limit, got.Parts, c.limit, c.parts)
		}
	}
}

// TestEndStep checks that an answer that was ended by its time limit or by the user stays as far as it is known,
// and that GoOn asks for it without a limit.
func TestEndStep(t *testing.T) {
	for _, c := range []struct {
		what    string
		known   bool
		person  bool
		effects string
		by      Ended
		phase   string
	}{
		{"the limit, after the verdict", true, false, "", ByLimit, "ready"},
		{"the second limit, before anything", false, false, "", ByLimit, "error"},
		{"a person, after the verdict", true, true, "Cancel", ByPerson, "ready"},
		{"a person, before anything", false, true, "Cancel", ByPerson, "error"},
	} {
		p := &player{State: New()}
		p.play(Start{Choice: stepOf("llama3-8b", alone)})
		id := last[AskStep](t, p).ID
		if c.known {
			p.play(StepAnswered{ID: id, Stepped: &proto.Stepped{High: 1, Done: 1, Total: 7}})
		}
		if !c.known && !c.person {
			if got := names(p.play(StepFailed{ID: id})); got != "AskStep" || last[AskStep](t, p).Request.Limit != verdictLimit {
				t.Errorf("the first limit, before anything: effects %q, limit %v; want that it is asked for with more time",
					got, last[AskStep](t, p).Request.Limit)
			}
			id = last[AskStep](t, p).ID
		}
		var m Message = StepFailed{ID: id}
		if c.person {
			m = Stop{}
		}
		if got := names(p.play(m)); got != c.effects || p.Step.Ended != c.by || p.Phase() != c.phase ||
			(p.Step.Shown != nil) != c.known || (p.Step.Failed == "") != c.known {
			t.Errorf("%s: effects %q, ended %v, %s, shown %v, failed %q; want %q, %v, %s, shown: %v", c.what, got,
				p.Step.Ended, p.Phase(), p.Step.Shown, p.Step.Failed, c.effects, c.by, c.phase, c.known)
		}
		p.play(StepFailed{ID: id}) // a late message about a request that has ended
		if got := names(p.play(GoOn{})); got != "AskStep" || last[AskStep](t, p).Request.Limit != 0 ||
			p.Step.Ended != NotEnded || p.Step.Failed != "" || p.Phase() != "solving" {
			t.Errorf("%s, going on: effects %q, limit %v, ended %v, failed %q, %s; want that it is asked for without a limit", c.what, got, last[AskStep](t, p).Request.Limit, p.Step.Ended, p.Step.Failed, p.Phase())
		}
		p.play(StepFailed{ID: id})
		if !p.Step.Busy() {
			t.Errorf("%s: the end of the first request ends the second one", c.what)
		}
	}
}
