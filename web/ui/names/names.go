// Package names says how things on the page are called: the page, the sides of a
// comparison with what is not as on the other one, and the parts of a step's time.
package names

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
)

// Origins is the heading over where numbers come from.
const Origins = "Where the numbers come from"

// Whole is what a training step is called beside its model.
const Whole = "whole step"

// Of returns the title of a link, or the name of what is open.
func Of(s *state.State) string {
	switch {
	case s.View.Frame.Title != "":
		return s.View.Frame.Title
	case s.Step != nil:
		return ask.Title(s.Choice.Step)
	case s.Memory != nil:
		return s.Memory.File
	case s.Network != nil && s.Network.Profile.Name != "":
		return s.Network.Profile.Name
	}
	return "memtide"
}

// Side says what a side is, given its budget, and what else is not as on the
// other side.
func Side(mine, other state.Choice, network, otherNetwork *known.Network, budget string) string {
	var parts []string
	if network != otherNetwork {
		parts = append(parts, Network(mine, network))
	}
	method := choice.PlanName(mine.Strategy)
	if mine.Strategy == other.Strategy {
		method += Args(mine.Args, other.Args)
	}
	parts = append(parts, method, budget)
	if mine.Device != other.Device || mine.ToDev != other.ToDev || mine.ToHost != other.ToHost {
		link := Link(mine)
		if card.Lookup(mine.Device) != nil { // nothing around says that it is about the link
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

// Args returns the arguments that another side has not.
func Args(mine, other engine.Args) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		if value := mine[name]; other[name] != value {
			text += " " + name + " " + value
		}
	}
	return text
}

// Network returns the name of a network, or of what it is being read from.
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

// Budget returns a budget as it is read.
func Budget(c state.Choice, n *known.Network) string {
	if n == nil {
		return "reading…"
	}
	return format.Bytes(c.Budget.Of(n.Totals.KeepAllPeak))
}

// Link returns the device that a link is of, or its rates.
func Link(c state.Choice) string {
	if d := card.Lookup(c.Device); d != nil {
		return d.Name
	}
	return format.Rates(c.ToDev, c.ToHost)
}

// Part returns what a part is called, as in the key of the pictures, and its look.
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

// UnitOf returns the unit in which a delta is written: three digits of the largest.
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

// Plain writes the size of a time, without the unit.
func (u Unit) Plain(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Abs())/float64(u.size), 'f', u.places, 64)
}
