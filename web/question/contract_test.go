package question_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest/golden"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/jobs"
	"memtide/web/question"
	"memtide/web/state"
)

// Strategies that fail, each in its way.
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

// networks are what every question is asked about.
var networks = []string{"alexnet-b16", "alexnet-graph-b16"}

// budgets are those in which they are asked about: some plans fit, and some do not.
var budgets = map[string]engine.Bytes{"alexnet-b16": 751 * engine.MiB, "alexnet-graph-b16": 739 * engine.MiB}

// page is a page that shows the schedule of a preset.
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

// asked asks a question on a page and has the engine answer it, without a limit of
// time: what comes out is the same on every machine.
func asked(t *testing.T, s *state.State, q *question.Question) (*state.Answers, state.Question) {
	t.Helper()
	var e state.Question
	for _, effect := range s.Update(state.StartQuestion{Name: q.Name}) {
		if x, ok := effect.(state.Question); ok {
			e = x
		}
	}
	if e.ID == 0 || e.Request.Name != q.Name || e.Request.Limit <= 0 {
		t.Fatalf("%s: starting it does %+v; want a request with a limit", q.Name, e)
	}
	e.Request.Limit = 0
	e.Request.Methods = slices.DeleteFunc(e.Request.Methods, func(m proto.Method) bool { // a new strategy changes no golden
		return !strings.HasPrefix(m.Strategy, "test") && !slices.Contains([]string{"keepall", "rotor", "greedy", "dynprog", "pofo", "window", "lms"}, m.Strategy)
	})
	var heard []state.Message
	end := jobs.Question(t.Context(), new(serve.Local), e, func(m state.Message) { heard = append(heard, m) })
	for _, m := range append(heard, end) {
		s.Update(m)
	}
	a := s.Answers(q)
	if a == nil || !a.Complete() || len(a.List) == 0 || a.Done != len(a.List) {
		t.Fatalf("%s: got %+v after %+v; want all answers", q.Name, a, end)
	}
	return a, e
}

// reading checks how answers read, and returns it.
func reading(t *testing.T, q *question.Question, a *question.Answers, s question.Subject) string {
	t.Helper()
	var b strings.Builder
	sentence := q.Sentence(a, s)
	if sentence == "" || !strings.HasSuffix(sentence, ".") || strings.HasSuffix(sentence, "..") {
		t.Errorf("%s: of %+v the sentence is %q; want one", q.Name, a, sentence)
	}
	fmt.Fprintln(&b, sentence)
	if q.Button != nil {
		fmt.Fprintf(&b, "[%s]\n", q.Button(a))
	}
	if q.Table != nil {
		table := q.Table(a, s)
		fmt.Fprintf(&b, "\n%s\n", strings.Join(table.Columns, " | "))
		for _, r := range table.Rows {
			b.WriteString(row(t, q, a, len(table.Columns), r))
		}
		if len(table.Rows) == 0 || slices.Contains(table.Columns, "") {
			t.Errorf("%s: the table is %+v; want rows, and names of columns", q.Name, table)
		}
	}
	if q.Chart != nil {
		c := q.Chart(a, s)
		if !(c.From < c.To && c.Low < c.Top) || c.Chosen != s.Method.Strategy {
			t.Errorf("%s: the chart goes from %v to %v and from %v to %v; want axes", q.Name, c.From, c.To, c.Low, c.Top)
		}
		for _, l := range c.Lines {
			for _, p := range l.Points {
				if words := c.PointWords(p.Answer); !strings.HasPrefix(words, l.Title+"\n") || a.List[p.Answer].Strategy != l.Strategy {
					t.Errorf("%s: the words of the point %+v of %s are %q", q.Name, p, l.Title, words)
				}
			}
		}
		fmt.Fprintf(&b, "\n%s\n", strings.ReplaceAll(c.Words(), "; ", "\n"))
	}
	return b.String()
}

// row checks a row of a table.
func row(t *testing.T, q *question.Question, a *question.Answers, columns int, r question.Row) string {
	t.Helper()
	texts, empty := []string{r.Head}, 0
	for _, c := range r.Cells {
		texts = append(texts, c.Text)
		if c.Text == "" {
			empty++
		}
	}
	want := 0
	if a.List[r.Answer].StepTime <= 0 {
		want = len(r.Cells) - 1 // one says why
	}
	if len(texts) != columns || r.Head == "" || empty != want || r.Use != "" && a.List[r.Answer].StepTime <= 0 {
		t.Errorf("%s: %+v is the row of %+v; want %d cells, %d of them empty, and nothing to use without a schedule", q.Name, r, a.List[r.Answer], columns-1, want)
	}
	if r.Use != "" {
		texts = append(texts, "-> "+r.Use)
	}
	return strings.Join(texts, " | ") + "\n"
}

