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
	_ "memtide/engine/all" // also in the browser's program
	"memtide/engine/scale"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// Strategies that fail on purpose.
func init() {
	fail := func(name string, solve func(*engine.Problem, engine.Parsed, *engine.Poll) (*engine.Solution, error)) {
		engine.Register(&engine.Strategy{Name: name, Title: name, Doc: "Fails on purpose.", Graphs: true, Solver: solve})
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
	return proto.Setting{Network: proto.Network{Preset: preset}, Device: engine.Device{ToHost: 12_500_000_000, ToDev: 12_500_000_000}}
}

func solveWith(strategy string, b choice.Budget) *proto.Request {
	return &proto.Request{Op: proto.OpSolve, Solve: &proto.Solve{Setting: setting("resnet50-b8"), Method: proto.Method{Strategy: strategy}, Budget: b}}
}

// ask returns the final reply and the progress replies.
func ask(t *testing.T, s *Server, req *proto.Request) (*proto.Reply, []*proto.Reply) {
	t.Helper()
	return askIn(t, t.Context(), s, req)
}

// ticking is a context in which work takes time: a millisecond for 256 polls, of the
// clock of a synctest bubble.
func ticking(t *testing.T) context.Context {
	return context.WithValue(t.Context(), engine.Yield{}, func() { time.Sleep(time.Millisecond) })
}

func askIn(t *testing.T, ctx context.Context, s *Server, req *proto.Request) (*proto.Reply, []*proto.Reply) {
	t.Helper()
	var all []*proto.Reply
	s.Handle(ctx, req, func(r *proto.Reply) { all = append(all, r) })
	if len(all) == 0 {
		t.Fatal("got no reply")
	}
	for _, r := range all[:len(all)-1] {
		if r.Kind != proto.KindProgress {
			t.Fatalf("got a reply of kind %q before the last", r.Kind)
		}
	}
	last := all[len(all)-1]
	if (last.Kind == proto.KindFailure) != (last.Failure != nil) || last.Kind == proto.KindProgress {
		t.Fatalf("the last reply is of kind %q with the failure %v", last.Kind, last.Failure)
	}
	return last, all[:len(all)-1]
}

func TestSolve(t *testing.T) {
	for _, strategy := range []string{"keepall", "sequential", "rotor"} {
		r, _ := ask(t, new(Server), solveWith(strategy, choice.Budget{Share: 100 * choice.Percent}))
		if r.Solved == nil || r.Solved.Trace == nil || !r.Solved.Verdict.Verified {
			t.Errorf("%s at 100 %%: got %+v %v, want a verified schedule", strategy, r.Solved, r.Failure)
			continue
		}
		s := r.Solved
		if s.Trace.Makespan != s.Claim.StepTime || s.Trace.Peak > s.Budget || s.Budget != s.KeepAll.Peak || len(s.Schedule) == 0 {
			t.Errorf("%s: step time %v (claimed %v), peak %d, budget %d, keeping everything %+v, %d steps", strategy,
				s.Trace.Makespan, s.Claim.StepTime, s.Trace.Peak, s.Budget, s.KeepAll, len(s.Schedule))
		}
		if len(s.Bounds) == 0 || s.Bounds[0].StepTime <= 0 || s.Bounds[0].StepTime > s.Trace.Makespan {
			t.Errorf("%s: bounds %+v, want one above 0 and at most %v", strategy, s.Bounds, s.Trace.Makespan)
		}
	}
}

// The ways to fail are told apart.
func TestFailures(t *testing.T) {
	noLink := solveWith("greedy", choice.Budget{Share: 60 * choice.Percent})
	noLink.Solve.Device = engine.Device{}
	tooSmall := solveWith("rotor", choice.Budget{Bytes: 1})
	slow := solveWith("testslow", choice.Budget{Share: 100 * choice.Percent})
	slow.Solve.Limit = 20 * time.Millisecond
	badArgs := solveWith("rotor", choice.Budget{Share: 60 * choice.Percent})
	badArgs.Solve.Args = engine.Args{"nonsense": "1"}
	noNetwork := solveWith("rotor", choice.Budget{Share: 60 * choice.Percent})
	noNetwork.Solve.Network = proto.Network{}
	noPreset := solveWith("rotor", choice.Budget{Share: 60 * choice.Percent})
	noPreset.Solve.Network.Preset = "resnet51-b8"
	for _, c := range []struct {
		name string
		req  *proto.Request
		kind proto.FailureKind
		text string
	}{
		{"too small", tooSmall, proto.Infeasible, "does not fit"},
		{"no link", noLink, proto.Unsupported, "link"},
		{"out of time", slow, proto.Deadline, "testslow"},
		{"panic", solveWith("testpanic", choice.Budget{Share: 60 * choice.Percent}), proto.Crash, "index out of range"},
		{"error of the program", solveWith("testbroken", choice.Budget{Share: 60 * choice.Percent}), proto.Crash, "The program failed: a table has a hole"},
		{"unknown strategy", solveWith("nobody", choice.Budget{Share: 60 * choice.Percent}), proto.BadRequest, `"nobody"`},
		{"unknown argument", badArgs, proto.BadRequest, "nonsense"},
		{"no network", noNetwork, proto.BadRequest, "no network"},
		{"unknown preset", noPreset, proto.BadRequest, "resnet51"},
		{"negative budget", solveWith("rotor", choice.Budget{Bytes: -1}), proto.BadRequest, "budget"},
		{"nothing asked", &proto.Request{Op: proto.OpSolve}, proto.BadRequest, "solve"},
		{"bad file", &proto.Request{Op: proto.OpOpen, Open: &proto.Open{File: "x.csv", Bytes: []byte("no profile")}}, proto.BadRequest, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			var s Server
			r, _ := askIn(t, ticking(t), &s, c.req)
			if r.Failure == nil || r.Failure.Kind != c.kind || !strings.Contains(r.Failure.Text, c.text) || r.Failure.Text == "" {
				t.Errorf("%s: got %+v, want a failure of kind %q that says %q", c.name, r.Failure, c.kind, c.text)
			}
			// The server is of use afterwards.
			if r, _ := ask(t, &s, solveWith("keepall", choice.Budget{Share: 100 * choice.Percent})); r.Failure != nil {
				t.Errorf("%s: the next request: got %v, want an answer", c.name, r.Failure)
			}
		})
	}
}

