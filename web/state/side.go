package state

import (
	"memtide/engine"
	"memtide/profiles/card"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/tradeoff"
)

// Side is a schedule that is looked at: what is chosen, the network that is open,
// and the picture of it, with what it waits for. State.Side is the one that the
// controls change; in a comparison Compare.Other is the other one.
type Side struct {
	Choice     Choice
	Network    *known.Network // what is open; nil until the first profile has been read
	Shown      *known.Picture // what the pictures show; nil until the first schedule
	Opening    *Opening       // a profile is being read
	Solving    *Solving       // a schedule is being looked for
	OverBudget *OverBudget    // the budget is too small: Shown is an older picture, or none
	Failed     string         // why the other side has no schedule, for people; of State.Side the Alert says it

	fallback int // ID of a solve for what is shown because nothing else can be; 0: none is under way
}

// Opening is a profile that is being read. The choice becomes the page's when
// it has been read.
type Opening struct {
	ID      int
	Name    string
	Choice  Choice
	History History
	Title   string // instead of the network's own name; empty: that

	Progress proto.Progress

	linked bool // the link to the host was chosen meanwhile
	fit    bool // the budget is to be the device's
	file   proto.Open
}

// Solving is a schedule that is being looked for.
type Solving struct {
	ID       int
	Choice   Choice
	Progress proto.Progress
	Best     *proto.Solved
	Silent   bool // the worker has given no sign of life for a while
	Loading  bool // the program that finds it is being loaded
}

// OverBudget is a budget that is too small.
type OverBudget struct {
	Budget   engine.Bytes
	Smallest engine.Bytes // 0 if unknown
	Offer    engine.Bytes // Smallest, rounded up to what is written on the page; 0 if unknown
}

func newOverBudget(f *proto.Failure) *OverBudget {
	return &OverBudget{Budget: f.Budget, Smallest: f.Smallest, Offer: offer(f.Smallest)}
}

// offer returns the smallest budget as people read it, which suffices because it is
// rounded up.
func offer(smallest engine.Bytes) engine.Bytes {
	if b, err := format.ParseBytes(format.BytesUp(smallest)); err == nil && b >= smallest {
		return b
	}
	return smallest
}

// busy reports whether the side waits for anything.
func (o *Side) busy() bool { return o.Opening != nil || o.Solving != nil }

// current returns what is shown, if it is of the network that is open, or nil if not.
func (o *Side) current() *known.Picture {
	if o.Shown != nil && o.Shown.Network == o.Network {
		return o.Shown
	}
	return nil
}

// Progress returns that of what the side waits for.
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

// BudgetRange returns the budgets that are worth a choice; zero until a network is open.
func (o *Side) BudgetRange() tradeoff.Range {
	if o.Network == nil {
		return tradeoff.Range{}
	}
	return o.Network.Budgets
}

// KnobRange returns the budgets that the knob reaches: those of BudgetRange up to the end of the bar.
func (o *Side) KnobRange() tradeoff.Range {
	r := o.BudgetRange()
	if d := DeviceOf(o.Choice); d != nil && r.Step > 0 {
		if end := BarEnd(d.Memory); end < r.To && end-r.From >= 8*r.Step {
			r.To = r.From + (end-r.From)/r.Step*r.Step
		}
	}
	return r
}

// BarEnd returns where the bar of a card's memory ends if something is longer.
func BarEnd(memory engine.Bytes) engine.Bytes {
	return memory + min(max(7*engine.GiB, memory/7), memory*3/10)
}

// Offer returns a budget that would do where the chosen one is too small, or 0 if it is not,
// or if none is known.
func (o *Side) Offer() engine.Bytes {
	if o.OverBudget == nil {
		return 0
	}
	return o.OverBudget.Offer
}

// take makes c the choice, and the network the one that c wants of the two that it
// may be.
func (o *Side) take(c Choice) {
	if o.Network != nil {
		c.Graph = c.Graph && o.Network.TwoWays()
		o.Network = o.Network.As(c)
	}
	o.Choice = c
}

// cancel gives up what the side waits for.
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

// DeviceOf returns the device of a choice, or nil if its memory is not known.
func DeviceOf(c Choice) *card.Card {
	if d := card.Lookup(c.Device); d != nil && d.Memory > 0 {
		return d
	}
	return nil
}
