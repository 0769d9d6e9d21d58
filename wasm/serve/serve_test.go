package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memtide/engine"
	_ "memtide/engine/all" // as in the browser's program
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// init registers strategies that fail on purpose.
func init() {
	fail := func(name string, solve func(*engine.Problem, engine.Parsed, *engine.Poll) (*engine.Solution, error)) {
		engine.Register(&engine.Strategy{Name: name, Title: name, Doc: "Fails on purpose.", Graphs: true,
			Solver: solve})
	}
	fail("testpanic", func(*engine.Problem, engine.Parsed, *engine.Poll) (*engine.Solution, error) {
		var none []int
		return nil, fmt.Errorf("%d", none[3])
	})
	fail("testbroken", func(*engine.Problem, engine.Parsed, *engine.Poll) (*engine.Solution, error) {
		return nil, errors.New("a table has a hole")
	})
	fail("testslow", func(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
		best, err := engine.Lookup("keepall").Solve(p, engine.Args{}, nil)
		if err != nil {
			return nil, err
		}
		for {
			poll.Report(engine.Progress{Done: 1, Total: 2, Best: best})
			if err := poll.Err(); err != nil {
				return best, err
			}
		}
	})
	fail("testliar", func(p *engine.Problem, _ engine.Parsed, _ *engine.Poll) (*engine.Solution, error) {
		sol, err := engine.Lookup("keepall").Solve(p, engine.Args{}, nil)
		if err == nil {
			sol.Makespan--
		}
		return sol, err
	})
	fail("testnonsense", func(p *engine.Problem, _ engine.Parsed, _ *engine.Poll) (*engine.Solution, error) {
		return &engine.Solution{Schedule: engine.Schedule{engine.Run(p.Chain.Bwd(1))}}, nil
	})
}

func setting(preset string) proto.Setting {
	return proto.Setting{Network: proto.Network{Preset: preset},
		Device: engine.Device{ToHost: 12_500_000_000, ToDev: 12_500_000_000}}
}

func solveWith(strategy string, b choice.Budget) *proto.Solve {
	return &proto.Solve{Setting: setting("resnet50-b8"), Method: proto.Method{Strategy: strategy}, Budget: b}
}

// ask returns the result or the failure of a request and the progress values before it.
func ask[Q proto.Asks[R, P], R, P any](t *testing.T, s *Server, req Q) (R, *proto.Failure, []P) {
	t.Helper()
	return askIn(t, t.Context(), s, req)
}

// ticking returns a context in which work takes time: 256 polls take a millisecond of the clock of a synctest
// bubble.
func ticking(t *testing.T) context.Context {
	return context.WithValue(t.Context(), engine.Yield{}, func() { time.Sleep(time.Millisecond) })
}

func askIn[Q proto.Asks[R, P], R, P any](t *testing.T, ctx context.Context, s *Server, req Q) (result R,
	fail *proto.Failure, told []P) {
	t.Helper()
	result, err := proto.Do(ctx, s.Handle, req, func(p P) { told = append(told, p) })
	if any(result) == any(*new(R)) && err == nil {
		t.Fatal("got neither a result nor an error")
	}
	if err != nil {
		fail = err.(*proto.Failure)
	}
	return result, fail, told
}

func TestSolve(t *testing.T) {
	for _, strategy := range []string{"keepall", "sequential", "rotor"} {
		s, fail, _ := ask(t, new(Server), solveWith(strategy, choice.Budget{Share: 100 * choice.Percent}))
		if s == nil || s.Trace == nil || !s.Verdict.Verified {
			t.Errorf("%s at 100 %%: got %+v %v, want a verified schedule", strategy, s, fail)
			continue
		}
		if s.Trace.Makespan != s.Claim.StepTime || s.Trace.Peak > s.Budget || s.Budget != s.KeepAll.Peak ||
			len(s.Schedule) == 0 {
			t.Errorf("%s: step time %v (claimed %v), peak %d, budget %d, keeping everything %+v, %d steps", strategy,
				s.Trace.Makespan, s.Claim.StepTime, s.Trace.Peak, s.Budget, s.KeepAll, len(s.Schedule))
		}
		if len(s.Bounds) == 0 || s.Bounds[0].StepTime <= 0 || s.Bounds[0].StepTime > s.Trace.Makespan {
			t.Errorf("%s: bounds %+v, want one above 0 and at most %v", strategy, s.Bounds, s.Trace.Makespan)
		}
	}
}