// A budget that is too small names the smallest that would do, and that one does.
func TestSmallest(t *testing.T) {
	var s Server
	r, _ := ask(t, &s, solveWith("rotor", choice.Budget{Bytes: 1}))
	if r.Failure == nil || r.Failure.Smallest <= 0 || r.Failure.Budget != 1 {
		t.Fatalf("got %+v, want the smallest budget", r.Failure)
	}
	if again, _ := ask(t, &s, solveWith("rotor", choice.Budget{Bytes: r.Failure.Smallest})); again.Failure != nil {
		t.Errorf("at the smallest budget, %d: got %v, want a schedule", r.Failure.Smallest, again.Failure)
	}
	if again, _ := ask(t, &s, solveWith("rotor", choice.Budget{Bytes: r.Failure.Smallest - 1})); again.Failure == nil {
		t.Errorf("one byte below the smallest budget: got a schedule, want a failure")
	}
}

// A deadline comes with the best so far, and progress before it too.
func TestBestSoFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		req := solveWith("testslow", choice.Budget{Share: 100 * choice.Percent})
		req.Solve.Limit = 5 * engine.ReportEvery / 2
		asked := time.Now()
		r, progress := askIn(t, ticking(t), new(Server), req)
		if took := time.Since(asked); took != req.Solve.Limit {
			t.Errorf("stopped after %v, want %v", took, req.Solve.Limit)
		}
		if r.Failure == nil || r.Failure.Kind != proto.Deadline || r.Solved == nil || !r.Solved.Verdict.Verified {
			t.Errorf("got %v and %+v, want a deadline and a verified best so far", r.Failure, r.Solved)
		}
		if len(progress) != 3 || progress[0].Progress == nil || !progress[0].Progress.Best || progress[0].Solved == nil {
			t.Errorf("got %d progress replies, want 3, the first with the best so far", len(progress))
		}
	})
}

