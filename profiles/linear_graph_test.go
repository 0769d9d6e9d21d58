//go:build !lean

package profiles

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/check"
	"memtide/engine/sim"
)

// TestGraphOfOperators pins the graph of two branches, counted by hand: what is
// saved, who holds which gradient, and the update at the end.
func TestGraphOfOperators(t *testing.T) {
	conv, norm := op("conv", savesIn, 0), op("norm", savesIn, 1)
	conv.weights, norm.aux = 3, 4
	l, err := linearize([]operator{input("x"), conv, norm, op("add", passesGrad, 1, 2), op("relu", savesOut|inPlace, 3), op("view", isView|passesGrad, 4)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := l.graph
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
		// add hands its gradient to both; norm adds to what conv holds, which is also
		// its own: that takes a new buffer.
		"backward of norm norm: add gradient, conv conv, norm mask -> conv gradient 2ms",
		"backward of conv conv: conv gradient, x x, conv weights -> conv weight gradients 2ms",
		"update of conv: conv weights, conv weight gradients ->  0s",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestGraphOfOperatorsAddsInPlace: a second share of a gradient that one node
// holds is added to it.
func TestGraphOfOperatorsAddsInPlace(t *testing.T) {
	l, err := linearize([]operator{input("x"), op("a", savesIn, 0), op("b", savesIn, 1), op("c", savesIn, 1), op("d", savesIn, 2, 3)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range l.graph.Ops {
		if want := map[string]engine.Bytes{"backward of b b": 10}[o.Name]; o.Temp != want {
			t.Errorf("%s needs %d bytes beside, want %d", o.Name, o.Temp, want)
		}
	}
}

// TestGraphsOfProfiles: the graphs of operator files take as long as their
// chains, hold all weights, and are solved and verified, also in less memory.
func TestGraphsOfProfiles(t *testing.T) {
	for _, name := range []string{"testdata/branchy", "alexnet", "vgg16", "squeezenet1_0", "resnet18", "gnmt"} {
		file := name + ".graph.txt"
		if !strings.Contains(name, "/") {
			file = "../../shared/data/pipedream/" + file
		}
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip("the public PipeDream profiles are not at ../shared/data/pipedream")
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := Decode(name, data, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Graph.Validate(); err != nil {
				t.Fatal(err)
			}
			compareWithChain(t, p)
			problem := &engine.Problem{Graph: p.Graph, Budget: engine.NoLimit, Device: engine.Device{ToHost: 12e9, ToDev: 12e9, Duplex: engine.FullDuplex}}
			full := solveGraph(t, "keepall", problem)
			for _, strategy := range []string{"window", "lms"} {
				if got := solveGraph(t, strategy, problem); got.Makespan != full.Makespan {
					t.Errorf("%s with room for everything takes %v, want %v", strategy, got.Makespan, full.Makespan)
				}
				less := solveGraph(t, strategy, problem.WithBudget(full.Peak*3/4))
				t.Logf("%s: %v in %d MiB, %v in %d MiB", strategy, full.Makespan, full.Peak>>20, less.Makespan, less.Peak>>20)
			}
		})
	}
}

// compareWithChain holds the graph against the chain of the same operators.
func compareWithChain(t *testing.T, p *Profile) {
	t.Helper()
	var forward, back time.Duration
	for _, o := range p.Graph.Ops {
		if o.Pass == engine.Forward {
			forward += o.Time
		} else {
			back += o.Time
		}
	}
	var weights engine.Bytes
	for _, v := range p.Graph.Values {
		if v.Kind == engine.KindWeight {
			weights += v.Size
		}
	}
	if c := p.Chain; forward != c.ForwardTime() || back != c.BackTime() || weights != c.Resident.Total() {
		t.Errorf("the graph takes %v and %v and has %d bytes of weights, the chain %v, %v and %d", forward, back, weights,
			c.ForwardTime(), c.BackTime(), c.Resident.Total())
	}
}

func solveGraph(t *testing.T, strategy string, p *engine.Problem) *sim.Trace {
	t.Helper()
	s := engine.Lookup(strategy)
	sol, err := s.Solve(p, nil, nil)
	if err != nil {
		t.Fatalf("%s in %d bytes: %v", strategy, p.Budget, err)
	}
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Fatalf("%s in %d bytes: %v", strategy, p.Budget, err)
	}
	if err := check.Trace(p, sol.Schedule, trace); err != nil {
		t.Errorf("%s in %d bytes: %v", strategy, p.Budget, err)
	}
	if trace.Makespan != sol.Makespan || trace.Peak != sol.Peak {
		t.Errorf("%s in %d bytes claims %v and %d bytes, measured are %v and %d", strategy, p.Budget, sol.Makespan, sol.Peak, trace.Makespan, trace.Peak)
	}
	return trace
}

// TestKeepAllAgrees: keeping everything needs as much on the chain as on the graph
// of the same operators, where nobody saves what the normalisations and a pool
// write. An operator of a kind that nobody knows may save anything.
func TestKeepAllAgrees(t *testing.T) {
	ops := func(last traits) []operator {
		list := []operator{input("x")}
		add := func(name string, tr traits) { list = append(list, op(name, tr, len(list)-1)) }
		for range 3 {
			add("conv", savesIn)
			add("norm", savesIn)
			list[len(list)-1].aux = 2
			add("relu", savesOut)
		}
		add("mean", 0)
		add("dropout", last)
		list[len(list)-1].aux = 3
		add("fc", savesIn)
		// Small, so that the peak is not at the backward of the dropout, during which
		// the chain counts what the fc has read as still there.
		for i := len(list) - 3; i < len(list); i++ {
			list[i].out = 1
		}
		return list
	}
	for _, tc := range []struct {
		last traits
		want string
	}{{0, "norm norm norm mean"}, {guessed, "norm norm norm"}} {
		l, err := linearize(ops(tc.last), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &engine.Chain{Input: l.input, Stages: append(l.stages, engine.Stage{Name: lossName})}
		var unsaved []string
		for _, s := range l.stages {
			if s.Unsaved {
				unsaved = append(unsaved, strings.Fields(s.Name)[0])
			}
		}
		if got := strings.Join(unsaved, " "); got != tc.want {
			t.Errorf("saved for nobody: got %q, want %q", got, tc.want)
		}
		if tc.last == guessed {
			continue
		}
		sol, err := engine.Lookup("keepall").Solve(&engine.Problem{Graph: l.graph, Budget: engine.NoLimit}, nil, nil)
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
