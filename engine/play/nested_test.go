package play_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/play"
	"memtide/engine/remat"
)

// compiled returns a chain of n stages, and the schedule of a sequence.
func compiled(t *testing.T, n int, ops string) (*engine.Problem, engine.Schedule) {
	t.Helper()
	c := &engine.Chain{Name: "chain", Batch: 1, Input: 1}
	for k := range n {
		c.Stages = append(c.Stages, engine.Stage{Name: fmt.Sprint(k + 1), Forward: 1, Back: 1, Out: 1, Saved: 2,
			Grad: 1})
	}
	p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, engine.NoLimit)
	var seq []engine.ChainOp
	for _, word := range strings.Fields(ops) {
		kind := map[byte]engine.ChainOpKind{'F': engine.FAll, 'C': engine.FCk, 'N': engine.FNone,
			'B': engine.BStep}[word[0]]
		seq = append(seq, engine.ChainOp{Kind: kind, Stage: int(word[1] - '0')})
	}
	s, _, err := p.Chain.CompileSequence(seq)
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

// text formats parts, for example as 1-3(1-2). The mark in 2-2^ means that the part is offloaded, and in ^2-3
// that its input is.
func text(parts []play.Part) string {
	var out []string
	for _, p := range parts {
		one := fmt.Sprintf("%d-%d", p.First, p.Last)
		if len(p.Within) > 0 {
			one += "(" + text(p.Within) + ")"
		}
		if p.Offload {
			one += "^"
		}
		if p.InputOffload {
			one = "^" + one
		}
		out = append(out, one)
	}
	return strings.Join(out, " ")
}

// TestNested checks that parts that run again are found by where the schedule begins again.
func TestNested(t *testing.T) {
	for _, c := range []struct {
		n         int
		ops, want string
	}{
		{3, "F1 F2 F3 B3 B2 B1", ""},
		{3, "F1 C2 F3 B3 F2 B2 B1", "2-2"},
		{3, "C1 N2 F3 B3 F1 F2 B2 B1", "1-2"},
		{3, "C1 C2 F3 B3 F2 B2 F1 B1", "1-1 2-2"},
		{4, "C1 N2 N3 F4 B4 C1 N2 F3 B3 C1 F2 B2 F1 B1", "1-3(1-2(1-1))"},
	} {
		p, s := compiled(t, c.n, c.ops)
		if got, err := play.Nested(p, s); err != nil || text(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.ops, text(got), err, c.want)
		}
	}
}

// TestNestedOffload checks that saved sets of stages that run once, and inputs of parts that run again, may be
// offloaded.
func TestNestedOffload(t *testing.T) {
	for _, c := range []struct {
		ops, want string
		moved     func(g *engine.ChainGraph) []engine.ValueID
	}{
		{"F1 F2 F3 B3 B2 B1", "2-2^",
			func(g *engine.ChainGraph) []engine.ValueID { return []engine.ValueID{g.Saved(2), g.Act(0)} }},
		{"F1 F2 F3 B3 B2 B1", "1-1^ 2-2^ 3-3^", func(g *engine.ChainGraph) []engine.ValueID {
			return []engine.ValueID{g.Saved(3), g.Saved(1), g.Saved(2), g.Saved(3)}
		}},
		{"F1 C2 F3 B3 F2 B2 B1", "1-1^ ^2-2 3-3^", func(g *engine.ChainGraph) []engine.ValueID {
			return []engine.ValueID{g.Act(1), g.Saved(3), g.Saved(1)}
		}},
		{"C1 N2 F3 B3 F1 F2 B2 B1", "1-2 3-3^",
			func(g *engine.ChainGraph) []engine.ValueID { return []engine.ValueID{g.Act(2)} }},
		{"C1 N2 F3 B3 F1 F2 B2 B1", "",
			func(g *engine.ChainGraph) []engine.ValueID { return []engine.ValueID{g.Saved(2)} }},
	} {
		p, s := compiled(t, 3, c.ops)
		for _, v := range c.moved(p.Chain) {
			s = append(s, engine.Offload(v))
		}
		got, err := play.Nested(p, s)
		if text(got) != c.want || (err == nil) == (c.want == "") {
			t.Errorf("%s: %q, %v; want %q", c.ops, text(got), err, c.want)
		}
	}
}

