package state

import (
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
)

// planOf returns the plan of a strategy in the list of plans. The test fails if the list does not have it.
func planOf(t *testing.T, p *player, strategy string) PlanRow {
	t.Helper()
	for _, g := range p.Plans() {
		for _, plan := range g.Plans {
			if plan.Strategy.Name == strategy {
				return plan
			}
		}
	}
	t.Fatalf("no plan %s among %+v", strategy, p.Plans())
	return PlanRow{}
}

// swept returns a page with a complete curve, and its sweep. At each point the step takes ms(method, budget)
// milliseconds, or does not fit if that is 0.
func swept(t *testing.T, ms func(method, index int) int) (*player, Sweep) {
	t.Helper()
	p := shown(t)
	e := last[Sweep](t, p)
	for m := range e.Request.Methods {
		for i := range e.Request.Budgets {
			pt := point(e, m, i, ms(m, i))
			if ms(m, i) == 0 {
				pt.Point.Failure = proto.Fail(proto.Infeasible, "too small")
			}
			p.play(pt)
		}
	}
	p.play(Swept{ID: e.ID, KeepAll: proto.Reference{StepTime: 10 * time.Millisecond, Peak: 9 * engine.GiB}})
	return p, e
}

// TestPlansFollowTheCurve checks that the result of a plan is the answer in exactly this budget, if there is one,
// and otherwise that of the curve in the largest budget that does not exceed it.
func TestPlansFollowTheCurve(t *testing.T) {
	p, e := swept(t, func(m, i int) int { return 40 - i/10 })
	other := e.Request.Methods[1].Strategy
	got := planOf(t, p, other)
	if got.StepTime <= 0 || !got.AtMost || got.Failure != nil || !got.Drawn {
		t.Errorf("%s: %+v; want a step time of the curve that is at most so long, and its line", other, got)
	}
	if own := planOf(t, p, p.Choice.Strategy); own.StepTime != 12*time.Millisecond || own.AtMost || !own.Chosen {
		t.Errorf("the chosen plan: %+v; want the 12 ms of the picture", own)
	}
	idle := last[Question](t, p)
	for what, change := range map[string]func(*proto.Suggestion){
		"another network": func(x *proto.Suggestion) { x.Preset = "net-b1" },
		"two cards":       func(x *proto.Suggestion) { x.Options = engine.Args{"gpus": "2"} },
		"a faster link":   func(x *proto.Suggestion) { x.Device = &engine.Device{} },
	} {
		a := variant(idle, other, 16, p.Budget())
		change(&a.Answer)
		if p.play(a); planOf(t, p, other).StepTime == 16*time.Millisecond {
			t.Errorf("an answer about %s is %s's result here", what, other)
		}
	}
	p.play(variant(idle, other, 17, p.Budget()))
	if got := planOf(t, p, other); got.StepTime != 17*time.Millisecond || got.AtMost {
		t.Errorf("%s after an answer about this budget: %+v; want its 17 ms", other, got)
	}
}

// TestPlansThatFail checks that plans that do not fit, that do not apply, or whose solver reached its time limit
// have different results. A plan that may fit although the points of the curve do not is not reported as not
// fitting: its result is not known.
func TestPlansThatFail(t *testing.T) {
	for _, c := range []struct {
		name     string
		failure  *proto.Failure
		want     proto.FailureKind
		smallest engine.Bytes
	}{
		{"does not fit", proto.Fail(proto.Infeasible, "small"), proto.Infeasible, 0},
		{"does not fit, and what would", &proto.Failure{Kind: proto.Infeasible, Smallest: 1 << 40}, proto.Infeasible,
			1 << 40},
		{"does not apply", proto.Fail(proto.Unsupported, "long"), proto.Unsupported, 0},
		{"out of time", proto.Fail(proto.Deadline, "slow"), proto.Deadline, 0},
	} {
		p, e := swept(t, func(m, i int) int { return 20 })
		other := e.Request.Methods[1].Strategy
		for i := range p.Curve.Points[1] {
			p.Curve.Points[1][i] = &proto.Point{Budget: p.Curve.Budgets[i], Failure: c.failure}
		}
		got := planOf(t, p, other)
		if got.StepTime != 0 || got.Failure == nil || got.Failure.Kind != c.want || got.Failure.Smallest != c.smallest {
			t.Errorf("%s: %+v, failure %+v; want %s, smallest %d", c.name, got, got.Failure, c.want, c.smallest)
		}
	}
	p, e := swept(t, func(m, i int) int { return 20 })
	for i := range p.Curve.Points[1] {
		if p.Curve.Budgets[i] <= p.Budget() {
			p.Curve.Points[1][i] = &proto.Point{Budget: p.Curve.Budgets[i],
				Failure: &proto.Failure{Kind: proto.Infeasible, Smallest: p.Budget() - 1}}
		}
	}
	if got := planOf(t, p, e.Request.Methods[1].Strategy); got.StepTime != 0 || got.Failure != nil {
		t.Errorf("a plan that does in a little less than the budget: %+v; want that nobody knows", got)
	}
}

