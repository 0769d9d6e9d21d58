package state

import (
	"fmt"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/known"
	"memtide/web/lookup"
)

// TestPlay checks that a step of 12 ms with waits at 3 and 9 ms is played in 6 s, plus 300 ms for each wait.
// Messages contain the time.
func TestPlay(t *testing.T) {
	p := playing(t)
	p.play(PlayStep{Now: 1000})
	for _, c := range []struct {
		now  float64
		at   time.Duration
		wait int // the selected wait
	}{
		{2000, 2 * time.Millisecond, -1},
		{2500, 3 * time.Millisecond, 0},
		{2700, 3 * time.Millisecond, 0},
		{2800, 3 * time.Millisecond, 0},
		{3800, 5 * time.Millisecond, 0},
		{6100, 9 * time.Millisecond, 1},
		{6350, 10 * time.Millisecond, 1}, // from here on the playhead goes to the end
	} {
		p.play(Tick{Now: c.now})
		if got := p.View.Playhead; got < c.at-10*time.Microsecond && c.now != 6350 ||
			got > c.at+10*time.Microsecond || p.View.Wait() != c.wait {
			t.Errorf("at %v ms the playhead is at %v and wait %d is selected; want %v and %d", c.now, got,
				p.View.Wait(), c.at, c.wait)
		}
	}
	if got, want := names(p.play(Tick{Now: 20_000})), "WriteURL replace"; got != want || p.View.Play.On ||
		p.View.Playhead != 0 {
		t.Errorf("behind the end: effects %s, %+v, the playhead at %v; want %s, stopped and away", got, p.View.Play,
			p.View.Playhead, want)
	}
}

// TestTicksAddUp checks that the position of the playhead does not depend on the number of Ticks.
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

// TestPlayStops checks that PlayStep stops playing and leaves the playhead where it is.
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

// TestPlayReduced checks that with reduced motion PlayStep goes from phase to phase.
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

// playing returns a page with a step of 12 ms: the forward pass until 4 ms, then the backward pass, with two
// waits.
func playing(t *testing.T) *player {
	t.Helper()
	p := shown(t)
	p.Shown.Solved.Trace = &sim.Trace{Makespan: 12 * time.Millisecond, Gaps: []sim.Gap{
		{Start: 3 * time.Millisecond, End: 4 * time.Millisecond},
		{Start: 9 * time.Millisecond, End: 10 * time.Millisecond}},
		Spans: []sim.Span{{Kind: sim.SpanForward, End: 3 * time.Millisecond, Cause: sim.NoSpan, Op: engine.NoOp,
			Value: engine.NoValue},
			{Kind: sim.SpanBackward, Start: 4 * time.Millisecond, End: 9 * time.Millisecond, Cause: sim.NoSpan,
				Op: engine.NoOp, Value: engine.NoValue}}}
	// a new Picture, so that the old index is not reused
	p.Shown = &known.Picture{ID: p.Shown.ID, Choice: p.Choice, Network: p.Network, Solved: p.Shown.Solved}
	p.View.Selected = lookup.Target{}
	return p
}

// TestSentenceStays checks that the sentence keeps its words while the budget is dragged, and changes them
// afterwards.
func TestSentenceStays(t *testing.T) {
	p := shown(t)
	p.Choice.Budget = p.Choice.Room()
	before := p.Sentence()
	for _, n := range []engine.Bytes{2 * engine.GiB, engine.GiB} {
		if p.play(SetBudget{Bytes: n}); p.Sentence() != before {
			t.Errorf("dragged to %d bytes the sentence names %+v; want %+v, as before", n, p.Sentence(), before)
		}
	}
	if p.play(SetBudget{Bytes: engine.GiB, Settled: true}); !p.Sentence().Budget {
		t.Error("let go at 1 GiB, the sentence does not name the budget")
	}
	p.play(SetBudget{Bytes: 2 * engine.GiB}, SetTransfers{engine.Streamed})
	if p.dragging {
		t.Error("something else was chosen, and the budget is dragged still")
	}
}

// TestCopyLanesStay checks that the timeline keeps its height while the budget is dragged.
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
