// Package known holds the answers of the workers: networks that were read, schedules and placements that were found for
// them, and reports about recordings. Its types make the requests for further answers and arrange answers for drawing.
// They do not depend on the state of the page or on how a person looks at it.
package known

import (
	"maps"
	"strconv"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/link"
	"memtide/web/tradeoff"
)

// Network is a profile that was read, as a chain of stages or as a graph of operations. A profile that
// has both makes two networks; Choice.Graph selects one of them.
type Network struct {
	Source  choice.Source
	Profile *profiles.Profile
	Graph   *engine.Graph      // the graph that is scheduled: the operations, or that of the chain
	Chain   *engine.ChainGraph // nil if the network is a graph of operations
	Lint    []string
	Totals  proto.Totals
	Budgets tradeoff.Range // the budgets of the slider

	linked *profiles.Profile // cached by Linked
	other  *Network          // the other network of the same profile; nil if there is only one
}

// NewNetwork returns the network of a profile with a chain or operations.
func NewNetwork(source choice.Source, p *profiles.Profile, r *proto.Opened) *Network {
	n := &Network{Source: source, Profile: p, Graph: p.Graph, Lint: r.Lint, Totals: r.Totals}
	if p.Chain != nil {
		for i := range r.Asides {
			p.Chain.Stages[i].Asides = r.Asides[i]
		}
		n.Chain = engine.ExpandChain(p.Chain)
		n.Graph = &n.Chain.Graph
	}
	n.Budgets = tradeoff.RangeOf(n.Graph, n.Totals.KeepAllPeak)
	if p.Chain != nil && p.Graph != nil && r.GraphTotals.Ops > 0 {
		graph := *n
		graph.Graph, graph.Chain, graph.Totals, graph.other = p.Graph, nil, r.GraphTotals, n
		graph.Budgets = tradeoff.RangeOf(p.Graph, r.GraphTotals.KeepAllPeak)
		n.other = &graph
	}
	return n
}

// As returns the network that c selects, the graph or the chain, if the profile has both, and else n.
func (n *Network) As(c choice.Choice) *Network {
	if n.other != nil && c.Graph != (n.Chain == nil) {
		return n.other
	}
	return n
}

// TwoWays reports whether the profile has both a chain and a graph.
func (n *Network) TwoWays() bool { return n.other != nil }

// InLink reports whether a link can hold the network: a preset, a chain, or a graph that is not too long.
func (n *Network) InLink() bool {
	return n.Source.Preset != "" || n.Source.Model != "" || link.InLink(n.Linked())
}

// Linked returns the profile for a link. If the profile has both a chain and a graph, the result
// has only the one that this network schedules.
func (n *Network) Linked() *profiles.Profile {
	if n.Chain != nil || n.Profile.Chain == nil {
		return n.Profile
	}
	if n.linked == nil {
		bare := *n.Profile
		bare.Chain = nil
		n.linked = &bare
	}
	return n.linked
}

// Stages returns the number of stages of a chain, or 0 for a graph.
func (n *Network) Stages() int {
	if n.Chain == nil {
		return 0
	}
	return n.Chain.Chain.Len()
}

// Applies reports whether a strategy supports the network.
func (n *Network) Applies(s *engine.Strategy) bool { return n.Chain != nil || s.Graphs }

// PictureKey identifies the schedule of a choice. Budgets in per cent count as bytes.
func (n *Network) PictureKey(c choice.Choice) string { return n.PictureKeys(c)(c.MethodKey(), nil) }

// PictureKeys returns a function that returns PictureKey of c with another strategy and its arguments.
func (n *Network) PictureKeys(c choice.Choice) func(strategy string, args engine.Args) string {
	setting, budget := c.SettingKey(), strconv.FormatInt(int64(c.Budget.Of(n.As(c).Totals.KeepAllPeak)), 10)
	return func(strategy string, args engine.Args) string {
		return setting + "|" + choice.MethodKey(strategy, args) + "|" + budget
	}
}

// StepArgs returns the options of package ask of the training step that n with the choice c is, or nil for
// another network.
func StepArgs(c choice.Choice, n *Network) engine.Args {
	base, o := c.Source.Variant()
	switch {
	case base != nil && base.Model() != nil:
		args := preset.StepArgs(o.Step)
		args["batch"], args["seq"] = strconv.Itoa(o.Batch), strconv.Itoa(o.Tokens)
		return args
	case base == nil && n != nil && n.Source.Model != "":
		if n.Source.Options == nil { // all is as it is by default
			return engine.Args{}
		}
		return n.Source.Options
	}
	return nil
}