// TestNotNested checks that schedules that parts cannot express are refused with the reason.
func TestNotNested(t *testing.T) {
	p, s := compiled(t, 3, "F1 F2 F3 B3 B2 B1")
	last := slices.IndexFunc(s, func(s engine.Instruction) bool { return s.Kind == engine.DoRun && s.Op == p.Chain.Bwd(1) })
	for words, schedule := range map[string]engine.Schedule{
		"This schedule drops s1 and makes it again while its run is not in progress: no wrapper does that": slices.Insert(slices.Clone(s), last, engine.Run(p.Chain.Fwd(1))),
	} {
		if parts, err := play.Nested(p, schedule); err == nil ||
			!strings.Contains(strings.ToLower(err.Error()), strings.ToLower(words)) {
			t.Errorf("%q, %v; want %q", text(parts), err, words)
		}
	}
}

// sequence returns the sequence of operations that parts describe.
func sequence(first, last int, parts []play.Part) (seq []engine.ChainOp) {
	var back []engine.ChainOp
	for k := first; k <= last; k++ {
		at := slices.IndexFunc(parts, func(p play.Part) bool { return p.First == k })
		if at < 0 {
			seq = append(seq, engine.ChainOp{Kind: engine.FAll, Stage: k})
			back = append([]engine.ChainOp{{Kind: engine.BStep, Stage: k}}, back...)
			continue
		}
		seq = append(seq, engine.ChainOp{Kind: engine.FCk, Stage: k})
		for k++; k <= parts[at].Last; k++ {
			seq = append(seq, engine.ChainOp{Kind: engine.FNone, Stage: k})
		}
		k--
		back = append(sequence(parts[at].First, parts[at].Last, parts[at].Within), back...)
	}
	return append(seq, back...)
}

// TestRotorIsNested checks that every schedule of rotor converts to parts with the same step time and peak.
func TestRotorIsNested(t *testing.T) {
	r, deep := enginetest.Rand(7), 0
	for i := range 600 {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 9})
		p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, enginetest.RandomBudget(r, c))
		sol, err := remat.Rotor.Solve(p, nil, nil)
		if err != nil {
			continue
		}
		parts, err := play.Nested(p, sol.Schedule)
		if err != nil {
			t.Errorf("chain %d: %v\n%s", i, err, enginetest.Dump(c))
			continue
		}
		if strings.Contains(text(parts), "(") {
			deep++
		}
		if total, peak := remat.Replay(c, sequence(1, c.Len(), parts)); total != sol.Makespan || peak > p.Budget {
			t.Errorf("chain %d, parts %s: %v and %d bytes, rotor %v within %d\n%s", i, text(parts), total, peak,
				sol.Makespan, p.Budget, enginetest.Dump(c))
		}
	}
	if deep < 10 {
		t.Errorf("%d schedules had runs within runs, want 10: too few to show anything", deep)
	}
}

// TestClassOf checks that ClassOf returns the smallest class that contains the segments.
func TestClassOf(t *testing.T) {
	trace := &play.Trace{Units: []int{0, 1, 2}, Calls: []play.Call{{Path: "a"}, {Path: "b"}, {Path: "c"}},
		Tied: []int{1}}
	seg := func(units ...string) *play.Segment { return &play.Segment{Units: units, Do: play.DoRecompute} }
	inner, saves, input := seg("a", "b", "c"), seg("c"), seg("c")
	inner.Inner, saves.Save, input.Input = []*play.Segment{seg("c")}, []play.Saved{{Op: "f", At: 0}}, play.DoOffload
	deep := seg("a", "b", "c")
	deep.Inner = []*play.Segment{saves}
	for want, segments := range map[play.Class][][]*play.Segment{
		play.ClassUnit:      {nil, {seg("c")}, {seg("a", "b")}}, // b is tied to a
		play.ClassWrappable: {{seg("a", "b", "c")}, {seg("a", "b", "c"), seg("c")}},
		play.ClassNested:    {{inner}, {inner, seg("c")}},
		play.ClassSAC:       {{seg("a", "b"), saves}, {deep}},
		play.ClassOffload:   {{input}, {{Units: []string{"c"}, Do: play.DoOffload}}},
	} {
		for i, s := range segments {
			if got := trace.ClassOf(s); got != want {
				t.Errorf("%s, example %d: %s", want, i, got)
			}
		}
	}
}

