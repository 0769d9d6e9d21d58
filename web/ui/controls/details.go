package controls

import (
	"strings"

	"memtide/engine"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/panel"
)

// Details are the details of the model that a person can change.
type Details struct {
	S        *state.State
	Starting bool
}

// TwoWays reports whether the network can be taken as a chain and as a graph.
func (c *Details) TwoWays() bool {
	base, _ := c.S.Choice.Source.Variant()
	return base != nil && base.Operators() || c.S.Network != nil && c.S.Network.TwoWays()
}

// Kinds lists the ways to take the network.
func (c *Details) Kinds() []panel.Option {
	_, o := c.S.Choice.Source.Variant()
	graph := c.S.Choice.Graph || o.Graph
	return []panel.Option{
		{ID: "chain", Title: "as a chain of blocks", Selected: !graph},
		{ID: "graph", Title: "as a graph of operations", Selected: graph},
	}
}

// StrategyLine returns the name and the first sentence of the strategy.
func (c *Details) StrategyLine() string {
	return choice.PlanName(c.S.Choice.Strategy) + ": " + planDoc(c.S)
}

// Params returns the parameters of the strategy.
func (c *Details) Params() []panel.Param {
	if s := engine.Lookup(c.S.Choice.Strategy); s != nil {
		return panel.Params(c.S, s.Params, c.S.Choice.Args, "arg:")
	}
	return nil
}

// Duplexes lists whether both directions work at once.
func (c *Details) Duplexes() []panel.Option {
	return []panel.Option{
		{ID: "half", Title: "one way at a time", Selected: c.S.Choice.Duplex == engine.HalfDuplex},
		{ID: "full", Title: "both ways at once", Selected: c.S.Choice.Duplex == engine.FullDuplex},
	}
}

// Transfers lists how values travel.
func (c *Details) Transfers() []panel.Option {
	return []panel.Option{
		{ID: "whole", Title: "whole", Selected: c.S.Choice.Transfers == engine.Whole},
		{ID: "streamed", Title: "streamed", Selected: c.S.Choice.Transfers == engine.Streamed},
	}
}

// Line says the most important of the details.
func (c *Details) Line() string {
	words := []string{"link " + format.Rates(c.S.Choice.ToDev, c.S.Choice.ToHost),
		strings.ToLower(panel.Selected(c.Duplexes())), panel.Selected(c.Transfers()) + " transfers"}
	if e := (&About{S: c.S}).Efficiency(); e != "" {
		words = append([]string{"efficiency " + e + " %"}, words...)
	}
	return strings.Join(words, ", ")
}

// Algorithms returns those of the convolutions, where the preset has a second one.
func (c *Details) Algorithms() []panel.Option {
	base, o := source(c.S).Variant()
	if base == nil || o.Graph {
		return nil
	}
	with := o
	with.Fast = true
	if _, err := base.With(with); err != nil {
		return nil
	}
	return []panel.Option{{ID: input.AlgorithmsOne, Title: "convolutions m", Selected: !o.Fast},
		{ID: input.AlgorithmsBoth, Title: "convolutions m, p", Selected: o.Fast}}
}

// Functions returns the ways to count operators, of graphs of them.
func (c *Details) Functions() []panel.Option {
	base, o := source(c.S).Variant()
	if base == nil || !o.Graph {
		return nil
	}
	return []panel.Option{{ID: input.FunctionsJoined, Title: "joined operators", Selected: !o.Separate},
		{ID: input.FunctionsSeparate, Title: "separate operators", Selected: o.Separate}}
}

// What the two lists mean, in a line each.
const (
	AlgorithmsTitle = "Convolutions: m needs the least memory, p is faster with a workspace. vDNN and vDNN++ choose between them."
	FunctionsTitle  = "Operators: those that work in place belong to the one whose result they change, or each is a function by itself."
)

// VariantNote says what has been chosen about the network, in a line; empty if it
// is the usual.
func (c *Details) VariantNote() string {
	_, o := source(c.S).Variant()
	switch {
	case o.Fast:
		return AlgorithmsTitle
	case o.Separate:
		return "Each operator is a function by itself, also those that work in place on another's result."
	}
	return ""
}
