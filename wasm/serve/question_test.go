package serve

import (
	"fmt"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// questionAbout asks about resnet50-b8 at 60 % with greedy.
func questionAbout(q proto.Question) *proto.Question {
	q.Setting, q.Budget = setting("resnet50-b8"), choice.Budget{Share: 60 * choice.Percent}
	if q.Strategy == "" {
		q.Strategy = "greedy"
	}
	return &q
}

// answers are those of a question that has a result.
func answers(t *testing.T, q *proto.Question) (out []proto.Answer) {
	t.Helper()
	last, fail, told := ask(t, new(Server), q)
	if fail != nil {
		t.Fatalf("%+v: got the failure %v, want answers", q, fail)
	}
	for _, p := range told {
		if p.Answer != nil {
			out = append(out, *p.Answer)
		}
	}
	if len(out) != last.Answers {
		t.Fatalf("%+v: %d answers, the result says %d", q, len(out), last.Answers)
	}
	return out
}

// stepTime solves the question's problem after a change.
func stepTime(t *testing.T, about *proto.Question, change func(*proto.Solve)) *proto.Solved {
	t.Helper()
	q := &proto.Solve{Setting: about.Setting, Method: about.Method, Budget: about.Budget}
	change(q)
	solved, fail, _ := ask(t, new(Server), q)
	if solved == nil {
		t.Fatalf("solving %+v: %v", q, fail)
	}
	return solved
}

// What would help is what solving the changed problem gives.
func TestWhatHelps(t *testing.T) {
	req := questionAbout(proto.Question{Name: "help", Methods: []proto.Method{{Strategy: "rotor"}, {Strategy: "greedy"}}})
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
	req := questionAbout(proto.Question{Method: proto.Method{Strategy: "rotor"}, Name: "smallest", Slowdown: 1000})
	a := answers(t, req)[0]
	if a.Failure != nil {
		t.Fatal(a.Failure)
	}
	at := func(b engine.Bytes) *proto.Solved {
		return stepTime(t, req, func(q *proto.Solve) { q.Budget = choice.Budget{Bytes: b} })
	}
	enough, less := at(a.Budget), at(a.Budget-2*engine.MiB)
	limit := enough.KeepAll.StepTime + enough.KeepAll.StepTime/10
	if enough.Trace.Makespan > limit || enough.Trace.Makespan != a.StepTime {
		t.Errorf("in %d bytes a step takes %v; want at most %v, and %v as answered", a.Budget, enough.Trace.Makespan, limit, a.StepTime)
	}
	if less.Trace.Makespan <= limit {
		t.Errorf("in %d bytes a step takes %v, which is at most %v too; want the smallest budget, not %d", a.Budget-2*engine.MiB, less.Trace.Makespan, limit, a.Budget)
	}
}

// A faster link makes greedy faster. Rotor moves nothing: its answers are equal,
// and equal to that of the problem itself.
func TestLinks(t *testing.T) {
	req := questionAbout(proto.Question{Name: "links", Methods: []proto.Method{{Strategy: "greedy"}, {Strategy: "rotor"}}})
	got := answers(t, req)
	rotor := stepTime(t, req, func(q *proto.Solve) { q.Strategy = "rotor" }).Trace
	n := len(got) / 2
	for i, a := range got[:n] {
		greedy := stepTime(t, req, func(q *proto.Solve) { q.Device.ToHost, q.Device.ToDev = a.Rate, a.Rate }).Trace
		if a.Strategy != "greedy" || a.StepTime != greedy.Makespan || i > 0 && a.Rate <= got[i-1].Rate {
			t.Errorf("answer %d: %+v; want greedy over a faster link than before, with %v", i, a, greedy.Makespan)
		}
		if b := got[n+i]; b.Strategy != "rotor" || b.Rate != a.Rate || b.StepTime != rotor.Makespan || b.Peak != rotor.Peak || b.Done != n+1+i || b.Total != 2*n {
			t.Errorf("answer %d of %d: %+v; want rotor at %d with %v and a peak of %d", n+i, 2*n, b, a.Rate, rotor.Makespan, rotor.Peak)
		}
	}
	if slow, fast := got[0].StepTime, got[n-1].StepTime; slow <= fast {
		t.Errorf("greedy takes %v over %v and %v over %v; want less", slow, got[0].Rate, fast, got[n-1].Rate)
	}
}

func TestQuestionFails(t *testing.T) {
	for _, c := range []struct {
		q    proto.Question
		want string
	}{
		{proto.Question{Name: "why"}, `no question "why"`},
		{proto.Question{Name: "help", Methods: []proto.Method{{Strategy: "none"}}}, `no strategy "none"`},
	} {
		_, fail, _ := ask(t, new(Server), questionAbout(c.q))
		if fail == nil || fail.Kind != proto.BadRequest || !strings.Contains(fail.Text, c.want) {
			t.Errorf("%+v: got %+v, want a bad request with %q", c.q, fail, c.want)
		}
	}
}

// The largest batch trains, the next does not; batches that are asked for have
// the step times of solving them.
func TestLargestBatch(t *testing.T) {
	req := questionAbout(proto.Question{Name: "batch", Methods: []proto.Method{{Strategy: "keepall"}, {Strategy: "rotor"}}})
	req.Budget = choice.Budget{Bytes: 2 * engine.GiB}
	got := answers(t, req)
	n := len(got) / 2 // the largest, and 1 to 1024
	if n != 12 {
		t.Fatalf("%d answers, want 12 of each: %+v", len(got), got)
	}
	solve := func(strategy string, batch int) (*proto.Solved, *proto.Failure) {
		q := &proto.Solve{Setting: setting(fmt.Sprintf("resnet50-b%d", batch)), Method: proto.Method{Strategy: strategy}, Budget: req.Budget}
		solved, fail, _ := ask(t, new(Server), q)
		return solved, fail
	}
	for i, strategy := range []string{"keepall", "rotor"} {
		most, four, many := got[n*i], got[n*i+3], got[n*i+11]
		if r, _ := solve(strategy, most.Batch); !most.Largest || most.Strategy != strategy || r == nil || r.Trace.Makespan != most.StepTime {
			t.Errorf("%s: largest batch %+v; solving it gives %+v", strategy, most, r)
		}
		if r, fail := solve(strategy, most.Batch+1); fail == nil || fail.Kind != proto.Infeasible {
			t.Errorf("%s: batch %d is the largest, but %d gives %+v; want infeasible", strategy, most.Batch, most.Batch+1, r)
		}
		if r, _ := solve(strategy, 4); r == nil || r.Trace.Makespan != four.StepTime || four.Batch != 4 {
			t.Errorf("%s at batch 4: answer %+v; solving it gives %+v", strategy, four, r)
		}
		if many.Batch != 1024 || many.Failure == nil || many.Failure.Kind != proto.Infeasible || many.Failure.Smallest == 0 {
			t.Errorf("%s at batch 1024: answer %+v, want infeasible with what would do", strategy, many)
		}
	}
	if got[0].Batch >= got[n].Batch {
		t.Errorf("keepall trains %d and rotor %d; want more", got[0].Batch, got[n].Batch)
	}
}
