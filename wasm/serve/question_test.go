package serve

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// questionAbout returns q about resnet50-b8 with a budget of 60 %. The default strategy is greedy.
func questionAbout(q proto.Question) *proto.Question {
	q.Setting, q.Budget = setting("resnet50-b8"), choice.Budget{Share: 60 * choice.Percent}
	if q.Strategy == "" {
		q.Strategy = "greedy"
	}
	return &q
}

// answers returns the suggestions for a question that has a result.
func answers(t *testing.T, q *proto.Question) (out []proto.Suggestion) {
	t.Helper()
	_, fail, told := ask(t, new(Server), q)
	if fail != nil {
		t.Fatalf("%+v: got the failure %v, want answers", q, fail)
	}
	for _, a := range told {
		out = append(out, *a)
	}
	if n := len(out); n > 0 && out[n-1].Done != n {
		t.Fatalf("%+v: %d answers, the last one says %d", q, n, out[n-1].Done)
	}
	return out
}

// stepTime solves the problem of a question after change has changed it.
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

// TestWhatHelps checks that every suggestion has the step time and the peak of solving the changed problem.
func TestWhatHelps(t *testing.T) {
	req := questionAbout(proto.Question{Methods: []proto.Method{{Strategy: "rotor"}, {Strategy: "greedy"}}})
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
		if a := got[i]; a.Name != w.name || a.StepTime != solved.Trace.Makespan || a.Peak != solved.Trace.Peak ||
			a.Done != i+1 {
			t.Errorf("answer %d: got %+v, want %s with %v and a peak of %d", i, a, w.name, solved.Trace.Makespan,
				solved.Trace.Peak)
		}
		// A suggestion that changes the link contains the device. Solving with that device gives the same step
		// time.
		if d := got[i].Device; (d != nil) != (i == 1 || i == 2) {
			t.Errorf("%s names the link %+v; want it where it changes", w.name, d)
		} else if d != nil {
			if again := stepTime(t, req,
				func(q *proto.Solve) { q.Device = *d }); again.Trace.Makespan != got[i].StepTime {
				t.Errorf("%s: with its link %+v a step takes %v, want %v", w.name, d, again.Trace.Makespan,
					got[i].StepTime)
			}
		}
	}
}

func TestQuestionFails(t *testing.T) {
	for _, c := range []struct {
		q    proto.Question
		want string
	}{
		{proto.Question{Methods: []proto.Method{{Strategy: "none"}}}, `no strategy "none"`},
	} {
		_, fail, _ := ask(t, new(Server), questionAbout(c.q))
		if fail == nil || fail.Kind != proto.BadRequest || !strings.Contains(fail.Text, c.want) {
			t.Errorf("%+v: got %+v, want a bad request with %q", c.q, fail, c.want)
		}
	}
}
