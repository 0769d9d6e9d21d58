package state

import (
	"maps"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/link"
	"memtide/web/tradeoff"
)

// policed returns a page that shows a plan of a preset on a card, with a complete curve.
func policed(t *testing.T, ref, device string) *player {
	t.Helper()
	c := choice.Default().On(card.Lookup(device))
	c.Source.Preset = ref
	p := &player{State: New()}
	p.play(Start{Choice: c, Look: link.Look{Lines: []string{tradeoff.AllLines}}})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	p.play(answer(last[Solve](t, p), 12))
	e := last[Sweep](t, p)
	if p.Awaited() { // everything fits
		p.play(Policed{ID: last[AskStep](t, p).ID, Stepped: &proto.Stepped{}})
	}
	for m := range e.Request.Methods {
		for i := range e.Request.Budgets {
			p.play(point(e, m, i, 20))
		}
	}
	p.play(Swept{ID: e.ID, KeepAll: proto.Reference{StepTime: 10 * time.Millisecond, Peak: 9 * engine.GiB}})
	return p
}

// asks reports whether the last effects ask for policies.
func asks(p *player) bool {
	for _, e := range p.effects {
		if a, ok := e.(AskStep); ok && a.Request.Policies {
			return true
		}
	}
	return false
}

// TestPoliciesAreAskedOnce checks that the policies of a language model's step are asked for when its curve is
// complete, with its options and a time limit, once for each case. They are not asked for other networks, nor if
// the step has no option for the precision or the efficiency of the network.
func TestPoliciesAreAskedOnce(t *testing.T) {
	p := policed(t, "llama3.2-1b-step-4096tok-lora.8-on-rtx-4090-b2", "rtx-4090")
	if !asks(p) {
		t.Fatalf("effects %s; want that policies are asked for", names(p.effects))
	}
	if got := p.KeepingAll(); got != 0 {
		t.Errorf("before that keeping everything needs %d; want 0, it is not known", got)
	}
	view := policed(t, "llama3.2-1b-step-4096tok-lora.8-on-rtx-4090-b2", "rtx-4090")
	view.View.Frame.Embed = true
	if q, ok := view.policiesQuestion(); !ok || !q.Policies || q.Parts != 1 {
		t.Errorf("a view asks for %+v; want the range of the step alone", q)
	}
	e := last[AskStep](t, p)
	want := engine.Args{"batch": "2", "seq": "4096", "lora": "8", "device": "rtx-4090"}
	if got := e.Request; choice.MethodKey(got.Model, got.Args) != choice.MethodKey("llama3.2-1b", want) ||
		got.Limit <= 0 {
		t.Errorf("asks %+v; want llama3.2-1b with %v, and a limit", got, want)
	}
	high := func(n engine.Bytes) proto.StepChange {
		return proto.StepChange{Names: []string{"x"}, Args: under(e, engine.Args{"ckpt": "full"}), Low: n, High: n, Time: time.Second}
	}
	unsure := high(30 * engine.GiB)
	unsure.Low, unsure.Time = 20*engine.GiB, time.Minute
	p.play(Policed{ID: e.ID, Stepped: &proto.Stepped{Context: engine.GiB, Time: 100, TimeLow: 150, TimeHigh: 300,
		Low: 38 * engine.GiB, High: 39 * engine.GiB,
		Policies: []proto.StepChange{high(40 * engine.GiB), high(20 * engine.GiB), high(20 * engine.GiB),
			high(30 * engine.GiB), unsure}}})
	list := p.Policies()
	if len(list) == 3 && (list[0].Unsure || list[1].Unsure || !list[2].Unsure) {
		t.Errorf("policies %+v; want that the third alone fits or not", list)
	}
	if len(list) != 3 || list[0].Lacks != 0 || list[0].Index != 1 ||
		list[1].Lacks != 31*engine.GiB-card.Lookup("rtx-4090").Memory || p.KeepingAll() != 40*engine.GiB {
		t.Errorf("policies %+v, keeping everything %d; want three, of which the second lacks what 31 GiB are above the card, and 40 GiB, those of the step itself", list, p.KeepingAll())
	}
	if low, high := p.TimeRange(200); low != 300 || high != 600 {
		t.Errorf("a plan of 200 ns is measured from %d to %d; want 300 to 600, as the step", low, high)
	}
	if p.play(SetBudget{Bytes: 10 * engine.GiB, Settled: true}); asks(p) {
		t.Error("another budget asks again; want what is known")
	}
	if got := p.Policies(); len(got) != 3 || got[0].Lacks <= 0 || got[2].Unsure {
		t.Errorf("in 10 GiB the policies are %+v; want that none fits", got)
	}
	if p.play(OpenPolicy{1}); p.Choice.Policy["ckpt"] != "full" || p.Choice.Step != "" {
		t.Errorf("chosen: %v of %q; want full checkpointing of what is open", p.Choice.Policy, p.Choice.Step)
	}
	for _, ref := range []string{"resnet50-b32", "llama3.2-1b-step-f32-on-rtx-4090-b1",
		"llama3.2-1b-step-40pct-on-rtx-4090-b1"} {
		p := policed(t, ref, "rtx-4090")
		if asks(p) {
			t.Errorf("%s: policies are asked for", ref)
		}
		if got, want := p.KeepingAll(), p.Choice.Reserved(p.Network.Totals.KeepAllPeak); got != want {
			t.Errorf("%s: keeping everything needs %d; want %d, by the peak", ref, got, want)
		}
	}
}

