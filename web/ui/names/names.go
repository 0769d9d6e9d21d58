// Package names returns the names of things on the page: the page itself, the sides of a
// comparison, and the parts of a step's time.
package names

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
)

// Origins is the heading above the sources of numbers.
const Origins = "Where the numbers come from"

// Whole follows the name of a model in the list of networks if the entry is its training step.
const Whole = "step"

// Origin returns the page's word for where numbers come from.
func Origin(p profiles.Origin) string {
	return strings.Replace(string(p), string(profiles.Analytic), "computed", 1)
}

// Of returns the title that a person chose, or the name of the open network, step or file.
func Of(s *state.State) string {
	switch {
	case s.View.Frame.Title != "":
		return s.View.Frame.Title
	case s.Step != nil:
		name, d := ask.Title(s.Choice.Step), card.Lookup(ask.Value(s.Choice.StepArgs, "device"))
		if gpus := ask.Value(s.Choice.StepArgs, "gpus"); gpus != "1" && d != nil {
			name += fmt.Sprintf(" on %s × %s", gpus, d.Short())
		}
		return name
	case s.Memory != nil:
		return s.Memory.File
	case s.Network != nil && s.Network.Profile.Name != "":
		return s.Network.Profile.Name
	}
	return "memtide"
}

// Side returns the name of a side of a comparison: its plan, its budget, and the other differences from the other side.
func Side(mine, other state.Choice, network, otherNetwork *known.Network, budget string) string {
	var parts []string
	if network != otherNetwork {
		parts = append(parts, Network(mine, network))
	}
	method := mine.PlanName()
	if mine.Strategy == other.Strategy {
		method += Args(mine.Args, other.Args)
	}
	if parts = append(parts, method); budget != "" {
		parts = append(parts, budget)
	}
	if mine.Device != other.Device || mine.ToDev != other.ToDev || mine.ToHost != other.ToHost {
		link := Link(mine)
		if mine.Linked() { // the name of a card alone does not say that it is about the link
			link = "host link of " + link
		}
		parts = append(parts, link)
	}
	if mine.Duplex != other.Duplex {
		parts = append(parts, mine.Duplex.String()+" duplex")
	}
	if mine.Transfers != other.Transfers {
		parts = append(parts, mine.Transfers.String())
	}
	return strings.Join(parts, " · ")
}

// Args returns the arguments in mine that differ from those in other, each after a space.
func Args(mine, other engine.Args) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		if value := mine[name]; other[name] != value {
			text += " " + name + " " + value
		}
	}
	return text
}

// Network returns the name of the network n, or of its source if n is nil.
func Network(c state.Choice, n *known.Network) string {
	switch {
	case n == nil && c.Source.Preset != "":
		return c.Source.Preset
	case n == nil || c.Source.Preset == "":
		return c.Source.File
	case n.Chain == nil:
		return n.Profile.Name + ", graph"
	}
	return n.Profile.Name
}

// Budget returns the budget of a choice, in bytes.
func Budget(c state.Choice, n *known.Network) string {
	if n == nil {
		return "reading…"
	}
	return format.Bytes(c.Budget.Of(n.Totals.KeepAllPeak))
}

// Link returns the name of the device of the link to the host, or the rates of the link if a person chose others.
func Link(c state.Choice) string {
	if c.Linked() {
		return card.Lookup(c.Device).Name
	}
	return format.Rates(c.ToDev, c.ToHost)
}

// Part returns the name of a part of the step time, as in the key of the pictures, and its CSS class.
func Part(name string) (words, class string) {
	switch name {
	case "compute":
		return "computing", "delta-fwd"
	case "recompute":
		return "computing again", "delta-rec"
	}
	return name, "delta-wait"
}

// Unit writes times side by side in one unit.
type Unit struct {
	Name   string
	size   time.Duration
	places int
}

// UnitOf returns the unit for the times of d. The largest time has three digits in it.
func UnitOf(d *known.Delta) Unit {
	most := d.Step.Abs()
	for _, p := range d.Parts {
		most = max(most, p.Change().Abs())
	}
	u := Unit{Name: "ns", size: 1}
	switch {
	case most >= 10*time.Second:
		u = Unit{Name: "s", size: time.Second}
	case most >= time.Millisecond || most == 0:
		u = Unit{Name: "ms", size: time.Millisecond}
	case most >= time.Microsecond:
		u = Unit{Name: "µs", size: time.Microsecond}
	}
	for q := most; q > 0 && q < 100*u.size && u.places < 2; q *= 10 {
		u.places++
	}
	return u
}

// Signed writes a time with its sign and the unit.
func (u Unit) Signed(d time.Duration) string {
	sign := "+"
	if d < 0 {
		sign = "−"
	} else if d == 0 {
		sign = "±"
	}
	return sign + u.Plain(d) + " " + u.Name
}

// Plain writes the absolute value of a time, without the unit.
func (u Unit) Plain(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Abs())/float64(u.size), 'f', u.places, 64)
}
