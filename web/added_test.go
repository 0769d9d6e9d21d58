//go:build !js

// Package web_test registers a new strategy, as a new file in the engine would, and checks that the curve, the
// list of plans and the questions of the page offer it.
package web_test

import (
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/question"
	"memtide/web/tradeoff"
	"memtide/web/ui/pagetest"
	"memtide/web/ui/plans"
)

// added is a strategy that keeps everything, although its class says that it recomputes. Rank 1 on a chain puts
// it before every other strategy of its class, so that the curve draws it at once.
var added = &engine.Strategy{
	Name: "added", Title: "Added by a test", Short: "Added", Doc: "Keeps everything.",
	Class: engine.MayRecompute, Rank: engine.Rank{Chain: 1}, Mark: 200, Plans: "unit",
}

func TestAddedStrategy(t *testing.T) {
	added.Solver = func(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
		return engine.Lookup(engine.KeepAll).Solve(p, nil, poll)
	}
	engine.Register(added)

	if lines := tradeoff.DefaultLines(false); !slices.Contains(lines, added.Name) {
		t.Errorf("the curve of a chain draws %q; want %s among them, whose rank is 1", lines, added.Name)
	}
	if lines := tradeoff.DefaultLines(true); slices.Contains(lines, added.Name) {
		t.Errorf("the curve of a graph draws %q; want no %s, which has no rank there", lines, added.Name)
	}
	s := pagetest.First(t)
	menu := plans.Plans{S: s}
	if html := pagetest.HTML(t, &menu); !strings.Contains(html, ">memtide: added<") {
		t.Errorf("the plans of the page are\n%s\nwant the new one", html)
	}
	methods := question.Methods(s.Choice.Strategy, s.CurveStrategies(), s.Network.Chain == nil)
	if at := slices.IndexFunc(methods, func(m proto.Method) bool { return m.Strategy == added.Name }); at != 0 {
		t.Errorf("what would help asks %v; want the new strategy first", methods)
	}
	c := choice.Default()
	c.Strategy = added.Name
	if got := choice.PlanName(added.Name) + " " + c.PlanClass(); got != "Added unit" {
		t.Errorf("its name and class of plans are %q; want %q", got, "Added unit")
	}
}