// TestWorth checks that Worth orders operators by time per byte, and leaves out those that must run again.
func TestWorth(t *testing.T) {
	trace := &play.Trace{Storages: []engine.Bytes{10, 10, 1, 10, 10, 10},
		Calls: []play.Call{{Path: "a", End: 4}, {Path: "b", Op: 4, End: 7}}, Ops: []play.Op{
			{Name: "aten.mm.default", New: []int{0}, Time: 5},
			{Name: "aten.mm.default", New: []int{1}, Time: 7},
			{Name: "aten.bernoulli_.float", New: []int{2}, Time: 9},
			{Name: "aten.view.default"},
			{Name: "aten.gelu.default", New: []int{3}, Time: 6},
			{Name: "aten.add.Tensor", New: []int{4}, Time: 99},
			{Name: "aten.mul_.Tensor", Write: []int{4}},
		}}
	for want, units := range map[string][]string{
		"[{aten.mm.default 1} {aten.mm.default 0}]":                       {"a"},
		"[{aten.gelu.default 0}]":                                         {"b"},
		"[{aten.mm.default 1} {aten.gelu.default 0} {aten.mm.default 0}]": {"a", "b"},
	} {
		if got := fmt.Sprint(trace.Worth(units)); got != want {
			t.Errorf("%v: %s, want %s", units, got, want)
		}
	}
	attends := func(names ...string) (worth int) {
		trace := &play.Trace{Storages: []engine.Bytes{1}, Calls: []play.Call{{Path: "a", End: len(names)}}}
		for _, n := range names {
			trace.Ops = append(trace.Ops, play.Op{Name: n, New: []int{0}, Time: 1})
		}
		for _, w := range trace.Worth([]string{"a"}) {
			if strings.Contains(w.Op, "attention") {
				worth++
			}
		}
		return worth
	}
	const flash = "aten._scaled_dot_product_flash_attention.default"
	if one, two, beside := attends(flash), attends(flash, flash),
		attends(flash, "aten.native_dropout.default"); one != 1 || two != 0 || beside != 0 {
		t.Errorf("of one attention %d may stay, of two %d, beside dropout %d; want 1, 0, 0: the others would draw other random numbers", one, two, beside)
	}
}

// TestShapes checks that Add accepts plans of the same model for other inputs, once each.
func TestShapes(t *testing.T) {
	plan := func(batch int, units ...string) *play.Plan {
		return &play.Plan{Format: play.PlanFormat, Model: play.Identity{Units: units},
			Inputs:   [][]any{{"x", []int64{int64(batch)}, "float32"}},
			Segments: []*play.Segment{{Units: units, Do: play.DoRecompute}}}
	}
	p := plan(1, "a")
	if err := p.Add(plan(2, "a")); err != nil {
		t.Fatal(err)
	}
	for what, q := range map[string]*play.Plan{"the inputs of the first": plan(1, "a"), "of the second": plan(2, "a"),
		"another model": plan(3, "b")} {
		if err := p.Add(q); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	text, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := play.ReadPlan(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if second, _ := again.JSON(); len(again.Shapes) != 1 || string(second) != string(text) {
		t.Errorf("%d shapes; written again\n%s\nwant\n%s", len(again.Shapes), second, text)
	}
}