// TestRangeComesFirst checks that of a step that keeps everything, chosen or as a plan for which everything fits, the
// range is asked for as soon as it is shown, before its curve, since the verdict is that range, and the policies when
// nothing else is under way.
func TestRangeComesFirst(t *testing.T) {
	for _, method := range []string{engine.KeepAll, "pofo"} {
		c := choice.Default().On(card.Lookup("rtx-4090"))
		c.Source.Preset = "llama3.2-1b-step-4096tok-lora.8-on-rtx-4090-b2"
		p := &player{State: New()}
		p.play(Start{Choice: c.By(method, nil)})
		p.play(opened(last[Open](t, p).ID, chain("net")))
		p.play(answer(last[Solve](t, p), 12))
		e := last[AskStep](t, p)
		if !p.Awaited() || e.Request.Parts != 1 || p.KeepingAll() != 0 {
			t.Fatalf("%s: asks %+v, awaited %t, %d; want the range of the step", method, e.Request, p.Awaited(),
				p.KeepingAll())
		}
		p.play(Policed{ID: e.ID, Stepped: &proto.Stepped{Low: 8 * engine.GiB, High: 9 * engine.GiB, Context: engine.GiB}})
		if low, high, _ := p.Kept(); p.Awaited() || low != 8*engine.GiB || high != 9*engine.GiB ||
			p.KeepingAll() != 10*engine.GiB || p.Policies() != nil {
			t.Errorf("%s: awaited %t, from %d to %d, %d, policies %v; want 8 to 9 GiB, and 10 with CUDA", method,
				p.Awaited(), low, high, p.KeepingAll(), p.Policies())
		}
		if q, _ := p.policiesQuestion(); q.Parts != 0 {
			t.Errorf("%s: then %d parts are asked for; want all", method, q.Parts)
		}
	}
}

// TestPickedOptions checks that a model of the list keeps the options of the one before and its card, but of the example
// only the card, and so does a model that only its own code runs.
func TestPickedOptions(t *testing.T) {
	const trained = "llama3.2-1b-step-2048tok-lora.8-on-rtx-4090-b2"
	for _, c := range []struct{ from, model, want string }{
		{trained, "gpt2", "gpt2-step-lora.8-on-rtx-4090-b2"},
		{trained, "qwen3-0.6b", "qwen3-0.6b-step-2048tok-lora.8-on-rtx-4090-b2"},
		{choice.ExamplePreset, "gpt2", "gpt2-step-on-rtx-4090-b1"},
		{trained, "bert-base", "bert-base-step-on-rtx-4090-b1"},
	} {
		p := policed(t, c.from, "rtx-4090")
		if p.play(PickStep{c.model}); p.Opening == nil || p.Opening.Choice.Source.Preset != c.want {
			t.Errorf("%s after %s opens %+v; want %s", c.model, c.from, p.Opening, c.want)
		}
	}
}

