package state

import (
	"fmt"
	"memtide/web/link"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/lookup"
	"memtide/web/tradeoff"
)

func init() {
	if engine.Lookup("testremat") == nil {
		engine.Register(&engine.Strategy{Name: "testremat", Title: "Recompute", Class: engine.MayRecompute,
			Params: []engine.Param{{Name: "segments", Default: "4", Min: 1, Max: 9}}})
		engine.Register(&engine.Strategy{Name: "testoffload", Title: "Offload", Class: engine.MayOffload})
		engine.Describe(&engine.Strategy{Name: "testfar", Title: "Far", Class: engine.MayRecompute, Graphs: true},
			false)
		engine.Describe(&engine.Strategy{Name: "testfarther", Title: "Farther", Class: engine.MayRecompute,
			Graphs: true}, false)
		engine.Register(&engine.Strategy{Name: "testshare", Title: "Recompute, sharing work",
			Class: engine.MayRecompute,
			Sweeper: func(*engine.Problem, engine.Parsed, []engine.Bytes, *engine.Poll,
				func(int, *engine.Solution, error)) {
			}})
	}
}

// chain returns a small network of 4 stages that save 1 GiB each.
func chain(name string) *profiles.Profile {
	c := &engine.Chain{Name: name, Batch: 8, Input: engine.GiB}
	for range 4 {
		c.Stages = append(c.Stages, engine.Stage{Forward: time.Millisecond, Back: 2 * time.Millisecond,
			Out: engine.GiB / 2, Saved: engine.GiB, Grad: engine.GiB / 2})
	}
	return &profiles.Profile{Name: name, Batch: 8, Chain: c}
}

func opened(id int, p *profiles.Profile) Opened {
	r := &proto.Opened{Profile: []byte(`{"name":"` + p.Name + `"}`)}
	if p.Chain == nil {
		r.NoChain = "it branches"
	} else {
		r.Totals = proto.Totals{Stages: 4, KeepAllPeak: 8 * engine.GiB}
	}
	return Opened{ID: id, Reply: r, Profile: p}
}

// answer returns a schedule whose step takes ms milliseconds, with waits of the given lengths in microseconds.
func answer(e Solve, ms int, waits ...int) Solved {
	t := &sim.Trace{Makespan: time.Duration(ms) * time.Millisecond, Peak: engine.GiB}
	at := time.Duration(0)
	for _, w := range waits {
		t.Gaps = append(t.Gaps, sim.Gap{Start: at, End: at + time.Duration(w)*time.Microsecond})
		at += 100 * time.Microsecond
	}
	return Solved{ID: e.ID, Choice: e.Choice, Solved: &proto.Solved{
		Strategy: e.Choice.Strategy, Budget: e.Choice.Budget.Of(8 * engine.GiB), Trace: t,
		KeepAll: proto.Reference{StepTime: 10 * time.Millisecond, Peak: 8 * engine.GiB}}}
}

func chosen(preset string) Choice {
	return Choice{Source: Source{Preset: preset}, ToHost: 1e9, ToDev: 1e9,
		Budget: choice.Budget{Share: 60 * choice.Percent}, Strategy: "testremat"}
}

// player feeds messages to a page and keeps the effects of the last ones.
type player struct {
	*State
	effects []Effect
}

func (p *player) play(messages ...Message) []Effect {
	p.effects = nil
	for _, m := range messages {
		p.effects = append(p.effects, p.Update(m)...)
	}
	return p.effects
}

// last returns the latest effect of type E among those of the last play.
func last[E Effect](t *testing.T, p *player) E {
	t.Helper()
	for _, e := range slices.Backward(p.effects) {
		if e, ok := e.(E); ok {
			return e
		}
	}
	var none E
	t.Fatalf("effects are %s; want one of type %T", names(p.effects), none)
	return none
}

