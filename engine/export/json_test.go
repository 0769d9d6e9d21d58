package export_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/enginetest"
	"memtide/engine/enginetest/golden"
	"memtide/engine/export"
)

// same reports whether two files are equal, apart from their arguments.
func same(a, b *export.File) bool {
	chain := func(p *export.File) *engine.Chain {
		if p.Problem.Chain == nil {
			return nil
		}
		return p.Problem.Chain.Chain
	}
	return a.Name == b.Name && a.Strategy == b.Strategy && reflect.DeepEqual(a.Schedule, b.Schedule) &&
		reflect.DeepEqual(chain(a), chain(b)) &&
		reflect.DeepEqual(a.Problem.Graph, b.Problem.Graph) && a.Problem.Device == b.Problem.Device &&
		a.Problem.Transfers == b.Problem.Transfers && a.Problem.Budget == b.Problem.Budget
}

// plans returns schedules of every strategy on random chains, in both duplex and both transfer modes.
func plans(t *testing.T, count int) []*export.File {
	t.Helper()
	var all []*export.File
	r := enginetest.Rand(31)
	for i := range count {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 7})
		if i%3 == 0 {
			enginetest.GiveFast(r, c)
		}
		if i%4 == 1 {
			enginetest.GiveUnsaved(r, c)
		}
		for _, duplex := range []engine.Duplex{engine.HalfDuplex, engine.FullDuplex} {
			for _, transfers := range []engine.Transfers{engine.Whole, engine.Streamed} {
				p := engine.NewChainProblem(c, enginetest.Device(duplex), transfers, enginetest.RandomBudget(r, c))
				for _, s := range engine.Strategies() {
					sol, err := s.Solve(p, nil, nil)
					if err != nil {
						continue // the budget is too small, or the strategy does not apply
					}
					all = append(all, &export.File{Name: fmt.Sprintf("chain %d", i), Strategy: s.Name, Problem: p,
						Schedule: sol.Schedule})
				}
			}
		}
	}
	if len(all) < 10*count {
		t.Fatalf("only %d schedules on %d chains: too few to prove anything", len(all), count)
	}
	return all
}

func TestRoundTrip(t *testing.T) {
	all := plans(t, 25)
	for _, v := range enginetest.Load("window") {
		g := v.Graph()
		all = append(all, graphPlan(g))
	}
	for seed := range uint64(20) {
		p, s := enginetest.Lanes(enginetest.Rand(seed), 1, time.Second, 1)
		p.Graph.Ops = append(p.Graph.Ops, engine.Op{Name: "last", Time: 1, After: []engine.OpID{0}})
		s = append(s, engine.Run(engine.OpID(len(p.Graph.Ops)-1)))
		all = append(all, &export.File{Name: "lanes", Strategy: "hand", Problem: p, Schedule: s})
	}
	for _, p := range all {
		text, err := p.JSON()
		if err != nil {
			t.Fatalf("%s by %s: %v", p.Name, p.Strategy, err)
		}
		back, err := export.ParseJSON(text)
		if err != nil {
			t.Errorf("%s by %s: %v\n%s", p.Name, p.Strategy, err, text)
			continue
		}
		if !same(p, back) {
			t.Errorf("%s by %s: got back\n%+v\nwant\n%+v\nthrough\n%s", p.Name, p.Strategy, back, p, text)
		}
		again, err := back.JSON()
		if err != nil || !bytes.Equal(text, again) {
			t.Errorf("%s by %s: written again, error %v:\n%s\nwant\n%s", p.Name, p.Strategy, err, again, text)
		}
	}
}

// graphPlan returns a schedule that fetches every value on the host and then runs every operation of a graph once.
func graphPlan(g *engine.Graph) *export.File {
	p := &export.File{Name: "functions", Strategy: "hand", Args: engine.Args{"depth": "2"},
		Problem: &engine.Problem{Graph: g, Device: enginetest.Device(engine.FullDuplex), Budget: engine.NoLimit}}
	for i, v := range g.Values {
		if v.Initial == engine.OnHost {
			p.Schedule = append(p.Schedule,
				engine.Instruction{Kind: engine.DoFetch, Op: engine.NoOp, Value: engine.ValueID(i),
					NotBefore: time.Duration(i), Reserve: i%2 == 0})
		}
	}
	for i := range g.Ops {
		p.Schedule = append(p.Schedule, engine.Run(engine.OpID(i)))
	}
	return p
}

// TestGolden compares the text of a small file with the stored one.
func TestGolden(t *testing.T) {
	p := small()
	text, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/small.json", string(text))
}

