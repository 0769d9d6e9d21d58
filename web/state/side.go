package state

import (
	"memtide/engine"
	"memtide/profiles/card"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/tradeoff"
)

// Side is a schedule on the page: the choice, the open network, the picture, and the requests that the side waits for.
// State.Side is the one that the controls change; in a comparison Compare.Other is the other one.
type Side struct {
	Choice     Choice
	Network    *known.Network // nil until the first profile has been read
	Shown      *known.Picture // what the pictures show; nil until the first schedule
	Opening    *Opening       // the profile that is being read; nil if there is no such request
	Solving    *Solving       // the schedule that is being solved; nil if there is no such request
	OverBudget *OverBudget    // not nil: the budget is too small, and Shown is an older picture or nil
	Failed     string         // why Compare.Other has no schedule, for people; State.Side has an Alert instead

	kept     bool // the latest fallback keeps everything
	fallback int  // ID of the solve for a picture to show instead, see fallBack; 0 if there is no such request
}

// Opening is a profile that is being read. Choice becomes the choice of the side when it has been read.
type Opening struct {
	ID      int
	Name    string
	Choice  Choice
	History History
	Title   string // shown instead of the network's own name; empty: the own name

	Progress proto.Progress

	linked bool // a person has chosen the link to the host since: the profile does not replace it
	fit    bool // the budget becomes that of the device
	file   proto.Open
}

// Solving is a schedule that is being solved.
type Solving struct {
	ID       int
	Choice   Choice
	Progress proto.Progress
	Best     *proto.Solved // the best so far; nil before any
	Silent   bool          // the worker has given no sign of life for a while
	Loading  bool          // the program with the solver is being loaded
}

// OverBudget is a budget that is too small.
type OverBudget struct {
	Budget   engine.Bytes
	Smallest engine.Bytes // the smallest budget that would do; 0 if unknown
	Offer    engine.Bytes // Smallest rounded up as the page writes it; 0 if unknown
}

func newOverBudget(f *proto.Failure) *OverBudget {
	return &OverBudget{Budget: f.Budget, Smallest: f.Smallest, Offer: offer(f.Smallest)}
}

// offer returns smallest rounded up as the page writes it.
func offer(smallest engine.Bytes) engine.Bytes {
	if b, err := format.ParseBytes(format.BytesUp(smallest)); err == nil && b >= smallest {
		return b
	}
	return smallest
}

// busy reports whether the side waits for a profile or a schedule.
func (o *Side) busy() bool { return o.Opening != nil || o.Solving != nil }

// current returns Shown if it is a picture of the open network, or else nil.
func (o *Side) current() *known.Picture {
	if o.Shown != nil && o.Shown.Network == o.Network {
		return o.Shown
	}
	return nil
}

// Progress returns the progress of the profile or schedule that the side waits for.
func (o *Side) Progress() (p proto.Progress) {
	switch {
	case o.Opening != nil:
		p = o.Opening.Progress
	case o.Solving != nil:
		p = o.Solving.Progress
	}
	return p
}

// Budget returns the chosen budget in bytes.
func (o *Side) Budget() engine.Bytes {
	if o.Network == nil {
		return o.Choice.Budget.Bytes
	}
	return o.Choice.Budget.Of(o.Network.Totals.KeepAllPeak)
}

// BudgetRange returns the range of useful budgets, or the zero value until a network is open.
func (o *Side) BudgetRange() tradeoff.Range {
	if o.Network == nil {
		return tradeoff.Range{}
	}
	return o.Network.Budgets
}

// KnobRange returns the range of the budget slider: BudgetRange up to the end of the memory bar.
func (o *Side) KnobRange() tradeoff.Range {
	r := o.BudgetRange()
	if d := DeviceOf(o.Choice); d != nil && r.Step > 0 {
		if end := BarEnd(d.Memory); end < r.To && end-r.From >= 8*r.Step {
			r = r.Until(end)
		}
	}
	return r
}

// BarEnd returns the bytes at the end of a card's memory bar when something in it exceeds the memory.
func BarEnd(memory engine.Bytes) engine.Bytes {
	return memory + min(max(7*engine.GiB, memory/7), memory*3/10)
}

// Offer returns OverBudget.Offer, or 0 if the budget is not too small.
func (o *Side) Offer() engine.Bytes {
	if o.OverBudget == nil {
		return 0
	}
	return o.OverBudget.Offer
}

// setChoice makes c the choice, and turns the network into the chain or the graph that c asks for.
func (o *Side) setChoice(c Choice) {
	if o.Network != nil {
		c.Graph = c.Graph && o.Network.TwoWays()
		o.Network = o.Network.As(c)
	}
	o.Choice = c
}

func (o *Side) cancel() []Effect {
	return append(append(o.cancelOpening(), o.cancelSolving()...), cancel(&o.fallback)...)
}

func (o *Side) cancelOpening() (out []Effect) {
	if o.Opening != nil {
		out, o.Opening = []Effect{Cancel{o.Opening.ID}}, nil
	}
	return out
}

func (o *Side) cancelSolving() (out []Effect) {
	if o.Solving != nil {
		out, o.Solving = []Effect{Cancel{o.Solving.ID}}, nil
	}
	return out
}

// DeviceOf returns the card that a choice is about, which its sentence names, or nil if its memory is not known.
func DeviceOf(c Choice) *card.Card {
	if d := c.GPU(); d != nil && d.Memory > 0 {
		return d
	}
	return nil
}
