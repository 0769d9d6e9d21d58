package serve

import (
	"fmt"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// question asks about resnet50-b8 at 60 % with greedy.
func question(q proto.Ask) *proto.Request {
	q.Setting, q.Budget = setting("resnet50-b8"), choice.Budget{Share: 60 * choice.Percent}
	if q.Strategy == "" {
		q.Strategy = "greedy"
	}
	return &proto.Request{Op: proto.OpAsk, Ask: &q}
}

// answers are those of a question that has a result.
func answers(t *testing.T, req *proto.Request) (out []proto.Answer) {
	t.Helper()
	last, progress := ask(t, new(Server), req)
	if last.Asked == nil {
		t.Fatalf("%+v: got the failure %v, want answers", req.Ask, last.Failure)
	}
	for _, r := range progress {
		if r.Answer != nil {
			out = append(out, *r.Answer)
		}
	}
	if len(out) != last.Asked.Answers {
		t.Fatalf("%+v: %d answers, the result says %d", req.Ask, len(out), last.Asked.Answers)
	}
	return out
}

// stepTime solves the question's problem after a change.
func stepTime(t *testing.T, req *proto.Request, change func(*proto.Solve)) *proto.Solved {
	t.Helper()
	q := &proto.Solve{Setting: req.Ask.Setting, Method: req.Ask.Method, Budget: req.Ask.Budget}
	change(q)
	r, _ := ask(t, new(Server), &proto.Request{Op: proto.OpSolve, Solve: q})
	if r.Solved == nil {
		t.Fatalf("solving %+v: %v", q, r.Failure)
	}
	return r.Solved
}

// What would help is what solving the changed problem gives.
func TestWhatHelps(t *testing.T) {
	req := question(proto.Ask{Question: proto.WhatHelps, Others: []proto.Method{{Strategy: "rotor"}, {Strategy: "greedy"}}})
	got := answers(t, req)
	budget := stepTime(t, req, func(*proto.Solve) {}).Budget
	want := []struct {
		name   string
		change func(*proto.Solve)
	}{
		{"1 GiB more", func(q *proto.Solve) { q.Budget = choice.Budget{Bytes: budget + engine.GiB} }},
		{"twice the bandwidth", func(q *proto.Solve) { q.Device.ToDev *= 2; q.Device.ToHost *= 2 }},
		{"both directions at once", func(q *proto.Solve) { q.Device.Duplex = engine.FullDuplex }},
		{"Optimal recomputation", func(q *proto.Solve) { q.Strategy = "rotor" }},
	}
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		solved := stepTime(t, req, w.change)
		if a := got[i]; a.Name != w.name || a.StepTime != solved.Trace.Makespan || a.Peak != solved.Trace.Peak || a.Done != i+1 {
			t.Errorf("answer %d: got %+v, want %s with %v and a peak of %d", i, a, w.name, solved.Trace.Makespan, solved.Trace.Peak)
		}
		// Solved again with the link that it names, the answer is the same.
		if d := got[i].Device; (d != nil) != (i == 1 || i == 2) {
			t.Errorf("%s names the link %+v; want it where it changes", w.name, d)
		} else if d != nil {
			if again := stepTime(t, req, func(q *proto.Solve) { q.Device = *d }); again.Trace.Makespan != got[i].StepTime {
				t.Errorf("%s: with its link %+v a step takes %v, want %v", w.name, d, again.Trace.Makespan, got[i].StepTime)
			}
		}
	}
}

// The smallest budget is enough, and one that is smaller by the grain is not.
func TestSmallestForSlowdown(t *testing.T) {
	req := question(proto.Ask{Method: proto.Method{Strategy: "rotor"}, Question: proto.Smallest, Slowdown: 1000})
	a := answers(t, req)[0]
	if a.Failure != nil {
		t.Fatal(a.Failure)
	}
	at := func(b engine.Bytes) *proto.Solved {
		return stepTime(t, req, func(q *proto.Solve) { q.Budget = choice.Budget{Bytes: b} })
	}
	enough, less := at(a.Budget), at(a.Budget-2*smallestGrain)
	limit := enough.KeepAll.StepTime + enough.KeepAll.StepTime/10
	if enough.Trace.Makespan > limit || enough.Trace.Makespan != a.StepTime {
		t.Errorf("in %d bytes a step takes %v; want at most %v, and %v as answered", a.Budget, enough.Trace.Makespan, limit, a.StepTime)
	}
	if less.Trace.Makespan <= limit {
		t.Errorf("in %d bytes a step takes %v, which is at most %v too; want the smallest budget, not %d", a.Budget-2*smallestGrain, less.Trace.Makespan, limit, a.Budget)
	}
}

