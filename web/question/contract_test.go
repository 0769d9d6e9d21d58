package question_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest/golden"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/jobs"
	"memtide/web/question"
	"memtide/web/state"
)

// failures are the errors of strategies that fail, one for each kind of failure.
var failures = map[proto.FailureKind]error{
	proto.Infeasible:  &engine.InfeasibleError{Smallest: 1 << 40},
	proto.Unsupported: engine.ErrUnsupported,
	proto.Deadline:    context.DeadlineExceeded,
}

func init() {
	for kind, err := range failures {
		engine.Register(&engine.Strategy{Name: "test" + string(kind), Title: "Test of " + string(kind), Graphs: true,
			Class: engine.MayRecompute, Doc: "Fails.", Mark: 90 + len(kind),
			Solver: func(*engine.Problem, engine.Parsed, *engine.Poll) (*engine.Solution, error) { return nil, err }})
	}
}

// networks are the networks that the questions are about.
var networks = []string{"alexnet-b16", "alexnet-graph-b16"}

// budgets are the budgets of the questions, by network. In each, some plans fit and some do not.
var budgets = map[string]engine.Bytes{"alexnet-b16": 751 * engine.MiB, "alexnet-graph-b16": 739 * engine.MiB}

// page returns a page that shows the schedule of a preset.
func page(t *testing.T, preset string) *state.State {
	t.Helper()
	c := choice.Default()
	c.Source.Preset, c.Budget = preset, choice.Budget{Bytes: budgets[preset]}
	s, err := jobs.First(t.Context(), new(serve.Local), c)
	if err != nil {
		t.Fatalf("%s: %v", preset, err)
	}
	return s
}

// asked asks the question on the page s and answers it with the engine. It sets no time limit, so that the
// answers are the same on every machine.
func asked(t *testing.T, s *state.State) (*state.Answers, state.Question) {
	t.Helper()
	var e state.Question
	for _, effect := range s.Update(state.StartQuestion{}) {
		if x, ok := effect.(state.Question); ok {
			e = x
		}
	}
	if e.ID == 0 || e.Request.Limit <= 0 {
		t.Fatalf("starting it does %+v; want a request with a limit", e)
	}
	e.Request.Limit = 0
	e.Request.Methods = slices.DeleteFunc(e.Request.Methods,
		func(m proto.Method) bool { // a new strategy must not change the golden file
			return !strings.HasPrefix(m.Strategy, "test") &&
				!slices.Contains([]string{"keepall", "rotor", "greedy", "dynprog", "pofo", "window", "lms"}, m.Strategy)
		})
	var heard []state.Message
	end := jobs.Question(t.Context(), new(serve.Local), e, func(m state.Message) { heard = append(heard, m) })
	for _, m := range append(heard, end) {
		s.Update(m)
	}
	a := s.Answers()
	if a == nil || !a.Complete() || len(a.List) == 0 || a.Done != len(a.List) {
		t.Fatalf("got %+v after %+v; want all answers", a, end)
	}
	return a, e
}

// clicks uses every answer that has a schedule, and checks that the engine then finds the schedule of the answer.
func clicks(t *testing.T, preset string, a *state.Answers) {
	t.Helper()
	for i, x := range a.List {
		if x.StepTime <= 0 {
			continue
		}
		s := page(t, preset)
		s.Update(state.StartQuestion{})
		s.Answers().List = a.List
		s.Update(state.UseAnswer{Index: i})
		c := s.Choice
		if s.Opening != nil {
			c = s.Opening.Choice
		}
		device := engine.Device{ToHost: c.ToHost, ToDev: c.ToDev, Duplex: c.Duplex}
		r, err := proto.Do(t.Context(), new(serve.Local).Do, &proto.Solve{
			Setting: proto.Setting{Network: proto.Network{Preset: c.Source.Preset}, Device: device,
				Transfers: c.Transfers},
			Method: proto.Method{Strategy: c.Strategy, Args: c.Args}, Budget: c.Budget}, nil)
		if err != nil || r.Trace.Makespan != x.StepTime || c.Strategy != x.Strategy {
			t.Errorf("%s: using %+v chooses %+v, which gives %+v, %v; want the schedule of the answer", preset, x, c,
				r, err)
		}
	}
}

// TestQuestion checks that the question can be asked about a chain and about a graph, and that using an answer
// chooses its plan. The golden file records the answers.
func TestQuestion(t *testing.T) {
	var b strings.Builder
	for _, preset := range networks {
		s := page(t, preset)
		a, e := asked(t, s)
		fmt.Fprintf(&b, "help, %s\n%d answers with %v\n", preset, len(a.List), e.Request.Methods)
		for _, i := range a.ByGain() {
			if x := &a.List[i]; x.Failure != nil {
				fmt.Fprintf(&b, "%s: %s\n", question.ChangeName(x), x.Failure.Kind)
			} else {
				fmt.Fprintf(&b, "%s: %s\n", question.ChangeName(x), format.Duration(x.StepTime))
			}
		}
		clicks(t, preset, a)
	}
	golden.File(t, "testdata/help.golden", b.String())
}

// TestQuestionFails checks that, if the chosen strategy fails, its answers say so and cannot be used.
func TestQuestionFails(t *testing.T) {
	for kind := range failures {
		s := page(t, networks[0])
		s.Update(state.SetStrategy{Name: "test" + string(kind)})
		a, _ := asked(t, s)
		for i, x := range a.List {
			if x.Strategy != s.Choice.Strategy {
				continue
			}
			if x.Failure == nil || x.Failure.Kind != kind || x.StepTime != 0 {
				t.Errorf("%s has the answer %+v; want a failure of kind %s", x.Strategy, x, kind)
			}
			if got := s.Update(state.UseAnswer{Index: i}); len(got) != 0 {
				t.Errorf("an answer without a schedule is used: %+v", got)
			}
		}
	}
}

// TestQuestionStops checks that the question can be stopped between two answers and during the first.
func TestQuestionStops(t *testing.T) {
	s := page(t, networks[0])
	for _, after := range []int{0, 1} {
		var e state.Question
		for _, effect := range s.Update(state.StartQuestion{}) {
			if x, ok := effect.(state.Question); ok {
				e = x
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		if after == 0 {
			cancel()
		}
		var answers []*proto.Suggestion
		_, err := proto.Do(ctx, new(serve.Local).Do, &e.Request, func(x *proto.Suggestion) {
			answers = append(answers, x)
			cancel()
		})
		cancel()
		if len(answers) != after || err == nil && answers[0].Done != answers[0].Total {
			t.Errorf("the context ended after %d answers, and %d were given (%v); want no more of them: Answer returns when "+
				"w.emit says false, and asks ctx.Err() before it gives what no solver had to find", after, len(answers), err)
		}
		if effects := s.Update(state.StopQuestion{}); !slices.Contains(effects,
			state.Effect(state.Cancel{ID: e.ID})) || !s.Answers().Stopped {
			t.Errorf("stopping it does %+v; want its request cancelled", effects)
		}
	}
}
