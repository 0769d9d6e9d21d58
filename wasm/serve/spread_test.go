package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// refusals counts the calls of the strategy testrefuse, which never applies.
var refusals atomic.Int32

func init() {
	keepall := func(p *engine.Problem) (*engine.Solution, error) {
		return engine.Lookup("keepall").Solve(p, engine.Args{}, nil)
	}
	together := func(crashAt int) func(*engine.Problem, engine.Parsed, []engine.Bytes, *engine.Poll,
		func(int, *engine.Solution, error)) {
		return func(p *engine.Problem, _ engine.Parsed, budgets []engine.Bytes, poll *engine.Poll,
			yield func(int, *engine.Solution, error)) {
			for n, i := range slices.Backward([]int{0, 1, 2}[:len(budgets)]) {
				if n == crashAt {
					panic("crashed in the middle")
				}
				sol, err := keepall(p.WithBudget(budgets[i]))
				yield(i, sol, err)
			}
		}
	}
	again := func(p *engine.Problem, _ engine.Parsed, budgets []engine.Bytes, poll *engine.Poll,
		yield func(int, *engine.Solution, error)) {
		answers := engine.NewAnswers(budgets, yield)
		for i, b := range budgets {
			answers.Tell(i, nil, &engine.InfeasibleError{Budget: b})
		}
		sol, _ := keepall(p.WithBudget(engine.NoLimit))
		answers.Add(sol)
		answers.Settle()
	}
	alone := func(*engine.Problem, engine.Parsed, *engine.Poll) (*engine.Solution, error) {
		return nil, errors.New("asked alone")
	}
	engine.Register(&engine.Strategy{Name: "testagain", Title: "testagain", Doc: "Says something better at its end.",
		Solver: alone, Sweeper: again})
	engine.Register(&engine.Strategy{Name: "testtogether", Title: "testtogether", Doc: "Shares work.", Solver: alone,
		Sweeper: together(-1)})
	engine.Register(&engine.Strategy{Name: "testhalf", Title: "testhalf", Doc: "Shares work and crashes.",
		Solver: alone, Sweeper: together(1)})
	engine.Register(&engine.Strategy{Name: "testrefuse", Title: "testrefuse", Doc: "Does not apply.",
		Solver: func(*engine.Problem, engine.Parsed, *engine.Poll) (*engine.Solution, error) {
			refusals.Add(1)
			return nil, engine.ErrUnsupported
		}})
}

func TestSweepTogether(t *testing.T) {
	q := sweepRequest()
	q.Methods = []proto.Method{{Strategy: "testtogether"}, {Strategy: "keepall"}}
	for name, do := range map[string]proto.Doer{"alone": new(Local).one, "spread": new(Local).Do} {
		got := points(t, do, q)
		if len(got) != 6 {
			t.Errorf("%s: got %v; want 6 points", name, got)
		}
		for i := range q.Budgets {
			if a, b := got[fmt.Sprint("testtogether ", i)], got[fmt.Sprint("keepall ", i)]; a != b {
				t.Errorf("%s: budget %d together %q, alone %q", name, i, a, b)
			}
		}
	}
}

// TestSweepSaysAgain checks that if a sweep reports a point again, the later report counts, and the point is
// counted once.
func TestSweepSaysAgain(t *testing.T) {
	q := sweepRequest()
	q.Methods = []proto.Method{{Strategy: "testagain"}, {Strategy: "keepall"}}
	for name, do := range map[string]proto.Doer{"alone": new(Local).one, "spread": new(Local).Do} {
		got := points(t, do, q)
		for i := range q.Budgets {
			if a, b := got[fmt.Sprint("testagain ", i)], got[fmt.Sprint("keepall ", i)]; a != b {
				t.Errorf("%s: budget %d said again %q, keepall %q", name, i, a, b)
			}
		}
	}
}

// TestCrashInTheMiddle checks that points reported before a crash are kept and that the others fail.
func TestCrashInTheMiddle(t *testing.T) {
	q := sweepRequest()
	q.Methods = []proto.Method{{Strategy: "testhalf"}, {Strategy: "rotor"}}
	got := points(t, new(Local).Do, q)
	for point, want := range map[string]string{"testhalf 2": "verified", "testhalf 1": "crash", "testhalf 0": "crash",
		"rotor 2": "verified"} {
		if got[point] != want {
			t.Errorf("%s: %q; want %q (all: %v)", point, got[point], want, got)
		}
	}
}

