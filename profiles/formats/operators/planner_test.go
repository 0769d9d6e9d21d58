package operators_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/play"
	"memtide/profiles"
)

// TestPlanner checks that plans by the schedule of a strategy are within the limit and of the class that they
// claim. A search that may do as much must not be slower. The traces of two transformers only run with
// MEMTIDE_LONG=1.
func TestPlanner(t *testing.T) {
	optima, early := 0, 0
	stored(t, func(name string, p *profiles.Profile, trace *play.Trace) {
		if (name == "frozen" || name == "gpt") && os.Getenv("MEMTIDE_LONG") == "" {
			return
		}
		player := play.NewPlayer(trace)
		limit := player.Play(nil).Peak * 75 / 100
		by := func(class play.Class, strategy string) *play.Found {
			found, err := play.Find(p.Chain, trace, player,
				play.Query{Class: class, Strategy: strategy, Limit: limit, Link: 12e9}, nil)
			if short, ok := errors.AsType[*engine.InfeasibleError](err); ok && short.Smallest != 0 &&
				short.Smallest <= limit {
				t.Errorf("%s, %s: the smallest peak met is %d, within %d", name, strategy, short.Smallest, limit)
			}
			if err != nil {
				return nil
			}
			said, log := player.Log(found.Segments)
			if said != found.Result || said.Peak > limit || trace.Validate(found.Segments) != nil ||
				checkPlan(trace, found.Segments, said, log) != nil {
				t.Errorf("%s, %s: told %+v, played %+v for %d; %v, %v", name, strategy, found.Result, said, limit,
					trace.Validate(found.Segments), checkPlan(trace, found.Segments, said, log))
			}
			return found
		}
		if found := by(play.ClassOffload, ""); found != nil {
			n, room := 0, 0
			for i, s := range found.Segments {
				if s.Do != play.DoOffload && s.Input != play.DoOffload {
					continue
				}
				if n++; n == 1 || s.Prefetch > 0 {
					early += s.Prefetch
					continue
				}
				sooner := slices.Clone(found.Segments)
				with := *s
				with.Prefetch, sooner[i] = 1, &with
				if player.Play(sooner).Peak <= limit {
					room++
				}
			}
			if room > 0 {
				t.Errorf("%s: %d of %d segments could come back earlier within %d", name, room, n, limit)
			}
		}
		searched, rotor := by(play.ClassNested, ""), by("", "rotor")
		if searched == nil || rotor == nil {
			t.Logf("%s: searched %v, rotor %v", name, searched != nil, rotor != nil)
			return
		}
		if of := trace.ClassOf(rotor.Segments); of != rotor.Class || searched.Result.Time > rotor.Result.Time {
			t.Errorf("%s: rotor's plan of class %s is said to be %s and takes %v; the search %v", name, of,
				rotor.Class, rotor.Result.Time, searched.Result.Time)
		}
		if (rotor.Best != nil) != (p.Chain.Len() <= 12) || rotor.Best != nil &&
			rotor.Best.Makespan > rotor.Solution.Makespan {
			t.Errorf("%s, a chain of %d stages: the optimum is %+v, rotor's %v", name, p.Chain.Len(), rotor.Best,
				rotor.Solution.Makespan)
		}
		optima++
	})
	if early == 0 {
		t.Error("nothing comes back early in any plan of class offload")
	}
	if optima < 3 {
		t.Errorf("rotor had a plan for %d networks, want 3", optima)
	}
}