// A best so far that stood for less than the page shows anything is told after that; one
// of a network that takes longer in any case at once.
func TestUnseen(t *testing.T) {
	for preset, want := range map[string][]bool{"resnet50-b8": {false, true}, "gpt2-xl-graph-b2": {true}} {
		synctest.Test(t, func(t *testing.T) {
			req := solveWith("testslow", choice.Budget{Share: 100 * choice.Percent})
			req.Solve.Network.Preset = preset
			req.Solve.Limit = 5 * engine.ReportEvery / 2
			_, progress := askIn(t, ticking(t), &Server{Unseen: engine.ReportEvery / 2}, req)
			var got []bool
			for _, r := range progress {
				got = append(got, r.Progress.Best && r.Solved != nil)
			}
			if got = got[:min(len(got), len(want))]; !slices.Equal(got, want) {
				t.Errorf("%s: replies with a best so far: %v; want %v", preset, got, want)
			}
		})
	}
}

// What a strategy claims and does is not believed.
func TestUnbelieved(t *testing.T) {
	for strategy, want := range map[string]string{"testliar": "claims a step time", "testnonsense": "cannot be played"} {
		r, _ := ask(t, new(Server), solveWith(strategy, choice.Budget{Share: 100 * choice.Percent}))
		if r.Solved == nil || r.Solved.Verdict.Verified || !strings.Contains(r.Solved.Verdict.Problem, want) {
			t.Errorf("%s: got %+v %v, want a verdict that says %q", strategy, r.Solved, r.Failure, want)
		}
	}
}

// A preset that is opened, and its canonical profile opened and solved as a
// file, are the same network.
func TestOpen(t *testing.T) {
	var s Server
	first, _ := ask(t, &s, &proto.Request{Op: proto.OpOpen, Open: &proto.Open{Preset: "resnet50-b8"}})
	if first.Failure != nil {
		t.Fatal(first.Failure)
	}
	if tot := first.Opened.Totals; tot.Stages == 0 || tot.KeepAllPeak <= 0 || tot.Forward <= 0 || first.Opened.NoChain != "" {
		t.Errorf("got the totals %+v, %q; want a chain", tot, first.Opened.NoChain)
	}
	second, _ := ask(t, &s, &proto.Request{Op: proto.OpOpen, Open: &proto.Open{File: "x", Bytes: first.Opened.Profile}})
	if second.Failure != nil || string(second.Opened.Profile) != string(first.Opened.Profile) || second.Opened.Totals != first.Opened.Totals {
		t.Fatalf("opened again: got %+v %v, want the same profile and totals", second.Opened, second.Failure)
	}
	preset, _ := ask(t, &s, solveWith("rotor", choice.Budget{Share: 60 * choice.Percent}))
	req := solveWith("rotor", choice.Budget{Share: 60 * choice.Percent})
	req.Solve.Network = proto.Network{Profile: first.Opened.Profile}
	file, _ := ask(t, &s, req)
	if file.Failure != nil || preset.Failure != nil || file.Solved.Claim.StepTime != preset.Solved.Claim.StepTime || file.Solved.Budget != preset.Solved.Budget {
		t.Errorf("solved as a file: %+v (%v); as a preset: %+v (%v)", file.Solved, file.Failure, preset.Solved, preset.Failure)
	}
}

func sweepRequest() *proto.Request {
	return &proto.Request{Op: proto.OpSweep, Sweep: &proto.Sweep{
		Setting: setting("resnet50-b8"),
		Methods: []proto.Method{{Strategy: "keepall"}, {Strategy: "rotor"}, {Strategy: "testpanic"}},
		Budgets: []choice.Budget{{Bytes: 1}, {Share: 50 * choice.Percent}, {Share: 100 * choice.Percent}},
	}}
}