// A faster link makes greedy faster and leaves rotor as it is.
func TestLinks(t *testing.T) {
	rates := []engine.Rate{6_000_000_000, 24_000_000_000}
	got := answers(t, question(proto.Ask{Question: proto.Links, Rates: rates, Others: []proto.Method{{Strategy: "greedy"}, {Strategy: "rotor"}}}))
	if len(got) != 4 {
		t.Fatalf("%d answers, want 4: %+v", len(got), got)
	}
	for i, a := range got {
		if a.Failure != nil || a.Rate != rates[i%2] || a.Strategy != []string{"greedy", "rotor"}[i/2] {
			t.Errorf("answer %d is %+v; want one of %s over %v", i, a, []string{"greedy", "rotor"}[i/2], rates[i%2])
		}
	}
	if slow, fast := got[0].StepTime, got[1].StepTime; slow <= fast {
		t.Errorf("greedy takes %v over %v and %v over %v; want less", slow, rates[0], fast, rates[1])
	}
	if got[2].StepTime != got[3].StepTime {
		t.Errorf("rotor takes %v and %v; want the same over every link", got[2].StepTime, got[3].StepTime)
	}
}

func TestAskFails(t *testing.T) {
	for _, c := range []struct {
		ask  proto.Ask
		want string
	}{
		{proto.Ask{Question: "why"}, `no question "why"`},
		{proto.Ask{Question: proto.Links, Rates: []engine.Rate{-1}, Others: []proto.Method{{Strategy: "rotor"}}}, "negative"},
		{proto.Ask{Question: proto.WhatHelps, Others: []proto.Method{{Strategy: "none"}}}, `no strategy "none"`},
	} {
		last, _ := ask(t, new(Server), question(c.ask))
		if last.Failure == nil || last.Failure.Kind != proto.BadRequest || !strings.Contains(last.Failure.Text, c.want) {
			t.Errorf("%+v: got %+v, want a bad request with %q", c.ask, last.Failure, c.want)
		}
	}
}

// The largest batch trains, the next does not; batches that are asked for have
// the step times of solving them.
func TestLargestBatch(t *testing.T) {
	req := question(proto.Ask{Question: proto.LargestBatch, Others: []proto.Method{{Strategy: "keepall"}, {Strategy: "rotor"}}, Batches: []int{4, 4000}})
	req.Ask.Budget = choice.Budget{Bytes: 2 * engine.GiB}
	got := answers(t, req)
	if len(got) != 6 {
		t.Fatalf("%d answers, want 6: %+v", len(got), got)
	}
	solve := func(strategy string, batch int) *proto.Reply {
		q := &proto.Solve{Setting: setting(fmt.Sprintf("resnet50-b%d", batch)), Method: proto.Method{Strategy: strategy}, Budget: req.Ask.Budget}
		r, _ := ask(t, new(Server), &proto.Request{Op: proto.OpSolve, Solve: q})
		return r
	}
	for i, strategy := range []string{"keepall", "rotor"} {
		most, four, many := got[3*i], got[3*i+1], got[3*i+2]
		if r := solve(strategy, most.Batch); !most.Largest || most.Strategy != strategy || r.Solved == nil || r.Solved.Trace.Makespan != most.StepTime {
			t.Errorf("%s: largest batch %+v; solving it gives %+v", strategy, most, r.Solved)
		}
		if r := solve(strategy, most.Batch+1); r.Failure == nil || r.Failure.Kind != proto.Infeasible {
			t.Errorf("%s: batch %d is the largest, but %d gives %+v; want infeasible", strategy, most.Batch, most.Batch+1, r)
		}
		if r := solve(strategy, 4); r.Solved == nil || r.Solved.Trace.Makespan != four.StepTime || four.Batch != 4 {
			t.Errorf("%s at batch 4: answer %+v; solving it gives %+v", strategy, four, r.Solved)
		}
		if many.Failure == nil || many.Failure.Kind != proto.Infeasible || many.Failure.Smallest == 0 {
			t.Errorf("%s at batch 4000: answer %+v, want infeasible with what would do", strategy, many)
		}
	}
	if got[0].Batch >= got[3].Batch {
		t.Errorf("keepall trains %d and rotor %d; want more", got[0].Batch, got[3].Batch)
	}
}

// Without transfers the rate of the link is of no matter: the answers are equal,
// and equal to those of the problem itself.
func TestLinksWithoutTransfers(t *testing.T) {
	req := question(proto.Ask{Question: proto.Links, Others: []proto.Method{{Strategy: "greedy"}, {Strategy: "rotor"}}, Rates: []engine.Rate{1e9, 5e9, 80e9}})
	got := answers(t, req)
	want := stepTime(t, req, func(q *proto.Solve) { q.Strategy = "rotor" }).Trace
	for i, a := range got[3:] {
		if a.Strategy != "rotor" || a.Rate != req.Ask.Rates[i] || a.StepTime != want.Makespan || a.Peak != want.Peak || a.Done != 4+i {
			t.Errorf("answer %d: %+v; want rotor at %d with %v and a peak of %d", 3+i, a, req.Ask.Rates[i], want.Makespan, want.Peak)
		}
	}
	if got[0].StepTime <= got[2].StepTime {
		t.Errorf("greedy takes %v at 1 GB/s and %v at 80 GB/s; want it faster", got[0].StepTime, got[2].StepTime)
	}
}