// TestFailures checks that each way to fail has its own kind of failure.
func TestFailures(t *testing.T) {
	noLink := solveWith("greedy", choice.Budget{Share: 60 * choice.Percent})
	noLink.Device = engine.Device{}
	tooSmall := solveWith("rotor", choice.Budget{Bytes: 1})
	slow := solveWith("testslow", choice.Budget{Share: 100 * choice.Percent})
	slow.Limit = 20 * time.Millisecond
	badArgs := solveWith("rotor", choice.Budget{Share: 60 * choice.Percent})
	badArgs.Args = engine.Args{"nonsense": "1"}
	noNetwork := solveWith("rotor", choice.Budget{Share: 60 * choice.Percent})
	noNetwork.Network = proto.Network{}
	noPreset := solveWith("rotor", choice.Budget{Share: 60 * choice.Percent})
	noPreset.Network.Preset = "resnet51-b8"
	for _, c := range []struct {
		name string
		req  proto.Request
		kind proto.FailureKind
		text string
	}{
		{"too small", tooSmall, proto.Infeasible, "does not fit"},
		{"no link", noLink, proto.Unsupported, "link"},
		{"out of time", slow, proto.Deadline, "testslow"},
		{"panic", solveWith("testpanic", choice.Budget{Share: 60 * choice.Percent}), proto.Crash, "index out of range"},
		{"error of the program", solveWith("testbroken", choice.Budget{Share: 60 * choice.Percent}), proto.Crash,
			"The program failed: a table has a hole"},
		{"unknown strategy", solveWith("nobody", choice.Budget{Share: 60 * choice.Percent}), proto.BadRequest,
			`"nobody"`},
		{"unknown argument", badArgs, proto.BadRequest, "nonsense"},
		{"no network", noNetwork, proto.BadRequest, "no network"},
		{"unknown preset", noPreset, proto.BadRequest, `no network "resnet51"; click the name of the one`},
		{"negative budget", solveWith("rotor", choice.Budget{Bytes: -1}), proto.BadRequest, "budget"},
		{"nothing asked", new(proto.Solve), proto.BadRequest, "no network"},
		{"what nobody answers", new(proto.Break), proto.Elsewhere, `does not answer the request "break"`},
		{"bad file", &proto.Open{File: "x.csv", Bytes: []byte("no profile")}, proto.BadRequest, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			var s Server
			_, err := s.Handle(ticking(t), c.req, nil)
			if f, ok := errors.AsType[*proto.Failure](err); !ok || f.Kind != c.kind ||
				!strings.Contains(f.Text, c.text) || f.Text == "" {
				t.Errorf("%s: got %+v, want a failure of kind %q that says %q", c.name, err, c.kind, c.text)
			}
			// The server still works afterwards.
			if _, fail, _ := ask(t, &s, solveWith("keepall", choice.Budget{Share: 100 * choice.Percent})); fail != nil {
				t.Errorf("%s: the next request: got %v, want an answer", c.name, fail)
			}
		})
	}
}

// TestSmallest checks that the failure for a budget that is too small names the smallest budget that is enough,
// exactly.
func TestSmallest(t *testing.T) {
	var s Server
	_, fail, _ := ask(t, &s, solveWith("rotor", choice.Budget{Bytes: 1}))
	if fail == nil || fail.Smallest <= 0 || fail.Budget != 1 {
		t.Fatalf("got %+v, want the smallest budget", fail)
	}
	if _, again, _ := ask(t, &s, solveWith("rotor", choice.Budget{Bytes: fail.Smallest})); again != nil {
		t.Errorf("at the smallest budget, %d: got %v, want a schedule", fail.Smallest, again)
	}
	if _, again, _ := ask(t, &s, solveWith("rotor", choice.Budget{Bytes: fail.Smallest - 1})); again == nil {
		t.Errorf("one byte below the smallest budget: got a schedule, want a failure")
	}
}