// TestIdleQuestion checks that the page asks by itself what would help if nothing else is under way. A question
// of the user does not wait for that one, and any change cancels it.
func TestIdleQuestion(t *testing.T) {
	p, _ := swept(t, func(m, i int) int { return 20 })
	e := last[Question](t, p)
	if !e.Idle {
		t.Fatalf("asks %+v; want what would help, for nobody", e)
	}
	p.play(StartQuestion{})
	own := last[Question](t, p)
	if own.Idle || !contains(p.effects, Cancel{e.ID}) {
		t.Errorf("a person's question: effects %s; want the other one ended", names(p.effects))
	}
	if p.play(SetBudget{Bytes: 3 * engine.GiB}); !contains(p.effects, Cancel{own.ID}) {
		t.Errorf("another budget: effects %s; want the question ended", names(p.effects))
	}
	for name, change := range map[string]func(*State){
		"a view of chosen parts": func(s *State) { s.View.Frame.Embed, s.View.Frame.Show = true, []string{"time"} },
		"a view that loses no time": func(s *State) {
			s.View.Frame.Embed = true
			s.Shown.Solved.Trace.Makespan = s.Shown.Solved.KeepAll.StepTime
		},
		"somebody is typing": func(s *State) { s.Draft.Field = "budget-text" },
		"a curve at work":    func(s *State) { s.Curve.Done-- },
		"a large network":    func(s *State) { s.Network.Graph = &engine.Graph{Ops: make([]engine.Op, idleOps+1)} },
	} {
		p, _ := swept(t, func(m, i int) int { return 20 })
		p.answers = nil
		change(p.State)
		if got := p.followIdle(); got != nil {
			t.Errorf("%s: asks %s; want nothing", name, names(got))
		}
	}
}

// TestIdleQuestionOfView checks that a view in another page, whose step loses time, asks for changes of the step
// but not for other plans.
func TestIdleQuestionOfView(t *testing.T) {
	p, _ := swept(t, func(m, i int) int { return 20 })
	p.answers, p.View.Frame.Embed, p.Curve = nil, true, nil
	got := p.followIdle()
	if len(got) != 1 {
		t.Fatalf("a view that is slower asks %s; want what would help", names(got))
	}
	if q, ok := got[0].(Question); !ok || !q.Idle || len(q.Request.Methods) != 0 {
		t.Errorf("it asks %+v; want what would help, and no other plans", got[0])
	}
}

// TestIdleQuestionStaysHere checks that a question that the page asks by itself names no strategies of the second
// program, unless that program has to answer anyway.
func TestIdleQuestionStaysHere(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*State)
		idle   bool
		want   bool
	}{
		{"of a chain", func(*State) {}, true, false},
		{"of a chain, asked by a person", func(*State) {}, false, true},
		{"of a chain, with a strategy of that program", func(s *State) { s.Choice.Strategy = "testfarther" }, true,
			true},
		{"of a graph", func(s *State) { n := *s.Network; n.Chain = nil; s.Network = &n }, true, true},
	} {
		p, _ := swept(t, func(m, i int) int { return 20 })
		c.change(p.State)
		got := p.ask(c.idle)
		methods := got[len(got)-1].(Question).Request.Methods
		if far := slices.ContainsFunc(methods,
			func(m proto.Method) bool { return m.Strategy == "testfar" }); far != c.want || len(methods) < 2 {
			t.Errorf("%s: asks about %v; want testfar among them: %t", c.what, methods, c.want)
		}
	}
}

// TestStoppedIdleQuestion checks that the page does not ask a question again that the user has stopped.
func TestStoppedIdleQuestion(t *testing.T) {
	p, _ := swept(t, func(m, i int) int { return 20 })
	p.play(StopQuestion{})
	if a := p.Answers(); a == nil || !a.Stopped {
		t.Fatalf("it was not at work: %+v", a)
	}
	if got := p.followIdle(); got != nil {
		t.Errorf("asks %s; want nothing", names(got))
	}
}

func contains(effects []Effect, want Effect) bool {
	for _, e := range effects {
		if e == want {
			return true
		}
	}
	return false
}