// Model returns the id or the config.json of the model whose training step n with the choice c is, or "" for another
// network.
func Model(c choice.Choice, n *Network) string {
	if base, _ := c.Source.Variant(); base != nil {
		if m := base.Model(); m != nil {
			return m.ID
		}
		return ""
	}
	return n.Source.Model
}

// Uneven reports whether n with the choice c is a training step with experts of which it is not stated how much busier
// than the others some are.
func Uneven(c choice.Choice, n *Network) bool {
	args := StepArgs(c, n)
	return args != nil && ask.Experts(Model(c, n)) && ask.Value(args, "imbalance") == "0"
}

// evenShare is how many per cent evenly busy experts may take of what uneven ones do, as package llm assumes.
const evenShare = 79

// AtWorst returns the most memory of the card that a schedule with the given peak needs: what Choice.Reserved returns,
// and more if experts may be busy unevenly.
func AtWorst(c choice.Choice, n *Network, peak engine.Bytes) engine.Bytes {
	if Uneven(c, n) {
		return (c.Reserved(peak)-c.Context())*100/evenShare + c.Context()
	}
	return c.Reserved(peak)
}

// Evenly returns what AtWorst would be in place of needs if experts were busy evenly.
func Evenly(c choice.Choice, n *Network, needs engine.Bytes) engine.Bytes {
	if Uneven(c, n) {
		return (needs-c.Context())*evenShare/100 + c.Context()
	}
	return needs
}

// number returns the value of an option that is a number, at least 1.
func number(args engine.Args, name string) int {
	n, _ := strconv.Atoi(ask.Value(args, name))
	return max(n, 1)
}

// Trained returns the unit and the number of what one step of a choice trains with on all its cards: tokens for
// networks on sequences, pictures or videos for diffusion models, samples for all others. count is 0 if it is not
// known.
func Trained(c choice.Choice, n *Network) (unit string, count int) {
	if args := StepArgs(c, n); args != nil {
		count := n.Totals.Batch * max(number(args, "gpus")/(number(args, "tp")*number(args, "cp")), 1)
		if unit = ask.Unit(args); unit == "tokens" {
			count *= number(args, "seq")
		}
		return unit, count
	}
	if base, o := c.Source.Variant(); base != nil && base.Sequences() {
		return "tokens", n.Totals.Batch * o.Tokens
	}
	return "samples", n.Totals.Batch
}

// Card names the card d that the numbers of n with the choice c are about: "one H100", or "each H100" of several.
func Card(c choice.Choice, n *Network, d *card.Card) string {
	if number(StepArgs(c, n), "gpus") > 1 {
		return "each " + d.Short()
	}
	return "one " + d.Short()
}

// Request returns the request for the schedule of a choice. A policy asks for no budget: it has one only if a person
// chose it.
func (n *Network) Request(c choice.Choice) proto.Solve {
	q := proto.Solve{
		Setting: n.Setting(c),
		Method:  proto.Method{Strategy: c.Strategy, Args: c.Args},
		Budget:  c.Budget,
	}
	if c.Policy != nil && c.Roomy() {
		q.Budget = choice.Budget{Bytes: engine.NoLimit}
	}
	return q
}

// Setting returns the network that c selects, the device, and how it copies, for requests.
func (n *Network) Setting(c choice.Choice) proto.Setting {
	as := n.As(c)
	set := proto.Setting{Transfers: c.Transfers,
		Network: proto.Network{Preset: as.Source.Preset, Graph: as.Chain == nil && as.other != nil}}
	if set.Network.Preset == "" {
		set.Network.Profile = as.Source.Profile
	}
	if model, args, ok := as.Source.Step(); ok && c.Policy != nil {
		set.Network.Model, set.Network.Options = model, engine.Args{} // args is nil where all is by default
		maps.Copy(set.Network.Options, args)
		maps.Copy(set.Network.Options, c.Policy)
	}
	set.Device.Name = c.Device
	set.Device.ToHost, set.Device.ToDev, set.Device.Duplex = c.ToHost, c.ToDev, c.Duplex
	return set
}