// TestBestSoFar checks that a failure because of the time limit comes with the best solution so far, and that the
// progress before it contains one too.
func TestBestSoFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		req := solveWith("testslow", choice.Budget{Share: 100 * choice.Percent})
		req.Limit = 5 * engine.ReportEvery / 2
		asked := time.Now()
		solved, fail, progress := askIn(t, ticking(t), new(Server), req)
		if took := time.Since(asked); took != req.Limit {
			t.Errorf("stopped after %v, want %v", took, req.Limit)
		}
		if fail == nil || fail.Kind != proto.Deadline || solved == nil || !solved.Verdict.Verified {
			t.Errorf("got %v and %+v, want a deadline and a verified best so far", fail, solved)
		}
		if len(progress) != 3 || progress[0].Best == nil {
			t.Errorf("got %d times how far it is, want 3, the first with the best so far", len(progress))
		}
	})
}

// TestUnseen checks that progress contains a best solution so far only after Server.Unseen. A network of longSolves
// operations or more has one at once, because solving it takes longer anyway.
func TestUnseen(t *testing.T) {
	for preset, want := range map[string][]bool{"resnet50-b8": {false, true}, "densenet201-graph-b2": {true}} {
		synctest.Test(t, func(t *testing.T) {
			req := solveWith("testslow", choice.Budget{Share: 100 * choice.Percent})
			req.Network.Preset = preset
			req.Limit = 5 * engine.ReportEvery / 2
			_, _, progress := askIn(t, ticking(t), &Server{Unseen: engine.ReportEvery / 2}, req)
			var got []bool
			for _, r := range progress {
				got = append(got, r.Best != nil)
			}
			if got = got[:min(len(got), len(want))]; !slices.Equal(got, want) {
				t.Errorf("%s: replies with a best so far: %v; want %v", preset, got, want)
			}
		})
	}
}

// TestUnbelieved checks that a false step time or an invalid schedule of a strategy is noticed.
func TestUnbelieved(t *testing.T) {
	for strategy, want := range map[string]string{"testliar": "claims a step time",
		"testnonsense": "cannot be played"} {
		s, fail, _ := ask(t, new(Server), solveWith(strategy, choice.Budget{Share: 100 * choice.Percent}))
		if s == nil || s.Verdict.Verified || !strings.Contains(s.Verdict.Problem, want) {
			t.Errorf("%s: got %+v %v, want a verdict that says %q", strategy, s, fail, want)
		}
	}
}

// TestOpen checks that a preset is the same network when it is opened by name and when its canonical profile is
// opened and solved as a file.
func TestOpen(t *testing.T) {
	var s Server
	first, fail, _ := ask(t, &s, &proto.Open{Preset: "resnet50-b8"})
	if fail != nil {
		t.Fatal(fail)
	}
	if tot := first.Totals; tot.Stages == 0 || tot.KeepAllPeak <= 0 || tot.Forward <= 0 || first.NoChain != "" {
		t.Errorf("got the totals %+v, %q; want a chain", tot, first.NoChain)
	}
	second, fail, _ := ask(t, &s, &proto.Open{File: "x", Bytes: first.Profile})
	if fail != nil || string(second.Profile) != string(first.Profile) || second.Totals != first.Totals {
		t.Fatalf("opened again: got %+v %v, want the same profile and totals", second, fail)
	}
	preset, fail, _ := ask(t, &s, solveWith("rotor", choice.Budget{Share: 60 * choice.Percent}))
	if fail != nil {
		t.Fatal(fail)
	}
	req := solveWith("rotor", choice.Budget{Share: 60 * choice.Percent})
	req.Network = proto.Network{Profile: first.Profile}
	if file, fail, _ := ask(t, &s, req); fail != nil || file.Claim.StepTime != preset.Claim.StepTime ||
		file.Budget != preset.Budget {
		t.Errorf("solved as a file: %+v (%v); as a preset: %+v", file, fail, preset)
	}
}

func sweepRequest() *proto.Sweep {
	return &proto.Sweep{
		Setting: setting("resnet50-b8"),
		Methods: []proto.Method{{Strategy: "keepall"}, {Strategy: "rotor"}, {Strategy: "testpanic"}},
		Budgets: []choice.Budget{{Bytes: 1}, {Share: 50 * choice.Percent}, {Share: 100 * choice.Percent}},
	}
}

