package state

import (
	"fmt"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/known"
	"memtide/web/lookup"
	"memtide/web/view"
)

// A step of 12 ms with waits at 3 and 9 ms is played in 6 s, and 300 ms for each wait:
// what time it is is passed in.
func TestPlay(t *testing.T) {
	p := playing(t)
	p.play(PlayStep{Now: 1000})
	for _, c := range []struct {
		now  float64
		at   time.Duration
		wait int // the selected one
	}{
		{2000, 2 * time.Millisecond, -1},
		{2500, 3 * time.Millisecond, 0},
		{2700, 3 * time.Millisecond, 0},
		{2800, 3 * time.Millisecond, 0},
		{3800, 5 * time.Millisecond, 0},
		{6100, 9 * time.Millisecond, 1},
		{6350, 10 * time.Millisecond, 1}, // from here to its end
	} {
		p.play(Tick{Now: c.now})
		if got := p.View.Playhead; got < c.at-10*time.Microsecond && c.now != 6350 || got > c.at+10*time.Microsecond || p.View.Wait() != c.wait {
			t.Errorf("at %v ms the playhead is at %v and wait %d is selected; want %v and %d", c.now, got, p.View.Wait(), c.at, c.wait)
		}
	}
	if got, want := names(p.play(Tick{Now: 20_000})), "WriteURL replace"; got != want || p.View.Play.On || p.View.Playhead != 0 {
		t.Errorf("behind the end: effects %s, %+v, the playhead at %v; want %s, stopped and away", got, p.View.Play, p.View.Playhead, want)
	}
}

// However seldom it is told what time it is, the playhead is where it has to be.
func TestTicksAddUp(t *testing.T) {
	var ends []time.Duration
	for _, every := range []float64{1, 16.7, 2200} {
		p := playing(t)
		p.play(PlayStep{Now: 0})
		for now := every; now < 4400; now += every {
			p.play(Tick{Now: now})
		}
		p.play(Tick{Now: 4400})
		ends = append(ends, p.View.Playhead.Round(10*time.Microsecond))
	}
	if ends[0] != ends[1] || ends[1] != ends[2] {
		t.Errorf("after 4.4 s the playhead is at %v; want it at one place", ends)
	}
}

// Pressed again it stops where it is, and the place is kept.
func TestPlayStops(t *testing.T) {
	p := playing(t)
	p.play(PlayStep{Now: 0}, Tick{Now: 1000})
	if got, want := names(p.play(PlayStep{Now: 1500})), "WriteURL replace"; got != want || p.View.Play.On {
		t.Errorf("stopped: effects %s, %+v; want %s", got, p.View.Play, want)
	}
	at := p.View.Playhead
	p.play(Tick{Now: 3000})
	if p.View.Playhead != at || at == 0 {
		t.Errorf("after it was stopped the playhead is at %v; want it to stay at %v", p.View.Playhead, at)
	}
	p.play(PlayStep{Now: 9000}, Tick{Now: 9100})
	if got := p.View.Playhead - at; got < 199*time.Microsecond || got > 201*time.Microsecond {
		t.Errorf("it went on by %v in 100 ms; want 200µs", got)
	}
	p.play(Scrub{At: 7 * time.Millisecond, Settled: true})
	if p.View.Playhead != 7*time.Millisecond || p.View.Play.On {
		t.Errorf("dragged: the playhead is at %v, %+v; want 7ms, stopped", p.View.Playhead, p.View.Play)
	}
}

// Who wants no motion goes from phase to phase.
func TestPlayReduced(t *testing.T) {
	p := playing(t)
	var at []time.Duration
	for range 3 {
		p.play(PlayStep{Reduced: true})
		at = append(at, p.View.Playhead)
	}
	if got, want := fmt.Sprint(at), "[4ms 0s 4ms]"; got != want || p.View.Play.On {
		t.Errorf("the playhead was at %s, %+v; want %s and nothing moving", got, p.View.Play, want)
	}
}

// playing shows a step of 12 ms: forward until 4, backward, two waits.
func playing(t *testing.T) *player {
	t.Helper()
	p := shown(t)
	p.Shown.Solved.Trace = &sim.Trace{Makespan: 12 * time.Millisecond, Gaps: []sim.Gap{
		{Start: 3 * time.Millisecond, End: 4 * time.Millisecond}, {Start: 9 * time.Millisecond, End: 10 * time.Millisecond}},
		Spans: []sim.Span{{Kind: sim.SpanForward, End: 3 * time.Millisecond, Cause: sim.NoSpan, Op: engine.NoOp, Value: engine.NoValue},
			{Kind: sim.SpanBackward, Start: 4 * time.Millisecond, End: 9 * time.Millisecond, Cause: sim.NoSpan, Op: engine.NoOp, Value: engine.NoValue}}}
	p.Shown = &known.Picture{ID: p.Shown.ID, Choice: p.Choice, Network: p.Network, Solved: p.Shown.Solved} // with a model of its own
	p.View.Selected = lookup.Target{}
	return p
}

// storied shows a network that does not fit its device.
func storied(t *testing.T) *player {
	t.Helper()
	p := &player{State: New()}
	c := chosen("net-b8")
	c.Device, c.Strategy = "gtx-970", "testoffload"
	p.play(Start{Choice: c})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	p.play(answer(last[Solve](t, p), 12))
	return p
}

