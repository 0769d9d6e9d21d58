package llm

import (
	"testing"

	"memtide/engine"
	"memtide/engine/sim"
)

// problemOf returns the question about a model, and its step as a chain on its card, without a limit.
func problemOf(t *testing.T, model string, args engine.Args) (Ask, *engine.Problem) {
	t.Helper()
	a, err := New(Lookup(model), args)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return a, engine.NewChainProblem(p.Chain, *p.Device, engine.Whole, engine.NoLimit)
}

// TestFollow checks steps that follow a schedule. If the schedule keeps everything, it is the step itself: it has
// the same bytes in every phase, and the allocator reserves the same. With another schedule it allocates what its
// chain needs, and slightly more only where copies and an operation run at the same time.
func TestFollow(t *testing.T) {
	for _, c := range []struct {
		model string
		args  engine.Args
	}{
		{"llama3-8b", nil},
		{"llama3-8b", engine.Args{"gpus": "8", "accumulate": "2"}},
		{"llama3-8b", engine.Args{"program": "torchtune"}},
		{"gpt2", engine.Args{"program": "megatron", "batch": "8"}},
		{"qwen3-30b-a3b", engine.Args{"gpus": "8", "program": "torchtitan", "lora": "8"}},
		{"llama3-8b", engine.Args{"gpus": "8", "program": "torchtitan-2026", "accumulate": "2"}},
	} {
		a, problem := problemOf(t, c.model, c.args)
		own := answer(t, a)
		s := a.Setup.keeping().normal()
		s.Workspace, s.room = a.Card.Workspace, own.Capacity
		for _, way := range []struct {
			strategy string
			percent  engine.Bytes // of the peak when everything is kept
			more     float64      // per cent
		}{{"keepall", 100, 0}, {"rotor", 90, 0.1}, {"revolve", 100, 0.2}, {"pofo", 90, 0.1}, {"offloadsearch", 90, 0.1}} {
			budget := problem.Chain.Chain.KeepAllPeak() * way.percent / 100
			sol, err := engine.Lookup(way.strategy).Solve(problem.WithBudget(budget), nil, nil)
			if sol == nil {
				t.Fatalf("%s %v: %v", c.model, c.args, err)
			}
			trace, err := sim.Play(problem.WithBudget(sol.Peak), sol.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			p := newProgram(&s, s.end(true, true))
			r := p.result(p.follow(problem.Chain, trace).step, engine.NoLimit)
			switch off := 100 * (float64(r.Allocated)/float64(sol.Peak) - 1); {
			case way.strategy == engine.KeepAll &&
				(r.Phases != own.Phases || r.Reserved != own.Reserved || r.Expandable != own.Expandable):
				t.Errorf("%s %v: %v allocated, %d reserved; the step has %v, %d", c.model, c.args, r.Phases,
					r.Reserved, own.Phases, own.Reserved)
			case off < 0 || off > way.more:
				t.Errorf("%s %v, %s: %d bytes in the program, %d in the chain (%+.2f %%); want up to %g %% more",
					c.model, c.args, way.strategy, r.Allocated, sol.Peak, off, way.more)
			}
		}
	}
}

// TestFollowedStepsEndWhereTheyBegan checks that a step that follows a schedule leaves the memory as it was.
func TestFollowedStepsEndWhereTheyBegan(t *testing.T) {
	a, problem := problemOf(t, "gpt2", engine.Args{"seq": "512", "gpus": "2"})
	s := a.Setup.keeping().normal()
	for _, name := range []string{"keepall", "rotor", "pofo", "revolve", "chen", "vdnn"} {
		sol, _ := engine.Lookup(name).Solve(problem.WithBudget(problem.Chain.Chain.KeepAllPeak()*85/100), nil, nil)
		if sol == nil {
			continue
		}
		trace, err := sim.Play(problem.WithBudget(sol.Peak), sol.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		p := newProgram(&s, s.end(true, true))
		p.ledger = &ledger{}
		p.loads()
		f := p.follow(problem.Chain, trace)
		f.step()
		f.step()
		was := p.live
		f.step()
		if p.live != was {
			t.Errorf("%s: %d bytes after three steps, %d after two", name, p.live, was)
		}
	}
}

// TestFollowShortStays checks that plans of methods also work if no time passes between the end of a value's stay
// on the card and the start of its next one. That happens if steps are short compared with copies.
func TestFollowShortStays(t *testing.T) {
	m := *Lookup("qwen3-0.6b")
	m.Layers, m.Words, m.Hidden, m.Wide = 3, 1024, 512, 1280
	m.Heads, m.Keys, m.Head, m.Tied = 8, 4, 64, false
	a, err := New(&m, engine.Args{"device": "h200", "seq": "512", "batch": "2", "attention": "sdpa", "states": "bf16"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Plan(nil, func(*Answer) {})
	if err != nil {
		t.Fatal(err)
	}
	if p.Policies[0].Method == "" {
		t.Error("no plans of methods; want theirs")
	}
}

// TestMoreRoom checks that recompute + offload is not slower where there is more room, but for one per cent. In 20.4
// GiB copies that begin as early as there is room once left none for a block, so that the plan was given up.
func TestMoreRoom(t *testing.T) {
	_, problem := problemOf(t, "llama3-8b", engine.Args{"program": "torchtune", "lora": "16", "device": "rtx-4090"})
	least := 1e9
	for _, tenths := range []engine.Bytes{202, 203, 204, 205, 206, 210, 214} {
		sol, err := engine.Lookup("pofo").Solve(problem.WithBudget(tenths*engine.GiB/10), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s := sol.Makespan.Seconds(); s > 1.01*least {
			t.Errorf("%v in %d tenths of a GiB, %.3f s in fewer", sol.Makespan, tenths, least)
		} else {
			least = min(least, s)
		}
	}
}
