package state

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/lookup"
	"memtide/web/tell"
)

// asking returns a page that has asked what would help, and the effect of that.
func asking(t *testing.T) (*player, Question) {
	t.Helper()
	p := shown(t)
	if p.Answers() != nil {
		t.Fatal("it has an answer before it was asked")
	}
	p.play(StartQuestion{})
	return p, last[Question](t, p)
}

// variant returns an answer with a step of ms milliseconds, or without a schedule if ms is 0.
func variant(e Question, strategy string, ms int, budget engine.Bytes) Answered {
	a := proto.Suggestion{Name: strategy, Strategy: strategy, Budget: budget,
		StepTime: time.Duration(ms) * time.Millisecond, Done: 1, Total: 3}
	if ms == 0 {
		a.Failure = proto.Fail(proto.Infeasible, "too small")
	}
	return Answered{e.ID, a}
}

func TestAskWhatHelps(t *testing.T) {
	p, e := asking(t)
	q := e.Request
	if q.Budget.Bytes != p.Budget() || q.Strategy != "testremat" || q.Limit <= 0 {
		t.Errorf("asks %+v; want what helps the chosen strategy in its budget, with a limit for each schedule", q)
	}
	for _, m := range q.Methods {
		if m.Strategy == p.Choice.Strategy {
			t.Error("the chosen strategy is among the others")
		}
	}
	more := variant(e, "testremat", 11, p.Budget()+engine.GiB)
	p.play(variant(e, "testoffload", 0, p.Budget()), variant(e, "testshare", 15, p.Budget()), more)
	a := p.Answers()
	if a == nil || a.Base != 12*time.Millisecond || a.KeepAll != 10*time.Millisecond || a.Done != 1 || a.Total != 3 ||
		a.Complete() {
		t.Fatalf("asked %+v; want the step times of now, 12 ms, and of keeping everything, 10 ms, and the question at work", a)
	}
	p.play(QuestionEnded{ID: e.ID})
	if !a.Complete() {
		t.Error("all answers are there, but the question is not complete")
	}
	p.play(UseAnswer{0})
	if len(p.effects) != 0 {
		t.Errorf("an answer without a schedule does %s; want nothing", names(p.effects))
	}
	p.play(UseAnswer{2})
	if want := (choice.Budget{Bytes: more.Answer.Budget}); p.Choice.Budget != want || p.Choice.Strategy != "testremat" {
		t.Errorf("using 1 GiB more chooses %+v; want %v and the same strategy", p.Choice, want)
	}
	last[WriteURL](t, p)
	if p.Answers() != nil {
		t.Error("the answers about another budget stay")
	}
	p.play(answer(last[Solve](t, p), 11), SetBudget{Share: 60 * choice.Percent, Settled: true})
	if p.Answers() != a {
		t.Error("back at the budget that was asked about, its answers are gone")
	}
}

// TestUseLinkOfAnswer checks that UseAnswer sets the link of an answer exactly, and that the card stays.
func TestUseLinkOfAnswer(t *testing.T) {
	p, e := asking(t)
	p.Choice.Device = "some-device"
	x := variant(e, "testoffload", 5, p.Budget())
	x.Answer.Device = &engine.Device{ToHost: 2e9, ToDev: 2e9, Duplex: engine.FullDuplex}
	budget := p.Choice.Budget
	p.play(x, UseAnswer{0})
	if c := p.Choice; c.Device != "some-device" || c.ToHost != 2e9 || c.ToDev != 2e9 || c.Duplex != engine.FullDuplex ||
		c.Strategy != "testoffload" || c.Budget != budget {
		t.Errorf("choice %+v; want the link and the strategy of the answer, and the card and the budget as they were", c)
	}
	if !slices.Contains(p.effects, Effect(Cancel{e.ID})) {
		t.Errorf("effects %s; want the question, which is about something else now, given up", names(p.effects))
	}
}

