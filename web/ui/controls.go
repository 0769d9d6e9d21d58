package ui

import (
	"cmp"
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

// Param is a parameter of the strategy with its present value.
type Param struct {
	Name, Title, Doc, Value string
	Min, Max                int
	Choices                 []Option // nil for a number
}

// Params are the parameters of the strategy.
func (c *Controls) Params() []Param {
	if s := engine.Lookup(c.S.Choice.Strategy); s != nil {
		return params(c.S, s.Params, c.S.Choice.Args, "arg:")
	}
	return nil
}

// params are parameters with their arguments, or with what is being typed into the field
// of that name.
func params(s *state.State, list []engine.Param, args engine.Args, field string) (out []Param) {
	for _, p := range list {
		v, ok := args[p.Name]
		if !ok {
			v = p.Default
		}
		if s.Draft.Field == field+p.Name {
			v = s.Draft.Text
		}
		f := Param{Name: p.Name, Title: p.Title, Doc: p.Doc, Value: v, Min: p.Min, Max: p.Max}
		for _, w := range p.Choices {
			f.Choices = append(f.Choices, Option{w, cmp.Or(choiceTitles[p.Name+"="+w], w), w == v})
		}
		out = append(out, f)
	}
	return out
}

// choiceTitles say for people what a word of a parameter does not.
var choiceTitles = map[string]string{"order=any": "any order", "order=kept": "order kept"}

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

// selected is the title of the chosen option; empty if none is.
func selected(options []Option) string {
	for _, o := range options {
		if o.Selected {
			return o.Title
		}
	}
	return ""
}