// TestSweep checks that a sweep has the same points whether one worker computes it or several do.
func TestSweep(t *testing.T) {
	q := sweepRequest()
	q.Methods = q.Methods[:2]
	alone := points(t, new(Local).one, q) // here the crash of one point would end the sweep
	spread := points(t, new(Local).Do, q)
	if len(alone) != 6 || fmt.Sprint(alone) != fmt.Sprint(spread) {
		t.Errorf("alone:  %v\nspread: %v", alone, spread)
	}
	if alone["keepall 0"] != "infeasible" || alone["rotor 2"] != "verified" || alone["rotor 1"] != "verified" ||
		alone["keepall 1"] != "infeasible" {
		t.Errorf("got %v; want keepall to fit only at 100 %%, rotor also at 50 %%", alone)
	}
	// A point whose solver crashes is a failed point.
	if all := points(t, new(Local).Do, sweepRequest()); len(all) != 9 || all["testpanic 1"] != "crash" ||
		all["rotor 2"] != "verified" {
		t.Errorf("with a crashing strategy: got %v", all)
	}
}

func points(t *testing.T, do proto.Doer, req *proto.Sweep) map[string]string {
	t.Helper()
	out := map[string]string{}
	done := 0
	r, err := proto.Do(context.Background(), do, req, func(p *proto.Point) {
		at := fmt.Sprint(p.Strategy, " ", p.Index)
		if out[at] == "" { // otherwise the point is reported again
			done++
		}
		if p.Done != done || p.Total != len(req.Methods)*len(req.Budgets) {
			t.Errorf("progress %d: done %d of %d", done, p.Done, p.Total)
		}
		verdict := "wrong"
		switch {
		case p.Failure != nil:
			verdict = string(p.Failure.Kind)
		case p.Verdict.Verified && p.StepTime > 0 && p.Peak <= p.Budget && p.Bound <= p.StepTime:
			verdict = "verified"
		}
		out[at] = verdict
	})
	if err != nil || r.KeepAll.StepTime <= 0 {
		t.Fatalf("got %+v, %v after %d points", r, err, done)
	}
	return out
}

// TestSweepBadNetwork checks that a bad network fails a sweep once, not at every point.
func TestSweepBadNetwork(t *testing.T) {
	req := sweepRequest()
	req.Network = proto.Network{Profile: json.RawMessage(`{"format":"memtide/1"}`)}
	n := 0
	_, err := new(Local).Do(context.Background(), req, func(any) { n++ })
	var fail *proto.Failure
	if !errors.As(err, &fail) || fail.Kind != proto.BadRequest || n != 0 {
		t.Errorf("got %v and %d points, want one bad request", err, n)
	}
}

func TestSpreadCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	_, err := Spread(ctx, sweepRequest(), 2, func(ctx context.Context, _ proto.Request, _ func(any)) (any, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}, func(any) { n++ })
	if !errors.Is(err, context.Canceled) || n != 0 {
		t.Errorf("got %v and %d points, want a cancelled sweep", err, n)
	}
}

// TestWhoseFailure checks that sweeps and questions, too, report an error that is not the request's fault as a
// failure of the program.
func TestWhoseFailure(t *testing.T) {
	broken := []proto.Method{{Strategy: "testbroken"}}
	set := setting("resnet50-b8")
	var s Server
	_, _, all := ask(t, &s, &proto.Sweep{Setting: set, Methods: broken,
		Budgets: []choice.Budget{{Share: 60 * choice.Percent}}})
	if len(all) == 0 || all[len(all)-1].Failure == nil || all[len(all)-1].Failure.Kind != proto.Crash {
		t.Errorf("sweep: got %+v, want a failure of the program", all)
	}
	_, _, told := ask(t, &s, &proto.Question{Setting: set, Method: broken[0], Methods: broken,
		Budget: choice.Budget{Bytes: engine.GiB}})
	if len(told) == 0 || told[0].Failure == nil || told[0].Failure.Kind != proto.Crash {
		t.Errorf("question: got %+v, want a failure of the program", told)
	}
}
