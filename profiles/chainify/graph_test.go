package chainify

import (
	"strings"
	"testing"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/profiles/parse"
)

// TestGraphOfOperators checks the graph of two branches that was written by hand: what is saved, which values
// hold gradients, and the update at the end.
func TestGraphOfOperators(t *testing.T) {
	conv, norm := op("conv", SavesIn, 0), op("norm", SavesIn, 1)
	conv.Weights, norm.Aux = 3, 4
	l, err := Linearize([]Operator{input("x"), conv, norm, op("add", PassesGrad, 1, 2),
		op("relu", SavesOut|InPlace, 3), op("view", IsView|PassesGrad, 4)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := l.Graph
	names := func(ids []engine.ValueID) string {
		var list []string
		for _, id := range ids {
			list = append(list, g.Values[id].Name)
		}
		return strings.Join(list, ", ")
	}
	var got []string
	for _, op := range g.Ops {
		got = append(got, op.Name+": "+names(op.In)+" -> "+names(op.Out)+" "+op.Time.String())
	}
	want := []string{
		"conv conv: x x, conv weights -> conv conv 1ms",
		"norm norm: conv conv -> norm norm, norm mask 1ms",
		"add add: conv conv, norm norm -> add add 1ms",
		"relu relu: add add ->  1ms",
		"view view: add add ->  1ms",
		"loss of view: add add -> view gradient 0s",
		"backward of view view: view gradient ->  2ms",
		"backward of relu relu: view gradient, add add -> add gradient 2ms",
		"backward of add add: add gradient ->  2ms",
		// add passes its gradient on to both. norm must add to the gradient of conv, but that buffer is also its
		// own gradient, so the sum takes a new one.
		"backward of norm norm: add gradient, conv conv, norm mask -> conv gradient 2ms",
		"backward of conv conv: conv gradient, x x, conv weights -> conv weight gradients 2ms",
		"update of conv: conv weights, conv weight gradients ->  0s",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestGraphOfOperatorsAddsInPlace checks that a second share of a gradient is added to the buffer if only one
// node holds it.
func TestGraphOfOperatorsAddsInPlace(t *testing.T) {
	l, err := Linearize([]Operator{input("x"), op("a", SavesIn, 0), op("b", SavesIn, 1), op("c", SavesIn, 1),
		op("d", SavesIn, 2, 3)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range l.Graph.Ops {
		if want := map[string]engine.Bytes{"backward of b b": 10}[o.Name]; o.Temp != want {
			t.Errorf("%s needs %d bytes beside, want %d", o.Name, o.Temp, want)
		}
	}
}

// TestKeepAllAgrees checks that keeping everything needs the same memory on the chain and on the graph of the
// same operators. In these the outputs of the normalisations and of the mean are saved by no operator. An
// operator of an unknown kind may save any of its inputs.
func TestKeepAllAgrees(t *testing.T) {
	ops := func(last Traits) []Operator {
		list := []Operator{input("x")}
		add := func(name string, tr Traits) { list = append(list, op(name, tr, len(list)-1)) }
		for range 3 {
			add("conv", SavesIn)
			add("norm", SavesIn)
			list[len(list)-1].Aux = 2
			add("relu", SavesOut)
		}
		add("mean", 0)
		add("dropout", last)
		list[len(list)-1].Aux = 3
		add("fc", SavesIn)
		// These are small, so that the peak is not at the backward of the dropout. During that backward the chain
		// still counts what fc has read.
		for i := len(list) - 3; i < len(list); i++ {
			list[i].Out = 1
		}
		return list
	}
	for _, tc := range []struct {
		last Traits
		want string
	}{{0, "norm norm norm mean"}, {Guessed, "norm norm norm"}} {
		l, err := Linearize(ops(tc.last), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &engine.Chain{Input: l.Input, Stages: append(l.Stages, engine.Stage{Name: parse.LossName})}
		var unsaved []string
		for _, s := range l.Stages {
			if s.Unsaved {
				unsaved = append(unsaved, strings.Fields(s.Name)[0])
			}
		}
		if got := strings.Join(unsaved, " "); got != tc.want {
			t.Errorf("saved for nobody: got %q, want %q", got, tc.want)
		}
		if tc.last == Guessed {
			continue
		}
		sol, err := engine.Lookup("keepall").Solve(&engine.Problem{Graph: l.Graph, Budget: engine.NoLimit}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.KeepAllPeak(); got != sol.Peak {
			t.Errorf("keeping everything needs %d bytes on the chain and %d on the graph", got, sol.Peak)
		}
		for i := range c.Stages {
			c.Stages[i].Saved += c.Beside(i + 1)
			c.Stages[i].Unsaved = false
		}
		if got := c.KeepAllPeak(); got <= sol.Peak {
			t.Errorf("with every output counted as saved it needs %d bytes, no more than %d", got, sol.Peak)
		}
	}
}