func names(effects []Effect) string {
	var out []string
	for _, e := range effects {
		name := strings.TrimPrefix(fmt.Sprintf("%T", e), "state.")
		if w, ok := e.(WriteURL); ok {
			name += [...]string{" replace", " push", " leave"}[w.History]
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// shown returns a page that shows a schedule of 12 ms and whose curve is being computed.
func shown(t *testing.T) *player {
	t.Helper()
	p := &player{State: New()}
	p.play(Start{Choice: chosen("net-b8"), Look: link.Look{Lines: []string{tradeoff.AllLines}}})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	p.play(answer(last[Solve](t, p), 12))
	if p.Shown == nil || p.Phase() != "ready" {
		t.Fatalf("after start, opened and solved: shown %v, phase %s; want a picture, ready", p.Shown, p.Phase())
	}
	return p
}

func stepTime(p *player) time.Duration {
	if v := p.Visible(); v != nil {
		return v.Solved.Trace.Makespan
	}
	return 0
}

func wantStep(t *testing.T, p *player, ms int, why string) {
	t.Helper()
	if got, want := stepTime(p), time.Duration(ms)*time.Millisecond; got != want {
		t.Errorf("step time shown is %v; want %v: %s", got, want, why)
	}
}

func TestStart(t *testing.T) {
	p := &player{State: New()}
	if got, want := names(p.play(Start{Choice: chosen("net-b8")})), "Open"; got != want {
		t.Errorf("Start: effects %s; want %s", got, want)
	}
	if p.Phase() != "solving" {
		t.Errorf("while opening the phase is %s; want solving", p.Phase())
	}
	if got, want := names(p.play(opened(last[Open](t, p).ID, chain("net")))), "Solve"; got != want {
		t.Errorf("Opened: effects %s; want %s: a link is not rewritten", got, want)
	}
	if got, want := p.Budget(), engine.Bytes(8*engine.GiB)*6/10; got != want {
		t.Errorf("budget %d; want %d, 60 %% of keep all", got, want)
	}
	if got, want := names(p.play(answer(last[Solve](t, p), 12))), "Sweep"; got != want {
		t.Errorf("Solved: effects %s; want %s: the curve starts after the first picture", got, want)
	}
}

func TestStaleAnswers(t *testing.T) {
	p := shown(t)
	p.play(SetBudget{Bytes: 2 * engine.GiB})
	first := last[Solve](t, p)
	p.play(SetBudget{Bytes: 3 * engine.GiB})
	second := last[Solve](t, p)

	p.play(answer(first, 20))
	wantStep(t, p, 20, "an answer on the way of a slider is newer than what was shown")
	p.play(answer(second, 15))
	wantStep(t, p, 15, "the answer that was asked for")
	p.play(answer(first, 20))
	wantStep(t, p, 15, "an older answer that comes late")

	p.play(SetBudget{Bytes: 5 * engine.GiB})
	old := last[Solve](t, p)
	p.play(SetStrategy{"testoffload"})
	p.play(answer(old, 13))
	wantStep(t, p, 15, "an answer of another strategy")
	p.play(SolveFailed{ID: old.ID, Failure: proto.Fail(proto.Crash, "boom")})
	if p.Alert != nil {
		t.Errorf("alert %q after a failure of a request that was given up; want none", p.Alert.Text)
	}

	p.play(PickPreset{"other-b8"})
	p.play(opened(last[Open](t, p).ID, chain("other")))
	p.play(answer(second, 14))
	wantStep(t, p, 15, "an answer about another network")
}

func TestSliderFindsItsWayBack(t *testing.T) {
	p := shown(t)
	p.play(SetBudget{Bytes: 2 * engine.GiB})
	p.play(answer(last[Solve](t, p), 20))
	effects := p.play(SetBudget{Bytes: 8 * engine.GiB * 6 / 10})
	if slices.ContainsFunc(effects, func(e Effect) bool { _, ok := e.(Solve); return ok }) {
		t.Errorf("effects %s; want no Solve for a budget that was solved before", names(effects))
	}
	wantStep(t, p, 12, "from the cache")
}

func TestBadFileKeepsThePage(t *testing.T) {
	p := shown(t)
	before := p.Choice
	effects := p.play(PickFile{Name: "bad.csv", Bytes: []byte("x")})
	if got, want := names(effects), "Open"; got != want {
		t.Fatalf("PickFile: effects %s; want %s", got, want)
	}
	p.play(OpenFailed{last[Open](t, p).ID,
		"line 14: fwd_ms is -3; times cannot be negative\nline 20: x\na\nb\nc\nd\ne"})
	wantStep(t, p, 12, "what was shown stays")
	if !p.Choice.Equal(before) {
		t.Errorf("choice is %+v; want %+v", p.Choice, before)
	}
	if p.Alert == nil || p.Alert.Text != "bad.csv: line 14: fwd_ms is -3; times cannot be negative" ||
		len(p.Alert.Lines) != 6 {
		t.Errorf("alert %+v; want the first line and at most five more", p.Alert)
	}
	if p.Phase() != "error" {
		t.Errorf("phase %s; want error", p.Phase())
	}
	if p.play(Dismiss{}); p.Alert != nil || p.Phase() != "ready" {
		t.Errorf("after Dismiss: alert %v, phase %s; want none, ready", p.Alert, p.Phase())
	}
}

func TestNoChain(t *testing.T) {
	p := shown(t)
	p.play(PickFile{Name: "gnmt.graph.txt", Bytes: []byte("x")})
	p.play(opened(last[Open](t, p).ID, &profiles.Profile{Name: "gnmt"}))
	wantStep(t, p, 12, "what was shown stays")
	if p.Alert == nil || !strings.Contains(p.Alert.Text, "neither blocks nor operations") {
		t.Errorf("alert %+v; want that there is nothing to schedule", p.Alert)
	}
}

// TestOverBudgetOfAnotherStrategy checks that a strategy that does not fit is shown in its smallest budget,
// instead of the picture of the strategy before.
func TestOverBudgetOfAnotherStrategy(t *testing.T) {
	p := shown(t)
	p.play(SetStrategy{Name: "testoffload"})
	ask := last[Solve](t, p)
	p.play(SolveFailed{ID: ask.ID,
		Failure: &proto.Failure{Kind: proto.Infeasible, Budget: engine.GiB, Smallest: 2 * engine.GiB}})
	stand := last[Solve](t, p)
	if stand.ID == ask.ID || stand.Choice.Strategy != "testoffload" || stand.Choice.Budget.Bytes != 2*engine.GiB {
		t.Fatalf("asked for %+v; want testoffload in 2 GiB", stand.Choice)
	}
	p.play(answer(stand, 40))
	wantStep(t, p, 40, "the strategy that does not fit")
	if p.OverBudget == nil || !p.Stale() {
		t.Errorf("misfit %v, stale %v; want that the picture is not of the budget", p.OverBudget, p.Stale())
	}
}

func TestOverBudget(t *testing.T) {
	p := shown(t)
	p.play(SetBudget{Bytes: engine.GiB, Settled: true})
	p.play(SolveFailed{ID: last[Solve](t, p).ID,
		Failure: &proto.Failure{Kind: proto.Infeasible, Budget: engine.GiB, Smallest: 2 * engine.GiB}})
	wantStep(t, p, 12, "the previous picture stays")
	if p.OverBudget == nil || p.OverBudget.Smallest != 2*engine.GiB || !p.Stale() || p.Phase() != "error" {
		t.Errorf("misfit %+v, stale %v, phase %s; want the smallest budget, true, error", p.OverBudget, p.Stale(),
			p.Phase())
	}
	p.play(SetBudget{Bytes: p.OverBudget.Smallest, Settled: true})
	if p.OverBudget != nil {
		t.Error("the misfit stays although another budget was chosen")
	}
	p.play(answer(last[Solve](t, p), 30))
	wantStep(t, p, 30, "the smallest budget fits")
}

// TestOfferSuffices checks that the rounded budget that the page offers is hardly above the smallest that fits.
func TestOfferSuffices(t *testing.T) {
	for _, smallest := range []engine.Bytes{0, 1, 1023, engine.GiB + 1, 3*engine.GiB + 123456789, 777 * engine.MiB} {
		if got := offer(smallest); got < smallest || got > smallest+smallest/50+1 {
			t.Errorf("offer for %d is %d; want at least that, and hardly more", smallest, got)
		}
	}
}

// TestOverBudgetFromTheStart checks a link with a budget that is too small. There is no previous picture, so that
// of the smallest budget is shown.
func TestOverBudgetFromTheStart(t *testing.T) {
	p := &player{State: New()}
	small := chosen("net-b8")
	small.Budget = choice.Budget{Bytes: 1}
	p.play(Start{Choice: small})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	effects := p.play(SolveFailed{ID: last[Solve](t, p).ID,
		Failure: &proto.Failure{Kind: proto.Infeasible, Budget: 1, Smallest: 2 * engine.GiB}})
	stand := last[Solve](t, p)
	if stand.Choice.Budget.Bytes != 2*engine.GiB {
		t.Fatalf("effects %s, solve for %+v; want one for the smallest budget", names(effects), stand.Choice.Budget)
	}
	if !p.Awaits() {
		t.Error("the page does not wait for the picture that stands in")
	}
	p.play(answer(stand, 30))
	wantStep(t, p, 30, "stands in")
	if p.OverBudget == nil || !p.Stale() || p.Choice.Budget.Bytes != 1 {
		t.Errorf("misfit %v, stale %v, budget %+v; want the misfit and the choice to stay", p.OverBudget, p.Stale(),
			p.Choice.Budget)
	}
}

// TestDefaultBudgetThatIsTooSmall checks that the default budget, the usable memory of the card, stays even if it
// is too small. The page says so, and shows the plan of the smallest budget that fits.
func TestDefaultBudgetThatIsTooSmall(t *testing.T) {
	p := shown(t)
	p.play(PickPreset{"other-b8"})
	p.play(opened(last[Open](t, p).ID, chain("other")))
	before := p.Choice.Budget
	p.play(SolveFailed{ID: last[Solve](t, p).ID,
		Failure: &proto.Failure{Kind: proto.Infeasible, Budget: 1, Smallest: 6 * engine.GiB}})
	if p.OverBudget == nil || p.Choice.Budget != before || last[Solve](t, p).Choice.Budget.Bytes != 6*engine.GiB {
		t.Errorf("budget %v, misfit %v, asked for %v; want %v, said to be too small, and the plan of 6 GiB",
			p.Choice.Budget, p.OverBudget, last[Solve](t, p).Choice.Budget, before)
	}
}

func TestStop(t *testing.T) {
	p := shown(t)
	p.play(SetStrategy{"testoffload"})
	e := last[Solve](t, p)
	p.play(Progressed{ID: e.ID, Progress: proto.Progress{Done: 1, Total: 9}, Best: answer(e, 16).Solved})
	wantStep(t, p, 16, "the best so far is shown while solving")
	if got, want := names(p.play(Stop{})), "Cancel"; got != want {
		t.Errorf("Stop: effects %s; want %s", got, want)
	}
	wantStep(t, p, 16, "the best so far stays")
	if !p.Shown.Partial || p.Phase() != "ready" {
		t.Errorf("partial %v, phase %s; want true, ready", p.Shown.Partial, p.Phase())
	}
	p.play(answer(e, 14))
	wantStep(t, p, 16, "the answer of a stopped solver")

	p.play(SetStrategy{"testremat"}, SetBudget{Bytes: 3 * engine.GiB}, Stop{})
	if p.Alert == nil || p.Alert.Do == nil {
		t.Fatalf("alert %+v after a stop without a schedule; want one with a way on", p.Alert)
	}
	p.play(p.Alert.Do)
	last[Solve](t, p)
}

func TestBackUndoesADecision(t *testing.T) {
	p := shown(t)
	before := p.Choice
	for _, step := range []struct {
		m    Message
		want string
	}{
		{SetBudget{Bytes: 2 * engine.GiB, Settled: true}, "WriteURL replace"},
		{SetArg{"segments", "5"}, "WriteURL replace"},
		{SetDuplex{engine.FullDuplex}, "WriteURL replace"},
		{SetBandwidth{Rate: 2e9, Settled: true}, "WriteURL replace"},
		{SetStrategy{"testoffload"}, "WriteURL push"},
		{Adopt{tradeoff.Point{Strategy: "testremat", Budget: 3 * engine.GiB}}, "WriteURL push"},
	} {
		if got := names(p.play(step.m)); !strings.HasPrefix(got, step.want) {
			t.Errorf("%T: effects %s; want %s first", step.m, got, step.want)
		}
	}
	effects := p.play(Navigate{Choice: before})
	if got := names(effects); strings.Contains(got, "WriteURL") || strings.Contains(got, "Open") {
		t.Errorf("Navigate: effects %s; want neither the address written nor a profile opened", got)
	}
	if !p.Choice.Equal(before) {
		t.Errorf("choice after Back is %+v; want %+v", p.Choice, before)
	}
	wantStep(t, p, 12, "from the cache")
}

func TestDefaultArgumentIsLeftOut(t *testing.T) {
	p := shown(t)
	p.play(SetArg{"segments", "5"})
	if got := p.Choice.Args["segments"]; got != "5" {
		t.Errorf("segments is %q; want 5", got)
	}
	p.play(SetArg{"segments", "4"})
	if p.Choice.Args != nil {
		t.Errorf("arguments are %v; want none: 4 is the default", p.Choice.Args)
	}
}

func TestSelectionFollowsTheSchedule(t *testing.T) {
	p := shown(t)
	p.play(SetBudget{Bytes: 3 * engine.GiB})
	p.play(answer(last[Solve](t, p), 12, 5, 30, 8))
	if p.View.Wait() != 1 {
		t.Errorf("selected wait %d; want 1, the longest", p.View.Wait())
	}
	p.play(StepWait{1})
	p.play(StepWait{1})
	if p.View.Wait() != 0 {
		t.Errorf("selected wait %d; want 0: waits go round", p.View.Wait())
	}
	p.play(SetBudget{Bytes: 4 * engine.GiB})
	p.play(answer(last[Solve](t, p), 12, 2))
	if p.View.Wait() != 0 {
		t.Errorf("selected wait %d; want 0, the nearest in time", p.View.Wait())
	}
	p.play(Dismiss{})
	if p.View.Selected != (lookup.Target{}) {
		t.Errorf("selected %+v after Escape; want nothing", p.View.Selected)
	}
	p.play(SetBudget{Bytes: 5 * engine.GiB})
	p.play(answer(last[Solve](t, p), 12, 2, 7))
	if p.View.Wait() != -1 {
		t.Errorf("selected wait %d; want none: it was deselected by hand", p.View.Wait())
	}
}

// TestBadLinkIsNotForgotten checks that the alert about a link that was cut stays until the next decision.
func TestBadLinkIsNotForgotten(t *testing.T) {
	p := &player{State: New()}
	p.play(Start{Choice: chosen("net-b8")})
	open := last[Open](t, p)
	p.play(Refuse{"This link was cut."})
	p.play(opened(open.ID, chain("net")))
	p.play(answer(last[Solve](t, p), 12))
	wantStep(t, p, 12, "the example")
	if p.Alert == nil || p.Alert.Text != "This link was cut." {
		t.Errorf("alert %+v; want what was wrong with the link", p.Alert)
	}
	if p.play(SetBudget{Bytes: engine.GiB}); p.Alert != nil {
		t.Errorf("alert %q after another decision; want none", p.Alert.Text)
	}
}

// TestUnknownPreset checks that the example is opened instead of a preset that does not exist.
func TestUnknownPreset(t *testing.T) {
	p := &player{State: New()}
	p.play(Start{Choice: chosen("nonsense")})
	p.play(OpenFailed{last[Open](t, p).ID, "there is no preset nonsense"})
	if o := last[Open](t, p); o.Request.Preset != choice.ExamplePreset || p.Opening.History != Replace {
		t.Errorf("opens %q, history %v; want %q in the address", o.Request.Preset, p.Opening.History, choice.ExamplePreset)
	}
	p.play(opened(last[Open](t, p).ID, chain("net")))
	if p.Alert == nil || !strings.Contains(p.Alert.Text, "nonsense") {
		t.Errorf("alert %+v; want the preset named", p.Alert)
	}
}

func TestVisiblePartFromALink(t *testing.T) {
	p := &player{State: New()}
	from, to := 2*time.Millisecond, 5*time.Millisecond
	p.play(Start{Choice: chosen("net-b8"), Look: link.Look{Range: link.Range{From: from, To: to}}})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	p.play(answer(last[Solve](t, p), 12))
	if p.View.From != from || p.View.To != to {
		t.Errorf("visible %v to %v; want what the link says, %v to %v", p.View.From, p.View.To, from, to)
	}
	p.play(SetBudget{Bytes: engine.GiB})
	p.play(answer(last[Solve](t, p), 4))
	if p.View.To != 0 {
		t.Errorf("visible %v to %v of a step of 4 ms; want all of it", p.View.From, p.View.To)
	}
}

func TestEscapeTakesBackWhatWasTyped(t *testing.T) {
	p := shown(t)
	p.play(Type{"budget-text", "3 G"})
	if p.Draft.Text != "3 G" {
		t.Fatalf("draft %+v; want what was typed", p.Draft)
	}
	if effects := p.play(Dismiss{}); p.Draft.Field != "" || len(effects) > 0 {
		t.Errorf("draft %+v, effects %s; want neither", p.Draft, names(effects))
	}
}

// TestSolveHere checks that, if the browser starts no workers, the page offers to solve by itself, and then
// repeats the requests that had failed.
func TestSolveHere(t *testing.T) {
	p := shown(t)
	sweep := p.Curve.ID
	p.play(Swept{ID: sweep, Failed: "no workers"}, SetBudget{Share: 70 * choice.Percent, Settled: true})
	p.play(SolveFailed{ID: last[Solve](t, p).ID,
		Failure: proto.Fail(proto.NoWorker, "The engine cannot start here.")})
	if p.Alert == nil || p.Alert.Action != "Solve here" {
		t.Fatalf("the alert is %+v; want that the page offers to solve by itself", p.Alert)
	}
	p.play(p.Alert.Do)
	thread, solve := -1, -1
	for i, e := range p.effects {
		switch e.(type) {
		case UseThread:
			thread = i
		case Solve:
			solve = i
		}
	}
	if thread < 0 || solve < thread || p.Alert != nil {
		t.Errorf("effects %s, alert %+v; want the thread changed, then a solve", names(p.effects), p.Alert)
	}
	p.play(answer(last[Solve](t, p), 100))
	if again := last[Sweep](t, p); again.ID == sweep || p.Curve.Failed != "" {
		t.Errorf("the curve %+v is not asked for again", p.Curve)
	}
}
