package llm

import (
	"testing"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/caching"
	"memtide/engine/sim"
	"memtide/profiles"
)

// TestExpandableRoom replays plans through PyTorch's allocator on a card that has 6 % more than the peak of the plan,
// which is what choice.Reserved adds; 7 % for plans that only offload. With expandable segments all run there.
// By PyTorch's default some do not, which is why the page names the setting.
func TestExpandableRoom(t *testing.T) {
	refused := 0
	for _, c := range []struct {
		model string
		args  engine.Args
	}{
		{"llama3-8b", engine.Args{"gpus": "8"}},
		{"llama3-8b", engine.Args{"program": "torchtune", "lora": "16", "device": "rtx-4090"}},
		{"llama3.2-3b", engine.Args{"optimizer": "adamw-8bit", "states": "bf16", "device": "rtx-4090", "seq": "4096"}},
		{"qwen2.5-1.5b", engine.Args{"seq": "4096", "device": "l40s"}},
		{"qwen3-8b", engine.Args{"lora": "16", "base": "nf4", "device": "rtx-4090", "seq": "4096"}},
		{"llama3-70b", engine.Args{"gpus": "32", "program": "torchtitan"}},
	} {
		a, problem := problemOf(t, c.model, c.args)
		s := a.Setup.keeping().normal()
		s.Workspace = a.Card.Workspace
		for _, name := range []string{engine.KeepAll, "rotor", "pofo", "offloadsearch"} {
			for _, share := range []engine.Bytes{35, 45, 60, 80, 100} {
				budget := problem.Chain.Chain.KeepAllPeak() / 100 * share
				if share == 100 {
					budget = problem.Chain.Chain.KeepAllPeak()
				}
				sol, _ := engine.Lookup(name).Solve(problem.WithBudget(budget), nil, nil)
				if sol == nil {
					continue
				}
				percent := engine.Bytes(6)
				if name == "offloadsearch" {
					percent = 7
				}
				room := sol.Peak + sol.Peak*percent/100
				if !runsIn(t, &s, problem, sol, caching.Rules{Expandable: true}, room) {
					t.Errorf("%s %v by %s with a peak of %d bytes does not run in %d bytes of expandable segments", c.model,
						c.args, name, sol.Peak, room)
				}
				if !runsIn(t, &s, problem, sol, caching.Rules{}, room) {
					refused++
				}
			}
		}
	}
	if refused == 0 {
		t.Error("all plans run by default, too; want some that need the setting")
	}
}

// runsIn reports whether no request of some steps by a schedule fails on a card with room bytes.
func runsIn(t *testing.T, s *Setup, problem *engine.Problem, sol *engine.Solution, rules caching.Rules,
	room engine.Bytes) bool {
	t.Helper()
	trace, err := sim.Play(problem.WithBudget(sol.Peak), sol.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	fits, err := profiles.Try(func() bool {
		p := newProgram(s, s.end(true, true))
		p.ledger = ledgers.Get().(*ledger)
		defer func() { p.ledger.reuse() }()
		step := p.follow(problem.Chain, trace).step
		p.loads()
		for range steps + settling {
			step()
		}
		cache := caching.New(room, rules)
		blocks := make([]caching.Block, len(p.storages))
		for _, e := range p.events {
			if e < 0 {
				cache.Give(blocks[-e-1])
				continue
			}
			x := &p.storages[e-1]
			var ok bool
			if blocks[e-1], ok = cache.Take(int(x.pool), x.bytes); !ok {
				return false
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return fits
}
