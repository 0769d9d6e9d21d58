// Package known is what workers have told: networks that were read, schedules that were
// found for them, where their bytes lie, and what is known about a recording, as values
// that know what follows from them. They know neither who asked nor who looks at them.
package known

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/link"
)

// Network is a profile that was read, as a chain of stages or as a graph of
// operations. A profile that has both is two networks, of which Choice.Graph
// chooses one.
type Network struct {
	Source  choice.Source
	Profile *profiles.Profile
	Graph   *engine.Graph      // what is scheduled: that of the chain, or the operations
	Chain   *engine.ChainGraph // nil if it is a graph
	Lint    []string
	Totals  proto.Totals
	Config  string      // the text of the config.json that it was read from; empty if it is long, or of something else
	Step    engine.Args // with Config: see profiles.Profile.Step

	linked *profiles.Profile // see Linked; nil until it is needed
	other  *Network          // the same profile the other way; nil if it has only one
}

// configFormat is the format of a config.json, longestConfig how long its text may be to be kept.
const (
	configFormat  = "hfconfig"
	longestConfig = 64 << 10
)

// NewNetwork returns the network of a profile that holds a chain or operations, read from text
// if that was at hand.
func NewNetwork(source choice.Source, p *profiles.Profile, r *proto.Opened, text []byte) *Network {
	n := &Network{Source: source, Profile: p, Lint: r.Lint, Totals: r.Totals}
	if r.Format == configFormat && len(text) <= longestConfig {
		n.Config, n.Step = string(text), r.Step
	}
	if p.Chain == nil {
		n.Graph = p.Graph
		return n
	}
	n.Chain = engine.ExpandChain(p.Chain)
	n.Graph = &n.Chain.Graph
	if p.Graph != nil && r.GraphTotals.Ops > 0 {
		graph := *n
		graph.Graph, graph.Chain, graph.Totals, graph.other = p.Graph, nil, r.GraphTotals, n
		n.other = &graph
	}
	return n
}

// As returns the network the way a choice wants it: as a graph or as a chain, if it
// can be taken both ways.
func (n *Network) As(c choice.Choice) *Network {
	if n.other != nil && c.Graph != (n.Chain == nil) {
		return n.other
	}
	return n
}

// TwoWays reports whether the network can be taken as a chain and as a graph.
func (n *Network) TwoWays() bool { return n.other != nil }

// InLink reports whether a link holds what is scheduled: a preset, a chain, or a graph
// that is not too long for one.
func (n *Network) InLink() bool { return n.Source.Preset != "" || link.InLink(n.Linked()) }

// Linked returns the profile that a link holds: of one that is both, only what is
// scheduled.
func (n *Network) Linked() *profiles.Profile {
	if n.Chain == nil && n.Profile.Chain != nil {
		if n.linked == nil {
			bare := *n.Profile
			bare.Chain = nil
			n.linked = &bare
		}
		return n.linked
	}
	return n.Profile
}

// Stages returns the number of stages of the chain, 0 of a graph.
func (n *Network) Stages() int {
	if n.Chain == nil {
		return 0
	}
	return n.Chain.Chain.Len()
}

// Applies reports whether a strategy can work on the network at all.
func (n *Network) Applies(s *engine.Strategy) bool { return n.Chain != nil || s.Graphs }

// PictureKey identifies a schedule: budgets in per cent are resolved.
func (n *Network) PictureKey(c choice.Choice) string {
	return fmt.Sprintf("%s|%s|%d", c.SettingKey(), c.MethodKey(), c.Budget.Of(n.As(c).Totals.KeepAllPeak))
}

// Trained returns what a step of a choice trains with: tokens of a network that has a number
// of them, samples of any other, or 0 if unknown.
func Trained(c choice.Choice, n *Network) (unit string, count int) {
	count = n.Totals.Batch
	if base, o := c.Source.Variant(); base != nil && base.Sequences() {
		return "tokens", count * o.Tokens
	}
	return "samples", count
}

// Request asks for the schedule of a choice.
func (n *Network) Request(c choice.Choice) proto.Solve {
	return proto.Solve{
		Setting: n.Setting(c),
		Method:  proto.Method{Strategy: c.Strategy, Args: c.Args},
		Budget:  c.Budget,
	}
}

// Setting returns the network as a choice wants it, with the device and how it copies.
func (n *Network) Setting(c choice.Choice) proto.Setting {
	as := n.As(c)
	set := proto.Setting{Transfers: c.Transfers,
		Network: proto.Network{Preset: as.Source.Preset, Graph: as.Chain == nil && as.other != nil}}
	if set.Network.Preset == "" {
		set.Network.Profile = as.Source.Profile
	}
	set.Device.Name = c.Device
	set.Device.ToHost, set.Device.ToDev, set.Device.Duplex = c.ToHost, c.ToDev, c.Duplex
	return set
}