// TestRefusedOnce checks that a method that does not apply is called once and then fails at all budgets.
func TestRefusedOnce(t *testing.T) {
	q := sweepRequest()
	q.Methods = []proto.Method{{Strategy: "testrefuse"}, {Strategy: "keepall"}}
	spread := func(ctx context.Context, req proto.Request, tell func(any)) (any, error) {
		return Spread(ctx, req.(*proto.Sweep), 1, new(Local).one, tell)
	}
	for name, do := range map[string]proto.Doer{"alone": new(Local).one, "spread": spread} {
		refusals.Store(0)
		got := points(t, do, q)
		if n := refusals.Load(); n != 1 {
			t.Errorf("%s: asked %d times; want once", name, n)
		}
		budgets := map[engine.Bytes]bool{}
		if _, err := proto.Do(context.Background(), do, q,
			func(p *proto.Point) { budgets[p.Budget] = true }); err != nil || len(budgets) != 3 {
			t.Errorf("%s: %v, budgets %v; want all 3 in bytes, also where nobody was asked", name, err, budgets)
		}
		for i := range q.Budgets {
			if v := got[fmt.Sprint("testrefuse ", i)]; v != "unsupported" {
				t.Errorf("%s: budget %d: %q; want unsupported", name, i, v)
			}
		}
	}
}

// scripted answers every point of a part of a sweep. The method slow reports that it took long.
type scripted struct {
	mu  sync.Mutex
	log []string // "method budget" in the order of the requests
}

func (s *scripted) do(_ context.Context, req proto.Request, tell func(any)) (any, error) {
	q := req.(*proto.Sweep)
	for i, b := range q.Budgets {
		p := &proto.Point{Index: i, Budget: b.Bytes, Took: time.Millisecond}
		if q.Methods[0].Strategy == "slow" {
			p.Took = time.Second
		}
		s.mu.Lock()
		s.log = append(s.log, fmt.Sprint(q.Methods[0].Strategy, " ", b.Bytes))
		s.mu.Unlock()
		tell(p)
	}
	return new(proto.Swept), nil
}

// TestSpreadOrder checks the order of points: the first method leads, coarse points come before fine ones for all
// methods, and a slow method waits for the others.
func TestSpreadOrder(t *testing.T) {
	q := &proto.Sweep{Methods: []proto.Method{{Strategy: "chosen"}, {Strategy: "slow"}, {Strategy: "quick"},
		{Strategy: "testtogether"}}}
	for b := range 17 {
		q.Budgets = append(q.Budgets, choice.Budget{Bytes: engine.Bytes(b)})
	}
	var s scripted
	seen := map[string]int{}
	_, err := Spread(context.Background(), q, 1, s.do, func(p any) {
		seen[fmt.Sprint(p.(*proto.Point).Method, " ", p.(*proto.Point).Index)]++
	})
	if err != nil || len(seen) != 4*17 || len(s.log) != 4*17 {
		t.Fatalf("%d different points, %d asked for, %v; want each of %d once", len(seen), len(s.log), err, 4*17)
	}
	at := func(strategy string, budget int) int { return slices.Index(s.log, fmt.Sprint(strategy, " ", budget)) }
	for _, c := range []struct {
		first string
		b     int
		then  string
		b2    int
	}{
		{"chosen", 16, "quick", 16}, {"chosen", 0, "quick", 16}, // the first method leads
		{"quick", 0, "quick", 12}, {"quick", 4, "quick", 2}, {"quick", 14, "quick", 15}, // coarse before fine
		{"quick", 8, "chosen", 12}, // all lines grow together
		{"quick", 1, "slow", 8},    // the slow method is put off
	} {
		if a, b := at(c.first, c.b), at(c.then, c.b2); a < 0 || a >= b {
			t.Errorf("%s at %d is number %d, %s at %d number %d; want it before\n%s", c.first, c.b, a, c.then, c.b2,
				b, strings.Join(s.log, "\n"))
		}
	}
	first, last := slices.Index(s.log, "testtogether 0"), slices.Index(s.log, "testtogether 16")
	if last-first != 16 {
		t.Errorf("what shares work is asked for from number %d to %d; want all at once", first, last)
	}
}

// TestSpreadMissingPoints checks that a worker that reports fewer points than it was asked for does not block the
// sweep.
func TestSpreadMissingPoints(t *testing.T) {
	failed := 0
	_, err := Spread(context.Background(), sweepRequest(), 2,
		func(context.Context, proto.Request, func(any)) (any, error) {
			return new(proto.Swept), nil
		}, func(p any) {
			if f := p.(*proto.Point).Failure; f != nil && f.Kind == proto.Crash {
				failed++
			}
		})
	if err != nil || failed != 9 {
		t.Errorf("%d points failed, %v; want all 9", failed, err)
	}
}