// Alone or spread over many, a sweep has the same points.
func TestSweep(t *testing.T) {
	ask := func(ctx context.Context, req *proto.Request, onProgress func(*proto.Reply)) (*proto.Reply, error) {
		return new(Local).one(ctx, req, onProgress) // the crash of one point ends the sweep
	}
	q := sweepRequest()
	q.Sweep.Methods = q.Sweep.Methods[:2]
	alone := points(t, ask, q)
	spread := points(t, new(Local).Do, q)
	if len(alone) != 6 || fmt.Sprint(alone) != fmt.Sprint(spread) {
		t.Errorf("alone:  %v\nspread: %v", alone, spread)
	}
	if alone["keepall 0"] != "infeasible" || alone["rotor 2"] != "verified" || alone["rotor 1"] != "verified" || alone["keepall 1"] != "infeasible" {
		t.Errorf("got %v; want keepall to fit only at 100 %%, rotor also at 50 %%", alone)
	}
	// A point that crashes is a point that failed.
	if all := points(t, new(Local).Do, sweepRequest()); len(all) != 9 || all["testpanic 1"] != "crash" || all["rotor 2"] != "verified" {
		t.Errorf("with a crashing strategy: got %v", all)
	}
}

func points(t *testing.T, do Doer, req *proto.Request) map[string]string {
	t.Helper()
	out := map[string]string{}
	done := 0
	r, err := do(context.Background(), req, func(r *proto.Reply) {
		p := r.Point
		if done++; p.Done != done || p.Total != len(req.Sweep.Methods)*len(req.Sweep.Budgets) {
			t.Errorf("progress %d: done %d of %d", done, p.Done, p.Total)
		}
		verdict := "wrong"
		switch {
		case p.Failure != nil:
			verdict = string(p.Failure.Kind)
		case p.Verdict.Verified && p.StepTime > 0 && p.Peak <= p.Budget && p.Bound <= p.StepTime:
			verdict = "verified"
		}
		out[fmt.Sprint(p.Strategy, " ", p.Index)] = verdict
	})
	if err != nil || r.Swept == nil || r.Swept.Points != done || r.Swept.KeepAll.StepTime <= 0 {
		t.Fatalf("got %+v, %v after %d points", r, err, done)
	}
	return out
}

// A bad network fails a sweep once, not at every point.
func TestSweepBadNetwork(t *testing.T) {
	req := sweepRequest()
	req.Sweep.Network = proto.Network{Profile: json.RawMessage(`{"format":"memtide/1"}`)}
	n := 0
	_, err := new(Local).Do(context.Background(), req, func(*proto.Reply) { n++ })
	var fail *proto.Failure
	if !errors.As(err, &fail) || fail.Kind != proto.BadRequest || n != 0 {
		t.Errorf("got %v and %d points, want one bad request", err, n)
	}
}

func TestSpreadCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	_, err := Spread(ctx, sweepRequest().Sweep, 2, func(ctx context.Context, _ *proto.Request, on func(*proto.Reply)) (*proto.Reply, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}, func(*proto.Reply) { n++ })
	if !errors.Is(err, context.Canceled) || n != 0 {
		t.Errorf("got %v and %d points, want a cancelled sweep", err, n)
	}
}

// What no request can be blamed for is told as the program's failure by sweeps and
// questions too, and a batch that there is not as the request's.
func TestWhoseFailure(t *testing.T) {
	broken := []proto.Method{{Strategy: "testbroken"}}
	set := setting("resnet50-b8")
	var s Server
	_, all := ask(t, &s, &proto.Request{Op: proto.OpSweep, Sweep: &proto.Sweep{Setting: set, Methods: broken, Budgets: []choice.Budget{{Share: 60 * choice.Percent}}}})
	if len(all) == 0 || all[len(all)-1].Point == nil || all[len(all)-1].Point.Failure == nil || all[len(all)-1].Point.Failure.Kind != proto.Crash {
		t.Errorf("sweep: got %+v, want a failure of the program", all)
	}
	_, all = ask(t, &s, &proto.Request{Op: proto.OpQuestion, Question: &proto.Question{Name: "batch", Setting: set, Method: broken[0], Methods: broken, Budget: choice.Budget{Bytes: engine.GiB}}})
	if len(all) == 0 || all[0].Answer == nil || all[0].Answer.Failure == nil || all[0].Answer.Failure.Kind != proto.Crash {
		t.Errorf("question: got %+v, want a failure of the program", all)
	}
	if f := failure(fmt.Errorf("at batch 7: %w", scale.ErrBatch), engine.Lookup("rotor"), engine.GiB); f.Kind != proto.BadRequest {
		t.Errorf("a batch that there is not: %+v; want it to be the request's", f)
	}
}
