package state

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/web/link"
)

// Network is a profile that was read, as a chain of stages or as a graph of
// operations. A profile that has both is two networks, of which Choice.Graph
// chooses one.
type Network struct {
	Source  Source
	Profile *profiles.Profile
	Graph   *engine.Graph      // what is scheduled: that of the chain, or the operations
	Chain   *engine.ChainGraph // nil if it is a graph
	Lint    []string
	Totals  proto.Totals

	config string            // the text of the config.json that it was read from, if it is short
	linked *profiles.Profile // see Linked; nil until it is needed
	other  *Network          // the same profile the other way; nil if it has only one
}

// newNetwork is the network of a profile that holds a chain or operations.
func newNetwork(source Source, p *profiles.Profile, r *proto.Opened) *Network {
	n := &Network{Source: source, Profile: p, Lint: r.Lint, Totals: r.Totals}
	if p.Chain == nil {
		n.Graph = p.Graph
		return n
	}
	n.Chain = engine.ExpandChain(p.Chain)
	n.Graph = &n.Chain.Graph
	if p.Graph != nil && r.GraphTotals.Ops > 0 {
		n.other = &Network{Source: source, Profile: p, Graph: p.Graph, Lint: r.Lint, Totals: r.GraphTotals, other: n}
	}
	return n
}

// As is the network the way a choice wants it: as a graph or as a chain, if it
// can be taken both ways.
func (n *Network) As(c Choice) *Network {
	if n.other != nil && c.Graph != (n.Chain == nil) {
		return n.other
	}
	return n
}

// TwoWays says whether the network can be taken as a chain and as a graph.
func (n *Network) TwoWays() bool { return n.other != nil }

// InLink says whether a link holds what is scheduled: a preset, a chain, or a graph
// that is not too long for one.
func (n *Network) InLink() bool { return n.Source.Preset != "" || link.InLink(n.Linked()) }

// Linked is the profile that a link holds: of one that is both, only what is
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

// Applies says whether a strategy can work on the network at all.
func (n *Network) Applies(s *engine.Strategy) bool { return n.Chain != nil || s.Graphs }

// Ref names the network in requests.
func (n *Network) Ref() proto.Network {
	ref := proto.Network{Preset: n.Source.Preset, Graph: n.Chain == nil && n.other != nil}
	if ref.Preset == "" {
		ref.Profile = n.Source.Profile
	}
	return ref
}

// pictureKey identifies a schedule: budgets in per cent are resolved.
func (n *Network) pictureKey(c Choice) string {
	return fmt.Sprintf("%s|%s|%d", c.SettingKey(), c.MethodKey(), c.Budget.Of(n.As(c).Totals.KeepAllPeak))
}

// Trained is what a step of a choice trains with: tokens of a network that has a number
// of them, samples of any other; 0 if nobody knows.
func Trained(c Choice, n *Network) (unit string, count int) {
	count = n.Totals.Batch
	if base, o := c.Source.Variant(); base != nil && base.Sequences() {
		return "tokens", count * o.Tokens
	}
	return "samples", count
}

// request asks for the schedule of a choice.
func (n *Network) request(c Choice) proto.Solve {
	return proto.Solve{
		Setting: n.setting(c),
		Method:  proto.Method{Strategy: c.Strategy, Args: c.Args},
		Budget:  c.Budget,
	}
}

func (n *Network) setting(c Choice) proto.Setting {
	set := proto.Setting{Network: n.As(c).Ref(), Transfers: c.Transfers}
	set.Device.Name = c.Device
	set.Device.ToHost, set.Device.ToDev, set.Device.Duplex = c.ToHost, c.ToDev, c.Duplex
	return set
}