// TestPoliciesOfAnotherCard checks that, if the times are those of another card than the chosen one, policies
// that use its link or fill its memory are left out. A policy opens the step on the chosen card, with its times.
func TestPoliciesOfAnotherCard(t *testing.T) {
	p := policed(t, "llama3.2-1b-step-4096tok-on-rtx-4090-b1", "h200-sxm-141gb")
	e := last[AskStep](t, p)
	var list []proto.StepChange
	for i, args := range []engine.Args{{}, {"ckpt": "sac_op"}, {"ckpt": "full", "offload": "yes"}, {"stash": "yes"},
		{"ckpt": "full", "first": "3"}} {
		args["device"] = "rtx-4090"
		list = append(list, proto.StepChange{Names: []string{"x"}, Args: args, High: engine.GiB,
			Time: time.Duration(i + 1)})
	}
	p.play(Policed{ID: e.ID, Stepped: &proto.Stepped{Policies: list}})
	if got := p.Policies(); e.Request.Args["device"] != "rtx-4090" || len(got) != 1 || got[0].Index != 1 {
		t.Errorf("asked for %v, policies %+v; want those of the card of the times, and only what neither moves nor fills", e.Request.Args, got)
	}
	if p.play(OpenPolicy{1}); p.Opening == nil || p.Opening.Choice.Policy["ckpt"] != "sac_op" ||
		!strings.Contains(p.Opening.Choice.Source.Preset, "-on-h200-sxm-141gb-") {
		t.Errorf("opens %+v; want the policy on the card that is chosen", p.Opening)
	}
}

// TestPoliciesGiveWay checks that solving a schedule cancels the request for policies, and that a request that
// failed is not repeated.
func TestPoliciesGiveWay(t *testing.T) {
	p := policed(t, "llama3.2-1b-step-4096tok-on-rtx-4090-b1", "rtx-4090")
	id := last[AskStep](t, p).ID
	if p.play(SetBudget{Bytes: 9 * engine.GiB, Settled: true}); !contains(p.effects, Cancel{id}) {
		t.Errorf("another budget: effects %s; want the request ended", names(p.effects))
	}
	if p.play(answer(last[Solve](t, p), 12)); !asks(p) {
		t.Fatalf("once it is solved: effects %s; want the policies asked for again", names(p.effects))
	}
	if p.play(Policed{ID: last[AskStep](t, p).ID}); asks(p) || len(p.Policies()) > 0 {
		t.Error("without an answer they are asked for again")
	}
}

// under returns the options of the step that e asks about, under a policy.
func under(e AskStep, policy engine.Args) engine.Args {
	out := maps.Clone(e.Request.Args)
	maps.Copy(out, policy)
	return out
}

