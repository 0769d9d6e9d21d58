package state

import (
	"strconv"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
)

// valuesTried is how many values of a parameter are tried, of many.
const valuesTried = 40

// tuning is a page with the strategy window, whose sizes are being tried.
func tuning(t *testing.T) (*player, Sweep) {
	t.Helper()
	p := shown(t)
	p.play(SetStrategy{"window"})
	p.play(answer(last[Solve](t, p), 20))
	for _, e := range p.effects {
		if e, ok := e.(Sweep); ok && p.Tuning != nil && e.ID == p.Tuning.ID {
			return p, e
		}
	}
	t.Fatalf("effects %s; want one that tries sizes of the window", names(p.effects))
	return nil, Sweep{}
}

// size answers the value at index with a step of so many ms; 0: does not fit.
func size(e Sweep, index, ms int) SweptPoint {
	q := proto.Point{Method: index, StepTime: time.Duration(ms) * time.Millisecond}
	if ms == 0 {
		q.Failure = proto.Fail(proto.Infeasible, "too small")
	}
	return SweptPoint{e.ID, q}
}

func TestTuning(t *testing.T) {
	p, e := tuning(t)
	if len(e.Request.Budgets) != 1 || e.Request.Budgets[0].Bytes != p.Budget() ||
		len(e.Request.Methods) != valuesTried {
		t.Fatalf("asks for %d values and %v; want %d and the budget", len(e.Request.Methods), e.Request.Budgets,
			valuesTried)
	}
	param := &p.Tuning.Params[0]
	for i, m := range e.Request.Methods {
		if m.Strategy != "window" || m.Args["window"] != strconv.Itoa(param.Values[i]) || i > 0 &&
			param.Values[i] <= param.Values[i-1] {
			t.Fatalf("value %d is asked for as %+v; want window %d, increasing", i, m, param.Values[i])
		}
	}
	curve := p.Curve.Done
	for i := range e.Request.Methods {
		p.play(size(e, i, 100-i))
	}
	if p.Curve.Done != curve {
		t.Error("values of a parameter came into the curve")
	}
	p.play(Swept{e.ID, proto.Reference{}})
	if p.Tuning.ID != 0 || p.Tuning.Done != valuesTried || param.Fastest() != valuesTried-1 {
		t.Errorf("sweep %d, %d values, fastest %d; want it over, with the last one the fastest", p.Tuning.ID,
			p.Tuning.Done, param.Fastest())
	}
	known := p.Tuning
	p.play(SetArg{"window", strconv.Itoa(param.Values[3])})
	p.play(answer(last[Solve](t, p), 30))
	if p.Tuning != known || p.Tuning.ID != 0 {
		t.Error("a value that was taken over has all values tried again")
	}
	p.play(SetBudget{Bytes: 3 * engine.GiB, Settled: true})
	p.play(answer(last[Solve](t, p), 30))
	if p.Tuning == known || p.Tuning.Budget != 3*engine.GiB {
		t.Errorf("values for %d; want those of the new budget", p.Tuning.Budget)
	}
	p.play(SetStrategy{"testremat"})
	if p.Tuning != nil {
		t.Error("a strategy without such parameters still shows values")
	}
}

// Where only small sizes fit, these are tried more closely, once.
func TestTuningRefines(t *testing.T) {
	p, e := tuning(t)
	top := p.Tuning.Params[0].Values[4]
	for i := range e.Request.Methods {
		p.play(size(e, i, max(0, 40-10*i)))
	}
	p.play(Swept{e.ID, proto.Reference{}})
	closer := last[Sweep](t, p)
	values := p.Tuning.Params[0].Values
	if closer.ID != p.Tuning.ID || values[len(values)-1] != top || len(values) != valuesTried {
		t.Fatalf("%d values up to %d; want %d up to the first that does not fit, %d", len(values),
			values[len(values)-1], valuesTried, top)
	}
	for i := range closer.Request.Methods {
		p.play(size(closer, i, max(0, 5-i)))
	}
	if got := names(p.play(Swept{closer.ID, proto.Reference{}})); got != "" {
		t.Errorf("after the second time: effects %s; want none", got)
	}
}

func TestTuningStops(t *testing.T) {
	p, e := tuning(t)
	p.play(size(e, 0, 9))
	if got := names(p.play(StopTuning{})); got != "Cancel" || !p.Tuning.Stopped {
		t.Errorf("effects %s, stopped %v; want Cancel, true", got, p.Tuning.Stopped)
	}
	p.play(size(e, 1, 9))
	if p.Tuning.Params[0].Points[1] != nil {
		t.Error("a value came after the stop")
	}
	p.play(StartTuning{})
	if again := last[Sweep](t, p); again.ID != p.Tuning.ID || p.Tuning.Stopped {
		t.Errorf("sweep %d for %d; want it begun again", again.ID, p.Tuning.ID)
	}
	p.play(SweepFailed{p.Tuning.ID, "the worker died"})
	if p.Tuning.Failed == "" || p.Curve.Failed != "" {
		t.Errorf("failed %q, curve %q; want only the values to have failed", p.Tuning.Failed, p.Curve.Failed)
	}
}
