package check_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
)

// perturb deletes, swaps, doubles or inserts a few steps.
func perturb(r *rand.Rand, c *played) engine.Schedule {
	s := slices.Clone(c.s)
	for range 1 + r.IntN(4) {
		i, k := r.IntN(len(s)), r.IntN(len(s))
		switch r.IntN(5) {
		case 0:
			s = slices.Delete(s, i, i+1)
		case 1:
			s[i], s[k] = s[k], s[i]
		case 2:
			s[i], s[(i+1)%len(s)] = s[(i+1)%len(s)], s[i]
		case 3:
			s = slices.Insert(s, k, s[i])
		default:
			v := engine.ValueID(r.IntN(len(c.p.Graph.Values)))
			at := time.Duration(r.Int64N(int64(c.t.Makespan) + 1))
			s = slices.Insert(s, i, []engine.Instruction{engine.Offload(v), engine.Fetch(v, at), engine.Wait(v),
				engine.Free(v)}[r.IntN(4)])
		}
	}
	return s
}

// plain reports whether only activations travel, each to the host at most once.
func plain(g *engine.Graph, s engine.Schedule) bool {
	gone := map[engine.ValueID]bool{}
	for _, st := range s {
		if st.Kind == engine.DoOffload {
			if gone[st.Value] || g.Values[st.Value].Kind != engine.KindActivation {
				return false
			}
			gone[st.Value] = true
		}
	}
	return true
}

// TestPerturbedSchedules plays randomly changed schedules. Their traces are accepted, unless the schedule is not a
// training step, which only check refutes.
func TestPerturbedSchedules(t *testing.T) {
	for _, m := range modes {
		var accepted, noStep int
		for seed := range uint64(1500) {
			r := rand.New(rand.NewPCG(seed, 3))
			c := randomPlayed(t, r, m.transfers, m.duplex)
			if c == nil {
				continue
			}
			for range 4 {
				p, s := c.p.WithBudget(c.p.Budget+engine.Bytes(r.IntN(2))*c.p.Budget/2), perturb(r, c)
				if !plain(p.Graph, s) {
					continue
				}
				tr, err := sim.Play(p, s)
				if err != nil {
					continue
				}
				err = check.Trace(p, s, tr)
				var ref *check.Refutation
				switch {
				case err == nil:
					accepted++
				case errors.As(err, &ref) && (ref.Reason == check.BackwardTwice || ref.Reason == check.Incomplete):
					noStep++
				default:
					t.Fatalf("%v %v, seed %d: %v; expected no refutation\n%v", m.transfers, m.duplex, seed, err,
						&played{p, s, tr})
				}
			}
		}
		t.Logf("%v %v: %d accepted, %d that are no training step", m.transfers, m.duplex, accepted, noStep)
		if accepted < 100 || noStep < 1 {
			t.Errorf("%v %v: %d accepted, %d that are no training step; expected at least 100 and 1", m.transfers,
				m.duplex, accepted, noStep)
		}
	}
}

// TestExtremeNumbers puts extreme numbers into traces. They are refuted or, if the number does not matter, accepted.
// They never cause a panic.
func TestExtremeNumbers(t *testing.T) {
	numbers := []int64{math.MinInt64, -1 << 40, -1, 0, 1, 1 << 40, math.MaxInt64}
	refuted := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 4))
		m := modes[r.IntN(len(modes))]
		c := randomPlayed(t, r, m.transfers, m.duplex)
		if c == nil {
			continue
		}
		for field := range 16 {
			b := c.clone()
			n := numbers[r.IntN(len(numbers))]
			_, sp := pick(r, b.t.Spans)
			_, l := pick(r, b.t.Lives)
			_, mem := pick(r, b.t.Memory)
			switch field {
			case 0:
				sp.Start = time.Duration(n)
			case 1:
				sp.End = time.Duration(n)
			case 2:
				sp.Step, sp.Cause = int(n), sim.SpanID(n)
			case 3:
				sp.Value, sp.Op = engine.ValueID(n), engine.OpID(n)
			case 4:
				sp.Why, sp.Kind, sp.Lane = sim.Reason(n), sim.SpanKind(n), sim.Lane(n)
			case 5:
				b.t.Makespan = time.Duration(n)
			case 6:
				mem.At = time.Duration(n)
			case 7:
				mem.Used[r.IntN(int(sim.NumCategories))] = engine.Bytes(n)
			case 8:
				l.Value, l.Op, l.From, l.Category = engine.ValueID(n), engine.OpID(n), sim.SpanID(n), sim.Category(n)
			case 9:
				l.StartSeq, l.EndSeq = int(n), int(n)
			case 10:
				l.Bytes = engine.Bytes(n)
			case 11:
				b.t.Peak, b.t.PeakAt = engine.Bytes(n), time.Duration(n)
			case 12:
				b.t.Gaps = append(b.t.Gaps,
					sim.Gap{Start: time.Duration(n), End: time.Duration(n), Step: int(n), Reason: sim.Reason(n),
						Cause: sim.SpanID(n)})
			case 13:
				b.t.Host = append(b.t.Host, sim.Point{At: time.Duration(n), Used: engine.Bytes(n)})
			case 14:
				for i := range b.t.Gaps {
					b.t.Gaps[i].Reason, b.t.Gaps[i].Cause = sim.Reason(n), sim.SpanID(n)
				}
			default:
				b.t = &sim.Trace{Makespan: time.Duration(n)}
			}
			if check.Trace(b.p, b.s, b.t) != nil {
				refuted++
			}
		}
	}
	if refuted < 500 {
		t.Errorf("%d traces refuted; expected at least 500", refuted)
	}
}