// clicks uses every answer that a table or a chart offers: each is a choice that
// the engine can solve.
func clicks(t *testing.T, q *question.Question, preset string, a *state.Answers, subject question.Subject) {
	t.Helper()
	offered := map[int]bool{0: q.Button != nil}
	if q.Table != nil {
		for _, r := range q.Table(&a.Answers, subject).Rows {
			offered[r.Answer] = offered[r.Answer] || r.Use != ""
		}
	}
	if q.Chart != nil {
		for _, l := range q.Chart(&a.Answers, subject).Lines {
			for _, p := range l.Points {
				offered[p.Answer] = true
			}
		}
	}
	for i := range a.List {
		if !offered[i] {
			continue
		}
		s := page(t, preset)
		s.Update(state.StartQuestion{Name: q.Name})
		s.Answers(q).List = a.List
		x := a.List[i]
		s.Update(state.UseAnswer{Name: q.Name, Index: i})
		c := s.Choice
		if s.Opening != nil {
			c = s.Opening.Choice
		}
		device := engine.Device{ToHost: c.ToHost, ToDev: c.ToDev, Duplex: c.Duplex}
		r, err := proto.Do(t.Context(), new(serve.Local).Do, &proto.Solve{
			Setting: proto.Setting{Network: proto.Network{Preset: c.Source.Preset}, Device: device, Transfers: c.Transfers},
			Method:  proto.Method{Strategy: c.Strategy, Args: c.Args}, Budget: c.Budget}, nil)
		if err != nil || r.Trace.Makespan != x.StepTime || c.Strategy != x.Strategy {
			t.Errorf("%s of %s: using %+v chooses %+v, which gives %+v, %v; want the schedule of the answer", q.Name, preset, x, c, r, err)
		}
	}
}

// Every question can be asked about a chain and a graph, reads well, and what is
// clicked is what was answered. What it answers and how that reads is written down.
func TestQuestions(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+$`)
	for _, q := range question.All() {
		t.Run(q.Name, func(t *testing.T) {
			if !name.MatchString(q.Name) || q.Title == "" || (q.Short == nil) != (q.Headline == nil) || q.Limit <= 0 {
				t.Errorf("%+v lacks a name of letters, a title, a limit, or one of the short question and its answer", q)
			}
			var b strings.Builder
			for _, preset := range networks {
				s := page(t, preset)
				a, e := asked(t, s, q)
				fmt.Fprintf(&b, "%s, %s\n%d answers with %v\n", q.Title, preset, len(a.List), e.Request.Methods)
				b.WriteString(reading(t, q, &a.Answers, s.Subject()) + "\n")
				clicks(t, q, preset, a, s.Subject())
			}
			golden.File(t, filepath.Join("testdata", q.Name+".golden"), b.String())
		})
	}
}

// However the chosen strategy, or every one, fails, there is something to read.
func TestQuestionsFail(t *testing.T) {
	for _, q := range question.All() {
		for kind := range failures {
			s := page(t, networks[0])
			s.Update(state.SetStrategy{Name: "test" + string(kind)})
			a, _ := asked(t, s, q)
			subject := s.Subject()
			reading(t, q, &a.Answers, subject)
			for i := range a.List {
				x := &a.List[i]
				if x.Strategy == subject.Method.Strategy && (x.Failure == nil || x.Failure.Kind != kind || x.StepTime != 0) {
					t.Errorf("%s: %s has the answer %+v; want a failure of kind %s", q.Name, x.Strategy, x, kind)
				}
				x.StepTime, x.Failure = 0, proto.Fail(kind, "it is so")
			}
			for _, keepAll := range []time.Duration{a.KeepAll, 0} {
				a.KeepAll, a.Base = keepAll, 0
				reading(t, q, &a.Answers, subject)
			}
			if got := s.Update(state.UseAnswer{Name: q.Name}); len(got) != 0 {
				t.Errorf("%s: an answer without a schedule is used: %+v", q.Name, got)
			}
		}
	}
}

// Every question stops, between two answers or while it looks for the first.
func TestQuestionsStop(t *testing.T) {
	for _, q := range question.All() {
		s := page(t, networks[0])
		for _, after := range []int{0, 1} {
			var e state.Question
			for _, effect := range s.Update(state.StartQuestion{Name: q.Name}) {
				if x, ok := effect.(state.Question); ok {
					e = x
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			if after == 0 {
				cancel()
			}
			var answers []*proto.Answer
			r, err := proto.Do(ctx, new(serve.Local).Do, &e.Request, func(p *proto.Answering) {
				if p.Answer != nil {
					answers = append(answers, p.Answer)
					cancel()
				}
			})
			cancel()
			if len(answers) != after || err == nil && r.Answers != answers[0].Total {
				t.Errorf("%s: the context ended after %d answers, and %d were given (%v); want no more of them: "+
					"Answer returns when w.give says false, and asks ctx.Err() before it gives what no solver had to find", q.Name, after, len(answers), err)
			}
			if effects := s.Update(state.StopQuestion{Name: q.Name}); !slices.Contains(effects, state.Effect(state.Cancel{ID: e.ID})) || !s.Answers(q).Stopped {
				t.Errorf("%s: stopping it does %+v; want its request cancelled", q.Name, effects)
			}
		}
	}
}
