package state

import (
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/tradeoff"
)

// cut returns a point whose solver reached its time limit, with a best step so far of ms milliseconds, or without
// one if ms is 0.
func cut(e Sweep, method, index, ms int) SweptPoint {
	p := point(e, method, index, ms)
	p.Point.Failure = proto.Fail(proto.Deadline, "stopped")
	p.Point.Took = 30 * time.Millisecond
	return p
}

// partly returns a page with a complete curve in which solvers reached their time limits at three points: one of
// the first method, and two of the second. One of the latter has a best step so far of 20 ms.
func partly(t *testing.T) (*player, Sweep) {
	t.Helper()
	p := shown(t)
	e := last[Sweep](t, p)
	for m := range e.Request.Methods {
		for i := range e.Request.Budgets {
			switch {
			case m == 1 && i == 5:
				p.play(cut(e, m, i, 20))
			case m == 1 && i == 9, m == 0 && i == 3:
				p.play(cut(e, m, i, 0))
			case i < 5:
				p.play(point(e, m, i, 25))
			default:
				p.play(point(e, m, i, 15))
			}
		}
	}
	p.play(Swept{ID: e.ID, KeepAll: proto.Reference{StepTime: time.Millisecond, Peak: 1}})
	return p, e
}

// TestImprove checks that points that were not finished are asked for again with more time, method by method, and
// that the better answer counts.
func TestImprove(t *testing.T) {
	p, all := partly(t)
	if !p.Curve.Complete() || p.Curve.Improving != 1 {
		t.Fatalf("complete %v, improving %d points; want a complete curve with 1", p.Curve.Complete(),
			p.Curve.Improving)
	}
	e := last[Sweep](t, p)
	if q := e.Request; len(q.Methods) != 1 || len(q.Budgets) != 1 || q.Budgets[0] != all.Request.Budgets[3] ||
		q.Limit <= all.Request.Limit {
		t.Fatalf("asks for %+v; want the first method's budget 3 with more time than %v", q, all.Request.Limit)
	}
	p.play(point(e, 0, 0, 14))
	if got := p.Curve.Points[0][3]; got.StepTime != 14*time.Millisecond {
		t.Errorf("the point is %+v; want the finished one of 14 ms", got)
	}
	p.play(Swept{ID: e.ID, KeepAll: proto.Reference{}})
	e = last[Sweep](t, p)
	if q := e.Request; q.Methods[0].Strategy != all.Request.Methods[1].Strategy || len(q.Budgets) != 2 {
		t.Fatalf("asks for %+v; want two budgets of the second method", q)
	}
	p.play(cut(e, 0, 0, 0), cut(e, 0, 1, 17))
	if a, b := p.Curve.Points[1][5].StepTime, p.Curve.Points[1][9].StepTime; a != 20*time.Millisecond ||
		b != 17*time.Millisecond {
		t.Errorf("the points are %v and %v; want the old best of 20 ms and the new one of 17 ms", a, b)
	}
	if got := p.play(Swept{ID: e.ID, KeepAll: proto.Reference{}}); len(got) != 0 || p.Curve.ID != 0 || p.Curve.Improving != 0 {
		t.Errorf("effects %s, sweep %d, improving %d; want an end", names(got), p.Curve.ID, p.Curve.Improving)
	}
	if p.Curve.KeepAll.Peak != 1 || p.Curve.Done != p.Curve.Total {
		t.Errorf("reference %+v, %d of %d points; want what the first sweep said", p.Curve.KeepAll, p.Curve.Done,
			p.Curve.Total)
	}
}

// TestImproveGoesOn checks that the page goes on improving a curve when it shows the curve again, unless the user
// has stopped it.
func TestImproveGoesOn(t *testing.T) {
	p, _ := partly(t)
	away := func() Sweep {
		p.play(SetBandwidth{Rate: 5e9, Settled: true})
		p.play(answer(last[Solve](t, p), 13))
		p.play(SetBandwidth{Rate: 1e9, Settled: true})
		return last[Sweep](t, p)
	}
	if e := away(); len(e.Request.Budgets) != 1 || p.Curve.ID != e.ID {
		t.Errorf("back: asks for %+v; want the point that was being improved", e.Request)
	}
	p.play(StopSweep{})
	if p.Curve.ID != 0 || p.Curve.Improving != 0 || !p.Curve.Complete() {
		t.Errorf("stopped: sweep %d, improving %d; want a complete curve at rest", p.Curve.ID, p.Curve.Improving)
	}
}

// TestPartialPoints checks that points that are only the best found so far are marked as such, with the time that
// was spent on them.
func TestPartialPoints(t *testing.T) {
	p, _ := partly(t)
	var partial []tradeoff.LinePoint
	for _, l := range p.Curve.Lines() {
		for _, pt := range l.Points {
			if pt.Partial > 0 {
				partial = append(partial, pt)
			}
		}
	}
	if len(partial) != 1 || partial[0].StepTime != 20*time.Millisecond || partial[0].Partial != 30*time.Millisecond {
		t.Errorf("best found: %+v; want the one of 20 ms, found in 30 ms", partial)
	}
}

// TestMethodOrder checks that the chosen strategy comes first, and then those that share work between budgets.
func TestMethodOrder(t *testing.T) {
	p := shown(t)
	for _, chosen := range []string{"testremat", "testoffload"} {
		p.Choice.Strategy = chosen
		var got []string
		for _, m := range p.methods() {
			got = append(got, m.Strategy)
		}
		if len(got) < 3 || got[0] != chosen {
			t.Fatalf("methods %v; want %s first of at least 3", got, chosen)
		}
		alone := false
		for _, name := range got[1:] {
			shares := engine.Lookup(name).Sweeper != nil
			if shares && alone {
				t.Errorf("methods %v; want those that share work before the others", got)
			}
			alone = alone || !shares
		}
	}
}

// TestSuggestion checks that the settings that a preset suggests come with it, and go when another preset is
// opened.
func TestSuggestion(t *testing.T) {
	p := shown(t)
	pick := func(id string) Choice {
		p.play(PickPreset{id})
		p.play(opened(last[Open](t, p).ID, chain(id)))
		p.Shown, p.Curve = nil, nil
		return p.Choice
	}
	c := pick("lemma3-b1")
	if c.Strategy != "offloadexact" || c.Budget.Bytes != 13*engine.MiB || c.ToDev != 1000*engine.Rate(engine.MiB) ||
		c.ToHost != c.ToDev || c.Device != "" {
		t.Errorf("lemma3: %+v; want its strategy, 13 MiB and 1 MiB in 1 ms", c)
	}
	if c := pick("nonpersistent-b1"); c.Strategy != "nonpersistent" || c.Device == "" ||
		c.Budget.Bytes != 9*engine.MiB {
		t.Errorf("nonpersistent: %+v; want its strategy, 9 MiB and the default device", c)
	}
	if c := pick("vgg16-b32"); c.Strategy != engine.KeepAll || c.Device == "" || c.Budget != choice.Default().Budget {
		t.Errorf("vgg16: %+v; want the room of the device back, in which everything fits", c)
	}
	p.Choice.Unplanned = false
	p.Choice.Strategy, p.Choice.Device, p.Choice.ToHost, p.Choice.ToDev = "testoffload", "", 3e9, 3e9
	if c := pick("resnet50-b32"); c.Strategy != "testoffload" || c.ToDev != 3e9 {
		t.Errorf("resnet50: %+v; want the strategy and the link that a person has chosen", c)
	}
}