// Step 1 and 2 show keeping everything, 3 what only recomputes, 4 what was chosen; a
// change ends the story.
func TestStory(t *testing.T) {
	p := storied(t)
	if !p.HasStory() || p.StoryOwn() {
		t.Fatalf("there is a story: %v, and it is the reader's own: %v; want one that is not", p.HasStory(), p.StoryOwn())
	}
	again := last[Solve](t, p)
	if again.Choice.Strategy != choice.DefaultStrategy || again.Slot != ForStory || again.Choice.Budget != p.Choice.Budget {
		t.Fatalf("asked for %+v; want %s in the same budget", again, choice.DefaultStrategy)
	}
	p.play(answer(again, 15))
	if p.Visible() != p.Shown {
		t.Errorf("the story shows %v by itself; want what was chosen", p.Visible().Choice.Strategy)
	}
	p.play(TellStory{Step: view.StoryKeepAll})
	p.play(answer(last[Solve](t, p), 10))
	for step, want := range map[int]string{view.StoryKeepAll: "keepall", view.StoryOverLine: "keepall", view.StoryRecompute: choice.DefaultStrategy, view.StoryPlan: "testoffload"} {
		p.play(TellStory{Step: step})
		if got := p.Visible().Choice.Strategy; got != want {
			t.Errorf("step %d shows %s; want %s", step, got, want)
		}
	}
	p.play(TellStory{Step: view.StoryOverLine}, Unhover{})
	if got := p.Visible().Choice.Strategy; got != "keepall" {
		t.Errorf("after something else was pointed at step 2 shows %s; want keepall", got)
	}
	p.play(SetBudget{Bytes: 5 * engine.GiB, Settled: true})
	if p.View.Story != view.NoStory || p.Preview != nil || !p.StoryOwn() {
		t.Errorf("after a change: step %d, preview %v, own %v; want no step and the reader's own", p.View.Story, p.Preview, p.StoryOwn())
	}
}

// A step without a schedule says so and asks no second time.
func TestStoryWithout(t *testing.T) {
	p := storied(t)
	e := last[Solve](t, p)
	p.play(SolveFailed{ID: e.ID, Choice: e.Choice, Failure: proto.Fail(proto.Infeasible, "too small")})
	if _, none := p.StoryPicture(view.StoryRecompute); !none || p.OverBudget != nil {
		t.Errorf("no schedule recomputes: known %v, %+v; want it known and nothing else said", none, p.OverBudget)
	}
	if got := names(p.play(TellStory{Step: view.StoryRecompute})); got != "WriteURL replace" || p.Visible() != p.Shown {
		t.Errorf("its step has the effects %s; want WriteURL and what was chosen shown", got)
	}
}

// The story goes on where the chosen budget is too small for any schedule and that of
// the smallest stands in.
func TestStoryOverBudget(t *testing.T) {
	p := &player{State: New()}
	c := chosen("net-b8")
	c.Device, c.Strategy, c.Budget = "gtx-970", "testoffload", choice.Budget{Bytes: 1}
	p.play(Start{Choice: c})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	p.play(SolveFailed{ID: last[Solve](t, p).ID, Failure: &proto.Failure{Kind: proto.Infeasible, Budget: 1, Smallest: engine.GiB}})
	p.play(answer(last[Solve](t, p), 30))
	if e := last[Solve](t, p); e.Slot != ForStory || e.Choice.Strategy != choice.DefaultStrategy || e.Choice.Budget.Bytes != 1 {
		t.Errorf("with the smallest budget's schedule shown, asked for %+v; want %s for the story, in the chosen budget", e.Choice, choice.DefaultStrategy)
	}
}

// There is no story of what fits, nor while two are compared.
func TestNoStory(t *testing.T) {
	p := shown(t)
	if p.HasStory() {
		t.Error("a device of which nobody knows the memory has a story")
	}
	p = storied(t)
	p.Choice.Device = "h100-sxm-80gb"
	if p.HasStory() {
		t.Error("what fits has a story")
	}
	p = storied(t)
	if p.play(ToggleCompare{}); p.HasStory() {
		t.Error("a comparison has a story")
	}
}

// The timeline keeps its height while the budget is dragged.
func TestCopyLanesStay(t *testing.T) {
	p := shown(t)
	with := answer(Solve{}, 12).Solved
	with.Trace.Spans = []sim.Span{{Lane: sim.ToHost, Cause: sim.NoSpan, Op: engine.NoOp, Value: engine.NoValue}}
	p.play(SetBudget{Bytes: 2 * engine.GiB})
	e := last[Solve](t, p)
	p.play(Solved{ID: e.ID, Choice: e.Choice, Solved: with})
	if got := p.CopyLanes(); got != 0 {
		t.Errorf("while the budget is dragged the timeline has room for %d lanes of copies; want 0, as before", got)
	}
	p.play(SetBudget{Bytes: 2 * engine.GiB, Settled: true})
	if got := p.CopyLanes(); got != 1 {
		t.Errorf("once it rests it has room for %d; want 1", got)
	}
}
