package state

import (
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

func init() {
	engine.Register(&engine.Strategy{Name: "testgraph", Title: "Graphs", Class: engine.MayOffload, Graphs: true})
	if engine.Lookup("window") == nil {
		engine.Register(&engine.Strategy{Name: "window", Title: "Window", Class: engine.MayOffload, Graphs: true,
			Params: []engine.Param{{Name: "window", Default: "0", Min: 0, Max: 1 << 24}}})
	}
}

// operators returns a graph of two operations with values of 1 GiB.
func operators() *engine.Graph {
	g := &engine.Graph{Done: engine.NoValue}
	for range 3 {
		g.Values = append(g.Values, engine.Value{Name: "v", Size: engine.GiB, PartOf: engine.NoValue})
	}
	g.Values[0].Initial = engine.OnDevice
	g.Ops = []engine.Op{{Name: "one", Time: time.Millisecond, In: []engine.ValueID{0}, Out: []engine.ValueID{1}},
		{Name: "two", Time: time.Millisecond, In: []engine.ValueID{0, 1}, Out: []engine.ValueID{2}}}
	return g
}

// both returns the message about a profile with a chain and operations, as a worker returns it. noChain is the
// reason why the chain is of no use, if it is not empty.
func both(id int, noChain string) Opened {
	m := opened(id, chain("both"))
	m.Profile.Graph = operators()
	m.Reply.NoChain = noChain
	m.Reply.GraphTotals = proto.Totals{Ops: 2, KeepAllPeak: 3 * engine.GiB}
	return m
}

func sourceOf(q proto.Solve) string { return string(q.Network.Profile) }

// TestTwoWays checks that a profile with a chain and operations is shown as a chain until the user chooses the
// graph. Choosing the chain again shows it from the cache.
func TestTwoWays(t *testing.T) {
	p := shown(t)
	p.play(PickFile{Name: "both.txt", Bytes: []byte("x")})
	p.play(both(last[Open](t, p).ID, ""))
	e := last[Solve](t, p)
	if p.Choice.Graph || p.Network.Chain == nil || !p.Network.TwoWays() ||
		!strings.Contains(sourceOf(e.Request), "both") {
		t.Fatalf("graph %v, request %+v; want the chain, of two ways", p.Choice.Graph, e.Request.Network)
	}
	p.play(answer(e, 20), SetStrategy{"testremat"}, SetBudget{Share: 60 * choice.Percent, Settled: true})
	p.play(answer(last[Solve](t, p), 20))
	effects := p.play(SetGraph{true})
	e = last[Solve](t, p)
	if p.Network.Chain != nil || !e.Request.Network.Graph || p.Choice.Strategy != choice.GraphStrategy {
		t.Errorf("effects %s, request for %s with %s; want the operations with %s", names(effects),
			sourceOf(e.Request), p.Choice.Strategy, choice.GraphStrategy)
	}
	if got, want := p.Budget(), 3*engine.GiB*6/10; got != want {
		t.Errorf("60 %% are %d; want %d, of what keeping all of the graph needs", got, want)
	}
	if r := p.BudgetRange(); r.From > 3*engine.GiB || r.From < 3*engine.GiB-r.Step {
		t.Errorf("the slider begins at %d; want what the second operation needs, 3 GiB", r.From)
	}
	p.play(answer(e, 30))
	if p.Shown.Network != p.Network || p.Shown.Problem().Chain != nil || len(p.Shown.Problem().Graph.Ops) != 2 {
		t.Error("the picture is not one of the operations")
	}
	p.play(SetGraph{false}, SetStrategy{"testremat"})
	wantStep(t, p, 20, "the chain again")
	if p.Network.Chain == nil || p.Choice.Graph {
		t.Error("the network is still a graph")
	}
}

// TestNoUsefulChainOffersGraph checks the alert for a file that is no useful chain. It offers the graph of
// operations or, for a file without operations, a strategy that needs no chain.
func TestNoUsefulChainOffersGraph(t *testing.T) {
	p := shown(t)
	p.play(PickFile{Name: "gnmt.txt", Bytes: []byte("x")})
	p.play(both(last[Open](t, p).ID, "one stage holds all"))
	if a := p.Alert; a == nil || !strings.Contains(a.Text, "no useful chain") || a.Do != (SetGraph{true}) ||
		a.Action == "" {
		t.Fatalf("alert %+v; want one that offers the graph", a)
	}
	if p.play(p.Alert.Do); !p.Choice.Graph || p.Alert != nil {
		t.Errorf("graph %v, alert %+v; want the graph and no alert", p.Choice.Graph, p.Alert)
	}
	p.play(PickFile{Name: "only.txt", Bytes: []byte("x")})
	m := opened(last[Open](t, p).ID, chain("only"))
	m.Reply.NoChain = "one stage holds all"
	p.play(SetStrategy{"testremat"}, m)
	if a := p.Alert; a == nil || a.Do != (SetStrategy{choice.GraphStrategy}) {
		t.Errorf("alert %+v; want one that offers %s", a, choice.GraphStrategy)
	}
}

// TestOnlyGraph checks that a graph without a chain gets the strategy for graphs instead of the default.
func TestOnlyGraph(t *testing.T) {
	p := shown(t)
	p.play(PickFile{Name: "graph.json", Bytes: []byte("x")})
	m := opened(last[Open](t, p).ID, &profiles.Profile{Name: "graph", Graph: operators()})
	m.Reply.Totals = proto.Totals{Ops: 2, KeepAllPeak: 3 * engine.GiB}
	p.play(m)
	if p.Choice.Strategy != choice.GraphStrategy || p.Alert != nil || p.Network.TwoWays() || !p.Network.InLink() {
		t.Errorf("%s, alert %+v, two ways %v, in links %v; want %s, none, false, true", p.Choice.Strategy, p.Alert,
			p.Network.TwoWays(), p.Network.InLink(), choice.GraphStrategy)
	}
	p.play(answer(last[Solve](t, p), 5))
	for _, m := range p.Curve.Methods {
		if !engine.Lookup(m.Strategy).Graphs {
			t.Errorf("the curve asks %s; want strategies for graphs only", m.Strategy)
		}
	}
	if n := len(p.Curve.Methods); n < 2 {
		t.Errorf("the curve asks %d strategies; want at least 2", n)
	}
}

// TestStandInForUnsupported checks that a link to a strategy that does not apply shows the schedule of keeping
// everything, dimmed, and offers another strategy.
func TestStandInForUnsupported(t *testing.T) {
	p := &player{State: New()}
	p.play(Start{Choice: chosen("net-b8")})
	p.play(opened(last[Open](t, p).ID, chain("net")))
	p.play(SolveFailed{ID: last[Solve](t, p).ID, Failure: proto.Fail(proto.Unsupported, "too long")})
	e := last[Solve](t, p)
	if e.Choice.Strategy != "keepall" || e.Choice.Budget.Bytes != 8*engine.GiB {
		t.Fatalf("asks for %s in %d; want keepall in what it needs", e.Choice.Strategy, e.Choice.Budget.Bytes)
	}
	p.play(answer(e, 10))
	wantStep(t, p, 10, "keeping everything")
	if p.Alert == nil || !p.Stale() || p.Choice.Strategy != "testremat" {
		t.Errorf("alert %+v, stale %v, strategy %s; want the alert, dimmed pictures and the strategy of the link",
			p.Alert, p.Stale(), p.Choice.Strategy)
	}
	p.play(SetStrategy{"testshare"})
	p.play(answer(last[Solve](t, p), 14))
	p.play(SetStrategy{"testoffload"})
	p.play(SolveFailed{ID: last[Solve](t, p).ID, Failure: proto.Fail(proto.Unsupported, "no")})
	wantStep(t, p, 14, "what was shown stays")
}
