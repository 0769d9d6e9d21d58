package all_test

import (
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// members holds, for each name of a set in Solution.OptimalAmong, a function that reports whether a schedule on a
// chain is in the set. Claims about other sets are not accepted; see setOf.
var members = map[string]func(*played) bool{
	"all schedules":                                                               func(*played) bool { return true },
	"schedules that keep everything":                                              func(f *played) bool { return !f.again && !f.moves() },
	"schedules that offload and do not recompute":                                 func(f *played) bool { return !f.again },
	"schedules that recompute in any order and do not offload":                    func(f *played) bool { return !f.moves() },
	"schedules that recompute with the order kept and do not offload":             func(f *played) bool { return !f.moves() },
	"all sequences of Table 1 with drops at any time":                             func(f *played) bool { return !f.moves() },
	"sequences of Table 1 that run no stage forward while its saved set is there": func(f *played) bool { return !f.moves() && f.table1 && f.needed },
	"persistent recomputation":                                                    func(f *played) bool { return !f.moves() && f.table1 && f.persistent },
	"persistent recomputation, segment by segment":                                func(f *played) bool { return !f.moves() && f.table1 && f.persistent && f.segments },
	"runs that are computed again as a whole":                                     func(f *played) bool { return !f.moves() && f.table1 && f.wrapped },
	"persistent recomputation that keeps outputs only": func(f *played) bool {
		return !f.moves() && f.table1 && f.persistent && f.outputsOnly
	},
	"schedules that offload activations in the order of the layers, then fetch them in reverse, and do not recompute": func(f *played) bool {
		return !f.again && f.ordered()
	},
	"schedules that offload activations in the order of the layers, then fetch them in reverse, and do not recompute, with each saved set there while the stage after it runs": func(f *played) bool {
		return !f.again && f.ordered() && f.savedHeld
	},
	"persistent recomputation, segment by segment, with ordered offloads of segment inputs": func(f *played) bool {
		return f.table1 && f.persistent && f.segments && f.ordered() && f.inputs
	},
	"persistent recomputation, segment by segment, with ordered offloads of segment inputs, passes apart": func(f *played) bool {
		return f.table1 && f.persistent && f.segments && f.ordered() && f.inputs && f.apart
	},
}

// firstWays is the end of the names of sets whose schedules do not use second algorithms (see engine.Stage.Fast).
const firstWays = ", each operation by its first algorithm"

// setOf returns the function that reports whether a schedule is in the set with a name. ok is false for an unknown
// name.
func setOf(words string) (in func(*played) bool, ok bool) {
	words, first := strings.CutSuffix(words, firstWays)
	set, ok := members[words]
	return func(f *played) bool { return set(f) && !(first && f.alt) }, ok
}

// played is a schedule on a chain with its trace and its properties.
type played struct {
	g     *engine.ChainGraph
	trace *sim.Trace

	alt         bool // some operation runs the second algorithm
	again       bool // some operation runs more than once
	needed      bool // no stage runs forward while its saved set is on the device
	table1      bool // values are freed only where operations of Table 1 free them, or after they were offloaded
	persistent  bool // an input that F_ck or F_all has read stays until the backward that reads it
	segments    bool // no stage runs forward while an output or saved activations of it or of a later one is held
	savedHeld   bool // abar^k is there while F^{k+1} and B^{k+1} run
	outputsOnly bool // F_all^k comes right before B^k
	inputs      bool // values are offloaded before the first backward, and stay once their segment runs again
	wrapped     bool // sequences of stages are recomputed as a whole
	apart       bool // offloads end before the backward pass, or could at no cost; fetches start in it
}

// layer returns the k of a^k or abar^k. ok is false for a gradient.
func layer(g *engine.ChainGraph, v engine.ValueID) (k int, ok bool) {
	return g.Values[v].Stage, g.Values[v].Kind == engine.KindActivation
}

// play plays a schedule and fills in its properties.
func play(p *engine.Problem, s engine.Schedule) (*played, error) {
	trace, err := sim.Play(p, s)
	if err != nil {
		return nil, err
	}
	f := &played{g: p.Chain, trace: trace}
	f.read(s)
	f.wrapped = wrapped(p.Chain, s)
	f.apart = passesApart(p.Chain, trace)
	// Runs start as early as they can, even before offloads have ended. Passes are also apart if the schedule
	// takes no longer when it waits for the offloads.
	for early := 0; early < len(s) && !f.apart && f.ordered(); early++ {
		waits, err := sim.Play(p, waiting(p.Chain, s, early))
		f.apart = err == nil && waits.Makespan == trace.Makespan && passesApart(p.Chain, waits)
	}
	return f, nil
}

// waiting returns s with waits for all offloads after the first forward sweep. Its fetches start no earlier than
// before, but are queued up to early runs earlier, because the waits delay the runs around them.
func waiting(g *engine.ChainGraph, s engine.Schedule, early int) (w engine.Schedule) {
	last, swept := g.Fwd(g.Chain.Len()), -1
	var out []engine.ValueID
	for _, st := range s {
		w = append(w, st)
		switch {
		case st.Kind == engine.DoOffload:
			out = append(out, st.Value)
		case st.Kind == engine.DoRun && st.Op == last && swept < 0:
			for _, v := range out {
				w = append(w, engine.Wait(v))
			}
			swept = len(w)
		case st.Kind == engine.DoFetch:
			at := len(w) - 1
			for runs := 0; at > max(swept, 0) && w[at-1].Kind != engine.DoFetch && runs < early; at-- {
				if w[at-1].Kind == engine.DoRun {
					runs++
				}
			}
			copy(w[at+1:], w[at:])
			w[at] = st
		}
	}
	return w
}

// read goes through the steps in terms of Table 1 of Beaumont et al. (arXiv:1911.13214; see table) and sets the
// properties of the schedule.
func (f *played) read(s engine.Schedule) {
	n := f.g.Chain.Len()
	f.table1, f.needed, f.persistent, f.segments, f.outputsOnly, f.inputs = true, true, true, true, true, true
	f.savedHeld = f.fetchedInTime()
	t, runs := newTable(), make([]int, len(f.g.Ops))
	gone := map[engine.ValueID]bool{} // offloaded, and not fetched since
	for _, st := range s {
		switch st.Kind {
		case engine.DoRun:
			op := &f.g.Ops[st.Op]
			k := op.Stage
			f.alt = f.alt || st.Alt
			runs[st.Op]++
			f.again = f.again || runs[st.Op] > 1
			f.outputsOnly = f.outputsOnly && (t.full == 0 || op.Pass == engine.Backward && int(t.full) == k)
			if op.Pass == engine.Forward {
				f.segments = f.segments && !t.holds(k, n)
				f.savedHeld = f.savedHeld && (k == 1 || t.there[k-1])
			}
			f.needed = t.run(f.g, st) && f.needed
		case engine.DoOffload:
			gone[st.Value] = true
			// The inputs of segments are offloaded in the first forward sweep, before any backward.
			f.inputs = f.inputs && runs[f.g.Fwd(n)] <= 1 && !t.back[n]
		case engine.DoFetch:
			delete(gone, st.Value)
		case engine.DoFree:
			k, activation := layer(f.g, st.Value)
			if !activation || gone[st.Value] {
				f.inputs = f.inputs && !(activation && k < n && runs[f.g.Fwd(k+1)] > 1)
				t.there[max(k, 1)] = t.there[max(k, 1)] && st.Value != f.g.Saved(max(k, 1))
				continue
			}
			consumed, lasting := t.free(f.g, st.Value)
			f.table1, f.persistent = f.table1 && consumed, f.persistent && lasting
		}
	}
}

// fetchedInTime reports whether every fetched value is on the device before the backward of the stage after its own.
func (f *played) fetchedInTime() bool {
	starts := make([]time.Duration, f.g.Chain.Len()+2)
	for _, sp := range f.trace.Spans {
		if sp.Op != engine.NoOp && f.g.Ops[sp.Op].Pass == engine.Backward {
			starts[f.g.Ops[sp.Op].Stage] = sp.Start
		}
	}
	for _, sp := range f.trace.Spans {
		if sp.Kind != sim.SpanFetch {
			continue
		}
		if k, activation := layer(f.g, sp.Value); activation && sp.End > starts[k+1] {
			return false
		}
	}
	return true
}

// moves reports whether the schedule has transfers.
func (f *played) moves() bool {
	for _, sp := range f.trace.Spans {
		if sp.Value != engine.NoValue {
			return true
		}
	}
	return false
}

// ordered reports whether only activations travel. They must leave in the order of the layers, each once, and
// come back in reverse order after the last of them has left.
func (f *played) ordered() bool {
	out, in, end := -1, len(f.g.Values), time.Duration(0)
	fetched := false
	for _, sp := range f.trace.Spans { // in the order of their starts
		if sp.Value == engine.NoValue {
			continue
		}
		k, activation := layer(f.g, sp.Value)
		switch {
		case !activation:
			return false
		case sp.Kind == sim.SpanOffload:
			if fetched || k <= out {
				return false
			}
			out, end = k, max(end, sp.End)
		default:
			if k >= in || sp.Start < end {
				return false
			}
			in, fetched = k, true
		}
	}
	return true
}

// passesApart reports whether all offloads are over before the first run after the first forward sweep, and
// fetches start only when the sweep and the offloads are over.
func passesApart(g *engine.ChainGraph, trace *sim.Trace) bool {
	last := g.Fwd(g.Chain.Len())
	var turn, copied time.Duration
	swept, late := false, false
	for _, sp := range trace.Spans {
		if sp.Kind == sim.SpanOffload {
			copied = max(copied, sp.End)
		}
	}
	for _, sp := range trace.Spans {
		switch {
		case sp.Op == last && !swept:
			swept, turn = true, max(sp.End, copied)
		case sp.Op != engine.NoOp && swept:
			late = late || sp.Start < turn
		case sp.Kind == sim.SpanFetch:
			late = late || !swept || sp.Start < turn
		}
	}
	return !late
}

// TestMembers checks to which sets some schedules on one chain belong.
func TestMembers(t *testing.T) {
	stage := engine.Stage{Forward: 2, Back: 10, Out: 4, Saved: 4, Grad: 1}
	c := &engine.Chain{Input: 4, LossGradAllocated: true, Stages: []engine.Stage{stage, stage, stage}}
	p := engine.NewChainProblem(c, enginetest.Device(engine.FullDuplex), engine.Whole, 1000)
	g := p.Chain
	lets := *c
	lets.Stages = []engine.Stage{{Forward: 2, Back: 10, Out: 4, Saved: 3, Grad: 1, Unsaved: true}, stage, stage}
	unsaved := engine.NewChainProblem(&lets, enginetest.Device(engine.FullDuplex), engine.Whole, 1000)
	run, lean, free := engine.Run, engine.RunOutputOnly, engine.Free
	f1, f2, f3, b1, b2, b3 := run(g.Fwd(1)), run(g.Fwd(2)), run(g.Fwd(3)), run(g.Bwd(1)), run(g.Bwd(2)), run(g.Bwd(3))
	a0, a1, s1 := g.Act(0), g.Act(1), g.Saved(1)
	out := func(v engine.ValueID) engine.Instruction { return engine.Offload(v) }
	in := func(v engine.ValueID) engine.Instruction { return engine.Fetch(v, 0) }
	const (
		again, keptOrder = "schedules that recompute in any order and do not offload",
			"schedules that recompute with the order kept and do not offload"
		any, keep, noRecompute, drops, table1 = "all schedules", "schedules that keep everything",
			"schedules that offload and do not recompute",
			"all sequences of Table 1 with drops at any time",
			"sequences of Table 1 that run no stage forward while its saved set is there"
		persistent, outputs = "persistent recomputation", "persistent recomputation that keeps outputs only"
		ordered             = "schedules that offload activations in the order of the layers, then fetch them in reverse, and do not recompute"
		later               = persistent + ", segment by segment"
		held                = ordered + ", with each saved set there while the stage after it runs"
		segments            = "persistent recomputation, segment by segment, with ordered offloads of segment inputs"
		apart               = segments + ", passes apart"
		whole               = "runs that are computed again as a whole"
	)
	for _, tc := range []struct {
		name  string
		p     *engine.Problem
		steps engine.Schedule
		in    []string
	}{
		{"keep all", p, engine.Schedule{f1, f2, f3, b3, b2, b1},
			[]string{any, again, keptOrder, keep, noRecompute, drops, table1, persistent, later, ordered, held,
				segments, apart, whole}},
		{"outputs only", p, engine.Schedule{lean(g.Fwd(1)), lean(g.Fwd(2)), f3, b3, f2, b2, f1, b1},
			[]string{any, again, keptOrder, drops, table1, persistent, later, outputs, segments, apart, whole}},
		{"beside what is held", p, engine.Schedule{lean(g.Fwd(1)), lean(g.Fwd(2)), f3, b3, f1, f2, b2, b1},
			[]string{any, again, keptOrder, drops, table1, persistent}},
		{"a drop", p, engine.Schedule{lean(g.Fwd(1)), lean(g.Fwd(2)), f3, free(a1), b3, lean(g.Fwd(1)), f2, b2, f1,
			b1}, []string{any, again, keptOrder, drops}},
		{"nothing is kept", p, engine.Schedule{lean(g.Fwd(1)), lean(g.Fwd(2)), free(a1), f3, b3, lean(g.Fwd(1)), f2,
			b2, f1, b1},
			[]string{any, again, keptOrder, drops, table1, persistent, later, outputs, segments, apart}},
		{"a checkpoint is used and dropped", p,
			engine.Schedule{lean(g.Fwd(1)), lean(g.Fwd(2)), f3, b3, free(g.Act(2)), lean(g.Fwd(2)), free(a1),
				free(g.Act(2)), lean(g.Fwd(1)), f2, b2, f1, b1},
			[]string{any, again, keptOrder, drops, table1}},
		{"ordered", p, engine.Schedule{out(a0), f1, free(a0), out(s1), f2, free(s1), f3, engine.Wait(s1), b3, in(s1),
			in(a0), b2, b1},
			[]string{any, noRecompute, ordered, held, segments, apart}},
		{"passes overlap", p, engine.Schedule{out(a0), f1, free(a0), out(s1), f2, free(s1), f3, in(s1), in(a0), b3,
			b2, b1},
			[]string{any, noRecompute, ordered, held, segments}},
		{"an input leaves while its segment runs again", p,
			engine.Schedule{out(a0), lean(g.Fwd(1)), lean(g.Fwd(2)), free(a1), engine.Wait(a0), f3, b3,
				lean(g.Fwd(1)), free(a0), f2, b2, in(a0), f1, b1}, []string{any}},
		{"an input leaves before its segment runs again", p,
			engine.Schedule{out(a0), lean(g.Fwd(1)), free(a0), lean(g.Fwd(2)), free(a1), f3, b3,
				in(a0), lean(g.Fwd(1)), f2, b2, f1, b1}, []string{any, segments, apart}},
		{"fetches in the order of the layers", p,
			engine.Schedule{out(a0), f1, free(a0), out(s1), f2, free(s1), f3, b3, in(a0), in(s1), b2, b1},
			[]string{any, noRecompute}},
		{"saved sets go", p, engine.Schedule{lean(g.Fwd(1)), lean(g.Fwd(2)), f3, b3, free(g.Saved(3)), f2, b2,
			free(g.Saved(2)), f1, b1},
			[]string{any, again, keptOrder, drops, table1, persistent, later, outputs, segments, apart, whole}},
		{"a gradient leaves", p, engine.Schedule{f1, f2, f3, b3, out(g.Grad(2)), free(g.Grad(2)), in(g.Grad(2)),
			b2, b1},
			[]string{any, noRecompute}},
		{"an output that nobody saves goes", unsaved, engine.Schedule{f1, f2, free(a1), f3, b3, b2, b1},
			[]string{any, again, keptOrder, keep, noRecompute, drops, table1, persistent, later, ordered, held,
				segments, apart, whole}},
		{"it goes too soon", unsaved, engine.Schedule{f1, f2, f3, free(a1), b3, b2, b1},
			[]string{any, again, keptOrder, keep, noRecompute, drops, ordered, held}},
		{"the saved set leaves before", unsaved,
			engine.Schedule{f1, out(s1), free(s1), f2, free(a1), f3, b3, b2, in(s1), b1},
			[]string{any, noRecompute, ordered, segments, apart}},
	} {
		f, err := play(tc.p, tc.steps)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		want := map[string]bool{}
		for _, set := range tc.in {
			want[set] = true
		}
		for set, holds := range members {
			if got := holds(f); got != want[set] {
				t.Errorf("%s in %q: got %v, want %v", tc.name, set, got, want[set])
			}
		}
	}
}
