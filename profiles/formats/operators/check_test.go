package operators_test

import (
	"slices"
	"testing"

	"memtide/engine/play"
	"memtide/profiles"
)

// TestRefuted checks that checkPlan refutes logs in which something was changed.
func TestRefuted(t *testing.T) {
	stored(t, func(name string, _ *profiles.Profile, trace *play.Trace) {
		if name != "bn" {
			return
		}
		plan := []*play.Segment{{Units: trace.UnitNames()[4:8], Do: play.DoRecompute}}
		said, log := play.NewPlayer(trace).Log(plan)
		if err := checkPlan(trace, plan, said, log); err != nil {
			t.Fatalf("unchanged: %v", err)
		}
		for kind, what := range []string{"taking room", "going", "running"} {
			var at []int
			for i, e := range log {
				if int(e.Kind) == kind && (e.Kind == play.EntryRan || trace.Storages[e.ID] > 0) {
					at = append(at, i)
				}
			}
			for _, i := range []int{at[0], at[len(at)/2], at[len(at)-1]} {
				if checkPlan(trace, plan, said, slices.Delete(slices.Clone(log), i, i+1)) == nil {
					t.Errorf("entry %d of %d, %s, is left out: not refuted", i, len(log), what)
				}
			}
		}
		late := slices.Clone(log)
		for i, e := range late {
			if e.Kind == play.EntryRan && e.Run > 0 {
				late[i].Run = 0
				break
			}
		}
		if checkPlan(trace, plan, said, late) == nil {
			t.Error("an operator of the step runs twice: not refuted")
		}
		if checkPlan(trace, nil, said, log) == nil {
			t.Error("operators run again that no segment names: not refuted")
		}
		moved := []*play.Segment{{Units: trace.UnitNames()[8:9], Do: play.DoOffload}}
		away, sent := play.NewPlayer(trace).Log(moved)
		if err := checkPlan(trace, moved, away, sent); err != nil || away.Sent == 0 {
			t.Errorf("a unit is offloaded: %v, %d bytes", err, away.Sent)
		}
		if away.Sent--; checkPlan(trace, moved, away, sent) == nil {
			t.Error("a byte less is sent than said: not refuted")
		}
		said.Peak--
		if checkPlan(trace, plan, said, log) == nil {
			t.Error("a byte less is said: not refuted")
		}
	})
}
