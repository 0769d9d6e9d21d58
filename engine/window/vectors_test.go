package window_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
	"memtide/engine/window"
)

// expected holds the results of a method in a vector.
type expected struct {
	Feasible bool
	Fails    engine.OpID `json:"fail_function"`
	Peak     engine.Bytes
	Makespan time.Duration
	Half     time.Duration `json:"makespan_half_duplex"`
	Schedule []struct{ Pre, Post [][2]string }
}

// schedule returns the recorded actions as a schedule for g.
func (e *expected) schedule(g *engine.Graph) (s engine.Schedule) {
	ids := map[string]engine.ValueID{}
	for i, v := range g.Values {
		ids[v.Name] = engine.ValueID(i)
	}
	add := func(actions [][2]string) {
		for _, a := range actions {
			id := ids[a[1]]
			switch a[0] {
			case "in":
				s = append(s, engine.Instruction{Kind: engine.DoFetch, Op: engine.NoOp, Value: id, Reserve: true})
			case "out":
				s = append(s, engine.Offload(id))
			case "wait":
				s = append(s, engine.Wait(id), engine.Free(id))
			case "free":
				s = append(s, engine.Free(id))
			default:
				panic("unknown action " + a[0])
			}
		}
	}
	for i := range e.Schedule {
		add(e.Schedule[i].Pre)
		s = append(s, engine.Run(engine.OpID(i)))
		add(e.Schedule[i].Post)
	}
	return s
}

// TestVectors schedules all vectors and compares the steps, the peak and the step times on both kinds of link.
func TestVectors(t *testing.T) {
	fits := 0
	for _, v := range enginetest.Load("window") {
		g := v.Graph()
		for _, duplex := range []engine.Duplex{engine.FullDuplex, engine.HalfDuplex} {
			p := &engine.Problem{Graph: g, Device: enginetest.Device(duplex), Budget: v.BudgetBytes()}
			sol, err := window.ByWindow(p, engine.Bytes(v.Window))
			fits += compare(t, &v, "window", p, sol, err)
			compareStop(t, &v, "window", stop(err), err != nil)
			sol, err = window.ByLMS(p, v.LMS.SwapoutThreshold, v.LMS.SwapinAhead)
			fits += compare(t, &v, "lms", p, sol, err)
			compareStop(t, &v, "lms", stop(err), err != nil)
		}
	}
	if fits < 140 {
		t.Errorf("only %d schedules were compared", fits)
	}
}

// compareStop compares the function at which a schedule does not fit with the vector.
func compareStop(t *testing.T, v *enginetest.Vector, method string, op engine.OpID, stops bool) {
	t.Helper()
	var want expected
	if err := json.Unmarshal(v.Expect[method], &want); err != nil {
		t.Fatal(err)
	}
	if stops == want.Feasible || stops && op != want.Fails {
		t.Errorf("%s: %s stops at %d (%v), want %d (feasible %v)", v.ID, method, op, stops, want.Fails, want.Feasible)
	}
}

func compare(t *testing.T, v *enginetest.Vector, method string, p *engine.Problem, sol *engine.Solution,
	err error) int {
	t.Helper()
	var want expected
	if err := json.Unmarshal(v.Expect[method], &want); err != nil {
		t.Fatal(err)
	}
	var infeasible *engine.InfeasibleError
	if !want.Feasible {
		if !errors.As(err, &infeasible) || infeasible.Smallest <= p.Budget {
			t.Errorf("%s: %s: got %v, %v; want a refusal", v.ID, method, sol, err)
		}
		return 0
	}
	if err != nil {
		t.Errorf("%s: %s: %v", v.ID, method, err)
		return 0
	}
	span := want.Makespan
	if p.Device.Duplex == engine.HalfDuplex {
		span = want.Half
	}
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Errorf("%s: %s: %v", v.ID, method, err)
		return 0
	}
	if trace.Makespan != span || trace.Peak != want.Peak || sol.Makespan != span || sol.Peak != want.Peak {
		t.Errorf("%s: %s, %v duplex: claims %d ns and %d bytes, plays %d and %d, want %d and %d", v.ID, method,
			p.Device.Duplex,
			sol.Makespan, sol.Peak, trace.Makespan, trace.Peak, span, want.Peak)
	}
	steps := want.schedule(p.Graph)
	for i := range max(len(steps), len(sol.Schedule)) {
		if i >= len(steps) || i >= len(sol.Schedule) || steps[i] != sol.Schedule[i] {
			t.Errorf("%s: %s: step %d of %d differs; want %d steps", v.ID, method, i, len(sol.Schedule), len(steps))
			break
		}
	}
	return 1
}
