package chainify

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"memtide/engine"
)

// op returns a test operator with an output of 10 bytes that takes 1 ms forward and 2 ms backward.
func op(name string, tr Traits, preds ...int) Operator {
	return Operator{Name: name, Kind: name, Forward: time.Millisecond, Back: 2 * time.Millisecond, Out: 10,
		Traits: tr, Preds: preds}
}

// input returns an input of 7 bytes.
func input(name string) Operator {
	return Operator{Name: name, Kind: name, Out: 7, Traits: IsInput}
}

// stageNames returns the kinds of the operators of each stage that Linearize makes of ops.
func stageNames(t *testing.T, ops []Operator) []string {
	t.Helper()
	l, err := Linearize(ops, nil)
	if err != nil {
		t.Fatalf("linearize = %v", err)
	}
	var names []string
	for _, s := range l.Stages {
		_, kinds, _ := strings.Cut(s.Name, " ")
		names = append(names, kinds)
	}
	return names
}

// TestStageEnds checks where a chain is cut into stages.
func TestStageEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		ops  []Operator
		want []string
	}{
		{"a plain chain", []Operator{input("x"), op("a", 0, 0), op("b", 0, 1), op("c", 0, 2)}, []string{"a", "b", "c"}},
		{"a residual edge without inner nodes keeps b and add together",
			[]Operator{input("x"), op("a", 0, 0), op("b", 0, 1), op("add", 0, 2, 1), op("c", 0, 3)},
			[]string{"a", "b+add", "c"}},
		{"two branches are one stage",
			[]Operator{input("x"), op("a", 0, 0), op("l", 0, 1), op("r", 0, 1), op("cat", 0, 2, 3)},
			[]string{"a", "l+r+cat"}},
		{"branches that begin at the input are one stage",
			[]Operator{input("x"), op("l", 0, 0), op("r", 0, 0), op("cat", 0, 1, 2), op("c", 0, 3)},
			[]string{"l+r+cat", "c"}},
		{"a reader in place joins the stage before",
			[]Operator{input("x"), op("a", 0, 0), op("relu", InPlace, 1), op("c", 0, 2)}, []string{"a+relu", "c"}},
		{"so does a view", []Operator{input("x"), op("a", 0, 0), op("view", IsView, 1), op("c", 0, 2)},
			[]string{"a+view", "c"}},
		{"a view at the end ends the last stage",
			[]Operator{input("x"), op("a", 0, 0), op("b", 0, 1), op("view", IsView, 2)}, []string{"a", "b+view"}},
		{"reading a shape is no edge",
			[]Operator{input("x"), op("a", 0, 0), op("b", 0, 1),
				{Name: "size", Kind: "size", Traits: IsShape | IsView, Preds: []int{1}}, op("c", 0, 2, 3)},
			[]string{"a", "b", "c"}},
		{"a dead view is dropped, and its dead input too",
			[]Operator{input("x"), op("a", 0, 0), {Name: "v", Kind: "v", Traits: IsView, Preds: []int{1}},
				{Name: "w", Kind: "w", Traits: IsView, Preds: []int{2}}, op("b", 0, 1)},
			[]string{"a", "b"}},
		{"a side head joins the stage it branches from",
			[]Operator{input("x"), op("a", 0, 0), op("head", 0, 1), op("b", 0, 1), op("c", 0, 3)},
			[]string{"a+head", "b", "c"}},
		{"what hangs on a second input joins the stage that uses it",
			[]Operator{input("x"), op("a", 0, 0), op("b", 0, 1), input("y"), op("emb", 0, 3), op("c", 0, 2, 4),
				op("d", 0, 5)}, []string{"a", "b", "emb+c", "d"}},
		{"order in the file does not matter", []Operator{op("c", 0, 1), op("b", 0, 2), op("a", 0, 3), input("x")},
			[]string{"a", "b", "c"}},
		{"the first source is the input if none says so", []Operator{op("a", 0), op("b", 0, 0), op("c", 0, 1)},
			[]string{"b", "c"}},
	} {
		if got := stageNames(t, c.ops); !slices.Equal(got, c.want) {
			t.Errorf("%s\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}

// TestConstant checks that a mask that three operators read becomes pinned memory instead of a part of the chain.
func TestConstant(t *testing.T) {
	mask := Operator{Name: "mask", Kind: "mask", Out: 5, Preds: []int{0}}
	l, err := Linearize([]Operator{input("x"), mask, op("a", 0, 0, 1), op("b", 0, 2, 1), op("c", 0, 3, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if l.Pinned != 5 || len(l.Stages) != 3 || l.Input != 7 {
		t.Errorf("pinned %d, %d stages, input %d; want 5, 3, 7", l.Pinned, len(l.Stages), l.Input)
	}
}

// TestNoChain checks the errors for graphs that have no chain.
func TestNoChain(t *testing.T) {
	for _, c := range []struct {
		name string
		ops  []Operator
		want error
	}{
		{"a cycle", []Operator{input("x"), op("a", 0, 0, 2), op("b", 0, 1)}, errCycle},
		{"an operator that reads itself", []Operator{input("x"), op("a", 0, 0, 1)}, errCycle},
		{"only an input", []Operator{input("x")}, errNoStages},
	} {
		if _, err := Linearize(c.ops, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// TestStageMemory checks saved sets and temporary memory that were counted by hand.
func TestStageMemory(t *testing.T) {
	with := func(o Operator, out, aux engine.Bytes) Operator {
		o.Out, o.Aux = out, aux
		return o
	}
	for _, c := range []struct {
		name             string
		ops              []Operator // the last stage is checked
		saved, fwd, back engine.Bytes
	}{
		{"two branches from the input, added",
			[]Operator{input("x"), op("conv", SavesIn, 0), with(op("norm", SavesIn, 1), 20, 0),
				with(op("skip", SavesIn, 0), 20, 0),
				with(op("add", PassesGrad, 2, 3), 20, 0)},
			// Kept: conv 10, which norm reads, and add 20, which is the output. Forward: all four, 70, when add
			// runs. Backward: kept 30 + gradient 20, which add passes on without a copy. The output is released
			// before norm allocates 10 for conv.
			30, 40, 0},
		{"an operator alone keeps its output", []Operator{input("x"), op("a", SavesIn, 0)}, 10, 0, 0},
		{"indices of a pool are saved beside the output", []Operator{input("x"), with(op("pool", SavesIn, 0), 4, 8)},
			12, 0, 0},
		{"a jump over an operator that saves nothing: the last stage is b+c",
			[]Operator{input("x"), op("a", 0, 0), op("b", 0, 1), op("c", 0, 2, 1)},
			// Kept: the output c, 10. Forward: b and c, 20. Backward: kept 10 + gradient 10, and c allocates for
			// b and for a: 40. The chain counts the saved set, the gradient of this stage and that of the stage
			// before: 30.
			10, 10, 10},
		{"an addition in place overwrites the input that nobody else reads",
			[]Operator{input("x"), op("a", 0, 0), op("b", 0, 0), op("add", InPlace|PassesGrad, 1, 2),
				op("c", SavesIn, 2), op("out", 0, 3, 4)},
			// a and add share 10, and with b, c and out it is 40 when out runs. Kept: b, which c needs, and out.
			// Backward: kept 20 + gradient 10, and out allocates for add and c: 50.
			20, 20, 20},
		{"a sum goes into the buffer that nobody else holds",
			[]Operator{input("x"), op("s", 0, 0), op("a", 0, 0), op("b", 0, 2), op("add", PassesGrad, 3, 2),
				op("cat", PassesGrad, 4, 1)},
			// Forward: s, a, b and add are alive when add runs, 40. Backward: kept 10 + gradient 10, which s, a
			// and b hold in the end. The output of cat is released. b allocates 10 for a, and a's share is added
			// there: 20 at most.
			10, 30, 0},
		// In place, relu shares the storage of conv, and its backward allocates.
		{"relu in place", []Operator{input("x"), op("conv", SavesIn, 0), op("relu", SavesOut|InPlace, 1)}, 10, 0, 10},
	} {
		l, err := Linearize(c.ops, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		s := l.Stages[len(l.Stages)-1]
		if s.Saved != c.saved || s.FwdTemp != c.fwd || s.BwdTemp != c.back {
			t.Errorf("%s: abar %d oF %d oB %d, want %d %d %d", c.name, s.Saved, s.FwdTemp, s.BwdTemp, c.saved, c.fwd,
				c.back)
		}
	}
}

// TestManyOperators checks that large graphs can be linearized where every source reaches every operator and all
// of them are in one stage. The time must be proportional to the size of the graph.
func TestManyOperators(t *testing.T) {
	const n = 4000
	ops := make([]Operator, 0, 2*n+1)
	for range n {
		ops = append(ops, input("x"))
	}
	first := len(ops)
	ops = append(ops, op("a", SavesIn, 0))
	for i := 1; i < n; i++ {
		ops = append(ops, op("b", SavesIn|SavesOut, first+i-1, first, i))
	}
	l, err := Linearize(ops, nil)
	if err != nil || len(l.Stages) != 2 {
		t.Fatalf("linearize = %v, %v; want 2 stages", l, err)
	}
	if got, want := l.Stages[1].Forward, (n-1)*time.Millisecond; got != want {
		t.Errorf("forward of the second stage %v, want %v", got, want)
	}
}