func TestStopAsking(t *testing.T) {
	p, e := asking(t)
	p.play(variant(e, "testshare", 9, p.Budget()), StopQuestion{})
	a := p.Answers()
	if !reflect.DeepEqual(p.effects, []Effect{Cancel{e.ID}}) || a == nil || !a.Stopped || len(a.List) != 1 {
		t.Fatalf("effects %s, asked %+v; want it cancelled, and what was known kept", names(p.effects), a)
	}
	p.play(variant(e, "testoffload", 9, p.Budget()))
	if len(a.List) != 1 {
		t.Error("an answer that came late is taken")
	}
	p.play(StartQuestion{})
	again := last[Question](t, p)
	if a := p.Answers(); again.ID == e.ID || a == nil || len(a.List) != 1 ||
		a.List[0].Strategy != "testshare" ||
		slices.ContainsFunc(again.Request.Methods, func(m proto.Method) bool { return m.Strategy == "testshare" }) {
		t.Errorf("asked again: %+v, answers %+v; want it to begin again, and what was found of testshare not asked twice", again.Request.Methods, a)
	}
	p.play(QuestionEnded{ID: p.Answers().ID, Failed: "It crashed."})
	if a := p.Answers(); a.Failed != "It crashed." || a.Complete() {
		t.Errorf("asked %+v; want why it failed", a)
	}
	p.play(PickPreset{"other-b8"})
	p.play(opened(last[Open](t, p).ID, chain("other")))
	if p.Answers() != nil {
		t.Error("answers about another network stay")
	}
}

// TestUseOtherStep checks that an answer about another step of the network opens that step, in the budget of the
// answer.
func TestUseOtherStep(t *testing.T) {
	p, e := asking(t)
	if e.Request.Budget.Bytes != p.Budget() {
		t.Errorf("asks in %v; want %d bytes: a share is another amount of every network", e.Request.Budget, p.Budget())
	}
	x := variant(e, "testremat", 30, p.Budget())
	x.Answer.Preset = "resnet50-b19"
	p.play(x, QuestionEnded{ID: e.ID}, UseAnswer{0})
	if c := p.Opening.Choice; last[Open](t, p).Request.Preset != "resnet50-b19" || c.Strategy != "testremat" ||
		c.Budget.Bytes != x.Answer.Budget {
		t.Errorf("opens %+v; want the network of the answer with its strategy and budget", c)
	}
}

func TestLayerTable(t *testing.T) {
	p := shown(t)
	if len(p.LayerRows()) != 0 {
		t.Error("the table has rows while it is closed")
	}
	p.play(ToggleLayers, StepLayer{By: 1})
	if n := len(p.LayerRows()); n != 4 || p.LayerRow() != 0 ||
		p.View.Selected != (lookup.Target{Kind: lookup.OnStage, Index: 1}) {
		t.Fatalf("%d rows, row %d, selected %+v; want 4, and the first selected", n, p.LayerRow(), p.View.Selected)
	}
	p.play(StepLayer{By: -5}, StepLayer{By: 2})
	if p.View.Selected.Index != 3 {
		t.Errorf("stage %d is selected; want 3", p.View.Selected.Index)
	}
	p.play(SortLayers{tell.LayerNumber})
	if !p.View.Layers.Down || p.LayerRows()[0].Stage != 4 {
		t.Errorf("sorted again by number the first is %d; want 4", p.LayerRows()[0].Stage)
	}
	p.play(SortLayers{tell.LayerForward})
	if l := p.View.Layers; !l.Down || l.By != tell.LayerForward {
		t.Errorf("sorted by %+v; want the largest times first", l)
	}
	p.play(FindLayers{"no such layer"})
	if len(p.LayerRows()) != 0 {
		t.Errorf("%d rows contain what none does", len(p.LayerRows()))
	}
	dom := p.DOM
	p.play(FindLayers{"3"}, ScrollLayers{0})
	if n := len(p.LayerRows()); n != 1 || p.LayerRows()[0].Stage != 3 {
		t.Errorf("%d rows contain 3; want stage 3", n)
	}
	if p.DOM != dom+1 {
		t.Error("scrolling draws the page again")
	}
	p.play(ToggleChain)
	if !p.View.Chain {
		t.Error("the critical chain is not shown")
	}
}
