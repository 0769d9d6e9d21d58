package play

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"memtide/engine"
)

// line returns a trace of n units in a row. Each makes an output of 10 bytes and keeps another storage of 30. The
// backward releases them in reverse.
func line(n int) *Trace {
	t := &Trace{Name: "line", Forward: n}
	t.Calls = []Call{{Path: "", Op: 0, End: n}}
	t.Events = []Event{{EventEnter, 0}}
	for k := range n {
		out, kept := 2*k, 2*k+1
		t.Storages = append(t.Storages, 10, 30)
		call := Call{Path: fmt.Sprint(k), Class: "Unit", Op: k, End: k + 1}
		if k > 0 {
			call.Args = []Arg{{Storage: out - 2, Made: []int{k}}}
		}
		t.Calls = append(t.Calls, call)
		t.Units = append(t.Units, k+1)
		t.Ops = append(t.Ops, Op{Name: "f", New: []int{out, kept}, Time: time.Millisecond})
		t.Keeps = append(t.Keeps, Keep{kept, k + 1})
		t.Frees = append(t.Frees, Free{kept, k + 1})
		if k > 0 {
			t.Frees = append(t.Frees, Free{out - 2, k + 1})
		}
		t.Events = append(t.Events, Event{EventEnter, k + 1}, Event{EventOp, k}, Event{EventPack, k},
			Event{EventLeave, k + 1})
	}
	t.Events = append(t.Events, Event{EventLeave, 0}, Event{EventBackward, 0})
	for k := n - 1; k >= 0; k-- {
		t.Ops = append(t.Ops, Op{Name: "b", Time: time.Millisecond})
		t.Events = append(t.Events, Event{EventUnpack, k}, Event{EventOp, len(t.Ops) - 1}, Event{EventRelease, k})
	}
	t.Resident = make([]bool, len(t.Storages))
	return t
}

// TestPlayByHand compares plans with results by hand. Four units keep 30 bytes each, and two outputs of 10 exist
// while one is made from the other. Python never releases the last output.
func TestPlayByHand(t *testing.T) {
	p := NewPlayer(line(4))
	run := func(units ...string) []*Segment { return []*Segment{{Units: units, Do: DoRecompute}} }
	for _, c := range []struct {
		what  string
		plan  []*Segment
		peak  engine.Bytes
		again time.Duration
	}{
		{"keep all", nil, 4*30 + 2*10, 0},
		{"the first unit", run("0"), 3*30 + 2*10, time.Millisecond},
		// The peak is in the recomputation: the last output, and everything of two units.
		{"the first two", run("0", "1"), 10 + 2*(30+10), 2 * time.Millisecond},
		{"all", run("0", "1", "2", "3"), 10 + 4*30 + 2*10, 4 * time.Millisecond},
	} {
		got := p.Play(c.plan)
		if got.Peak != c.peak || got.Again != c.again || got.Left != 10 {
			t.Errorf("%s: peak %d, again %v, left %d; want %d, %v, 10", c.what, got.Peak, got.Again, got.Left, c.peak,
				c.again)
		}
	}
}

// TestSolve checks that plans of every class fit their budgets and play as claimed, and that a budget that is too
// small is refused.
func TestSolve(t *testing.T) {
	trace := line(8)
	p := NewPlayer(trace)
	whole := p.Play(nil).Peak
	for _, class := range Classes() {
		for _, share := range []engine.Bytes{100, 80, 60} {
			budget := whole * share / 100
			segments, got, err := p.Solve(class, budget, 600, nil, nil)
			if short, ok := errors.AsType[*engine.InfeasibleError](err); ok {
				if short.Smallest <= budget {
					t.Errorf("%s, %d: nothing was found, but a peak of %d was met", class, budget, short.Smallest)
				}
				continue
			}
			if err != nil || got.Peak > budget || p.Play(segments) != got {
				t.Errorf("%s, %d: peak %d (%v), played again %+v; want it within the budget", class, budget, got.Peak,
					err, p.Play(segments))
			}
			if err := trace.Validate(segments); err != nil {
				t.Errorf("%s, %d: %v", class, budget, err)
			}
		}
	}
	if _, _, err := p.Solve(ClassNested, 15, 600, nil, nil); err == nil {
		t.Error("15 bytes are enough; want that a unit alone needs more")
	}
	if _, _, err := p.Solve("any", whole, 1, nil, nil); err == nil {
		t.Error(`class "any" is known`)
	}
}

// TestTied checks that tied units are in the same segment.
func TestTied(t *testing.T) {
	trace := line(6)
	trace.Tied = []int{1, 4}
	p := NewPlayer(trace)
	segments, _, err := p.Solve(ClassUnit, p.Play(nil).Peak-60, 600, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range segments {
		for i, first := range []string{"0", "3"} {
			second := []string{"1", "4"}[i]
			has := map[string]bool{}
			for _, u := range s.Units {
				has[u] = true
			}
			if has[first] != has[second] {
				t.Errorf("segment %v parts %s and %s", s.Units, first, second)
			}
		}
	}
}

// TestValidate checks that segments that no runtime can execute are refused.
func TestValidate(t *testing.T) {
	trace := line(4)
	seg := func(do string, units ...string) *Segment { return &Segment{Units: units, Do: do} }
	outer := seg(DoRecompute, "0", "1")
	outer.Inner = []*Segment{seg(DoRecompute, "2")}
	both := seg(DoRecompute, "0")
	both.Inner, both.Save = []*Segment{seg(DoRecompute, "0")}, []Saved{{"f", 0}}
	for what, plan := range map[string][]*Segment{
		"no units": {seg(DoRecompute)}, "unknown": {seg(DoRecompute, "9")}, "another word": {seg("sell", "0")},
		"twice":   {seg(DoRecompute, "1"), seg(DoRecompute, "1")},
		"outside": {outer}, "operators and segments": {both},
	} {
		if trace.Validate(plan) == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}