// small returns a file that has every kind of entry.
func small() *export.File {
	c := &engine.Chain{Name: "small", Batch: 2, Input: 8,
		Resident: engine.Resident{Weights: 3, Grads: 3, Optimizer: 6, Pinned: 1}, Stages: []engine.Stage{
			{Name: "conv \"1\"", Kind: "conv", Forward: 1500, Back: 3000, Out: 16, Saved: 24, Grad: 16, FwdTemp: 2,
				BwdTemp: 4,
				Fast:    &engine.Algorithm{Forward: 1000, Back: 2000, FwdTemp: 8, BwdTemp: 16}},
			{Name: "fcé", Kind: "fc", Forward: 700, Back: 1400, Out: 4, Saved: 4, Grad: 4},
			{Name: "loss", Forward: 10, Back: 10, Out: 4, Saved: 4, Grad: 4},
		}}
	p := engine.NewChainProblem(c, engine.Device{Name: "test", Memory: 1000, ToHost: 5e6, ToDev: 4e6},
		engine.Whole, 100)
	g := p.Chain
	return &export.File{Name: "small", Strategy: "hand", Args: engine.Args{"segments": "2"}, Problem: p,
		Schedule: engine.Schedule{
			engine.Offload(g.Act(0)),
			engine.RunOutputOnly(g.Fwd(1)), engine.Free(g.Act(0)),
			engine.Run(g.Fwd(2)), engine.Wait(g.Act(0)), engine.Run(g.Fwd(3)),
			engine.Run(g.Bwd(3)), engine.Free(g.Grad(3)), engine.Free(g.Saved(3)),
			{Kind: engine.DoFetch, Op: engine.NoOp, Value: g.Act(0), NotBefore: 4000, Reserve: true},
			engine.Run(g.Bwd(2)), engine.Free(g.Grad(2)), engine.Free(g.Saved(2)), engine.Free(g.Act(1)),
			{Kind: engine.DoRun, Op: g.Fwd(1), Value: engine.NoValue, Alt: true},
			engine.Run(g.Bwd(1)), engine.Free(g.Grad(1)), engine.Free(g.Saved(1)), engine.Free(g.Act(0)),
		}}
}

func TestRefusals(t *testing.T) {
	good, err := small().JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ old, new, want string }{
		{`memtide-schedule/1`, `memtide-schedule/2`, `this version reads "memtide-schedule/1"`},
		{`"transfers":"whole"`, `"transfers":"half"`, `transfers is "half"`},
		{`"duplex":"half"`, `"duplex":"both"`, `device.duplex is "both"`},
		{`"op":"F2"`, `"op":"F9"`, `steps[3] runs "F9"`},
		{`"value":"a0"`, `"value":"b0"`, `steps[0] names the value "b0"`},
		{`"do":"wait"`, `"do":"hope"`, `steps[4].do is "hope"`},
		{`"saved_bytes":24`, `"saved_bytes":2`, `the chain is not valid: stage 1`},
		{`"chain":{`, `"chian":{`, `has to be of a chain or of a graph`},
		{`"steps":[`, `"steps":`, `is not JSON`},
		{"\n}\n", "\n}\n{}", `something follows`},
	} {
		if !strings.Contains(string(good), test.old) {
			t.Fatalf("the file has no %s:\n%s", test.old, good)
		}
		_, err := export.ParseJSON([]byte(strings.Replace(string(good), test.old, test.new, 1)))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s for %s: got error %v, want one with %s", test.new, test.old, err, test.want)
		}
	}
	for n := range len(good) - 2 {
		if _, err := export.ParseJSON(good[:n]); err == nil {
			t.Errorf("the first %d bytes of %d: got no error", n, len(good))
		}
	}
}

func TestGraphRefusals(t *testing.T) {
	g := &engine.Graph{Fixed: 1, Done: engine.NoValue,
		Values: []engine.Value{{Name: "x", Size: 1, PartOf: engine.NoValue}},
		Ops: []engine.Op{{Name: "f", Time: 1, Out: []engine.ValueID{0}, OutputOnly: []engine.ValueID{},
			Alt: &engine.Alt{Time: 2, Temp: 1}}}}
	good, err := graphPlan(g).JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ old, new, want string }{
		{`"out":["v0"]`, `"out":["v1"]`, `ops[0] names "v1"; expected v0 to v0`},
		{`"out":["v0"]`, `"out":["v00"]`, `ops[0] names "v00"`},
		{`"out":["v0"]`, `"out":[""]`, `ops[0] names ""`},
		{`"pass":"forward"`, `"pass":"sideward"`, `ops[0].pass is "sideward"`},
		{`"kind":"activation"`, `"kind":"thing"`, `values[0].kind is "thing"`},
	} {
		text := strings.Replace(string(good), test.old, test.new, 1)
		if _, err := export.ParseJSON([]byte(text)); text == string(good) || err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s for %s: got error %v, want one with %s\n%s", test.new, test.old, err, test.want, good)
		}
	}
}