// TestPolicyAsPlan checks that a policy that says what blocks keep is chosen on the same page, without a budget, and
// undone by a plan; and that one of a model that is compiled as one graph opens the step by itself.
func TestPolicyAsPlan(t *testing.T) {
	p := policed(t, "llama3.2-1b-step-4096tok-on-rtx-4090-b1", "rtx-4090")
	e := last[AskStep](t, p)
	cases := []struct {
		args  engine.Args
		apart bool
	}{
		{engine.Args{"ckpt": "full"}, false}, {engine.Args{"ckpt": "full", "every": "2"}, false},
		{engine.Args{"ckpt": "sac_op", "first": "3"}, false}, {engine.Args{"ckpt": "full", "offload": "yes"}, false},
		{engine.Args{"stash": "yes"}, false}, {engine.Args{"ckpt": "full", "group": "2"}, false},
		{engine.Args{"ckpt": "budget", "graph": "model", "compile": "yes"}, true},
	}
	list := []proto.StepChange{{Names: []string{"nothing"}}}
	for i, c := range cases {
		list = append(list, proto.StepChange{Names: []string{"x"}, Args: under(e, c.args),
			High: 100 * engine.GiB, Time: time.Duration(i + 1)})
	}
	p.play(Policed{ID: e.ID, Stepped: &proto.Stepped{Policies: list}})
	for i, c := range cases {
		row := p.Policies()[i]
		if c.apart {
			alone := *p.State
			if (OpenPolicy{i + 1}).apply(&alone); alone.Choice.Step == "" || !row.Apart {
				t.Errorf("%v opens %+v, row %+v; want the step by itself", c.args, alone.Choice, row)
			}
			continue
		}
		p.play(OpenPolicy{i + 1})
		if p.Choice.PlanName() != format.Capital(ask.Policy(c.args)) || !p.Policies()[i].Chosen || row.Chosen || row.Apart {
			t.Errorf("%v chooses %q, row %+v; want it, chosen", c.args, p.Choice.PlanName(), row)
		}
		q := last[Solve](t, p).Request
		if q.Network.Model != "llama3.2-1b" || q.Network.Options["ckpt"] != c.args["ckpt"] ||
			q.Network.Options["seq"] != "4096" || q.Budget.Bytes != engine.NoLimit {
			t.Errorf("%v asks for %+v in %v; want the step under it, without a budget", c.args, q.Network, q.Budget)
		}
		if p.play(SetOption{"loss", "chunked"}); p.Opening == nil || !maps.Equal(p.Opening.Choice.Policy, p.Choice.Policy) {
			t.Errorf("another loss under %v opens %+v; want the same policy", c.args, p.Opening)
		}
		if p.play(Stop{}, SetStrategy{engine.KeepAll}); p.Choice.Policy != nil || !p.Choice.KeepsAll() {
			t.Errorf("keeping everything after %v: %+v; want no policy", c.args, p.Choice.Policy)
		}
	}
}

// TestKeepingAllMayFit checks that keeping everything, which exceeds the budget that leaves room for what the allocator
// holds at worst, is shown like a plan as soon as it was played and may fit the card, and refused otherwise.
func TestKeepingAllMayFit(t *testing.T) {
	memory := card.Lookup("rtx-4090").Memory
	for low, want := range map[engine.Bytes]bool{memory - engine.GiB: true, memory - engine.GiB + 1: false} {
		c := choice.Default().On(card.Lookup("rtx-4090")).By(engine.KeepAll, nil)
		c.Source.Preset = "llama3.2-1b-step-4096tok-lora.8-on-rtx-4090-b2"
		p := &player{State: New()}
		p.play(Start{Choice: c})
		p.play(opened(last[Open](t, p).ID, chain("net")))
		ask := last[Solve](t, p)
		p.play(SolveFailed{ID: ask.ID, Failure: &proto.Failure{Kind: proto.Infeasible, Budget: p.Budget(), Smallest: p.Budget() + 1}})
		if p.OverBudget == nil {
			t.Fatal("a budget that is too small is not noticed")
		}
		p.play(answer(last[Solve](t, p), 12))
		e := last[AskStep](t, p)
		if !p.Earlier() || !p.Unplayed() || e.Request.Parts != 1 {
			t.Fatalf("earlier %t, unplayed %t, asks %+v; want that the range of the step is awaited", p.Earlier(),
				p.Unplayed(), e.Request)
		}
		p.play(Policed{ID: e.ID, Stepped: &proto.Stepped{Low: low, High: memory, Context: engine.GiB}})
		if got := p.OverBudget == nil; got != want || got != p.Shown.Choice.Equal(p.Choice) || p.Unplayed() {
			t.Errorf("from %d bytes on without CUDA it is taken: %t, shown as chosen: %t; want %t", low, got,
				p.Shown.Choice.Equal(p.Choice), want)
		}
	}
}
