package ui

import (
	"strings"

	"memtide/engine"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/state"
)

// Controls are the details of the model that a person can change.
type Controls struct {
	S        *state.State
	Starting bool
}

// TwoWays says whether the network can be taken as a chain and as a graph.
func (c *Controls) TwoWays() bool {
	base, _ := c.S.Choice.Source.Variant()
	return base != nil && base.Operators() || c.S.Network != nil && c.S.Network.TwoWays()
}

// Kinds lists the ways to take the network.
func (c *Controls) Kinds() []Option {
	_, o := c.S.Choice.Source.Variant()
	graph := c.S.Choice.Graph || o.Graph
	return []Option{
		{"chain", "as a chain of layers", !graph},
		{"graph", "as a graph of operations", graph},
	}
}

// StrategyLine is the name and the first sentence of the strategy.
func (c *Controls) StrategyLine() string {
	return choice.PlanName(c.S.Choice.Strategy) + ": " + (&Dock{S: c.S}).StrategyDoc()
}

// Params are the parameters of the strategy.
func (c *Controls) Params() []Param {
	if s := engine.Lookup(c.S.Choice.Strategy); s != nil {
		return params(c.S, s.Params, c.S.Choice.Args, "arg:")
	}
	return nil
}

// BandwidthSteps is the slider's last position.
func (c *Controls) BandwidthSteps() int { return state.BandwidthSteps }

// BandwidthPosition is the slider's position.
func (c *Controls) BandwidthPosition() int { return state.BandwidthPosition(c.S.Choice.ToDev) }

// BandwidthText is the number beside the slider, or what is being typed there.
func (c *Controls) BandwidthText() string {
	if c.S.Draft.Field == "bandwidth-text" {
		return c.S.Draft.Text
	}
	return format.Rate(c.S.Choice.ToDev)
}

// Duplexes lists whether both directions work at once.
func (c *Controls) Duplexes() []Option {
	return []Option{
		{"half", "half duplex", c.S.Choice.Duplex == engine.HalfDuplex},
		{"full", "full duplex", c.S.Choice.Duplex == engine.FullDuplex},
	}
}

// Transfers lists how values travel.
func (c *Controls) Transfers() []Option {
	return []Option{
		{"whole", "whole", c.S.Choice.Transfers == engine.Whole},
		{"streamed", "streamed", c.S.Choice.Transfers == engine.Streamed},
	}
}

// Line says the most important of the details.
func (c *Controls) Line() string {
	words := []string{"link " + format.Rates(c.S.Choice.ToDev, c.S.Choice.ToHost), strings.ToLower(selected(c.Duplexes())), selected(c.Transfers()) + " transfers"}
	if e := (&About{S: c.S}).Efficiency(); e != "" {
		words = append([]string{"efficiency " + e + " %"}, words...)
	}
	return strings.Join(words, ", ")
}
