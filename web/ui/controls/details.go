package controls

import (
	"fmt"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles/llm/ask"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/ui/answer"
	"memtide/web/ui/input"
	"memtide/web/ui/panel"
)

// Dock is the slider of the memory budget, on the bar of the answer. On a phone it is at the bottom of the screen.
type Dock Case

// Closed reports whether the slider is disabled, because no network is open.
func (c *Dock) Closed() bool { return c.S.Network == nil }

// Value returns the budget.
func (c *Dock) Value() string {
	if c.Closed() {
		return ""
	}
	return format.Bytes(c.S.Budget())
}

// BudgetValueText returns the value of the slider for screen readers.
func (c *Dock) BudgetValueText() string {
	fits := "solving"
	if c.S.OverBudget != nil || c.S.Solving == nil {
		fits = strings.ToLower(strings.TrimSuffix(answer.Words[(&answer.Answer{S: c.S}).Kind()], ": "))
	}
	return format.Bytes(c.S.Budget()) + ", " + fits
}

// Place returns a style that puts the slider over the bar of the answer, with its knob where the bar shows the budget,
// which may lie between two steps.
func (c *Dock) Place() string {
	p := c.S.Visible()
	if p == nil {
		return ""
	}
	whole, r := answer.Scale(c.S, p), c.S.KnobRange()
	steps, at := engine.Bytes(max(r.Steps(), 1)), engine.Bytes(r.Position(c.S.Budget()))
	r.From, r.To = min(r.From, c.S.Budget()), max(r.To, c.S.Budget()) // a budget out of range is at an end
	if whole == 0 {
		return ""
	}
	past := r.From + (r.To-r.From)*at/steps - c.S.Budget()
	r.From, r.To = r.From-past, r.To-past
	return fmt.Sprintf("--from:%s;--span:%s", panel.Percent(r.From, whole), panel.Percent(r.To-r.From, whole))
}

// Details are the controls for the details of the model.
type Details Case

// Params returns the parameters of the strategy.
func (c *Details) Params() []panel.Param {
	if s := engine.Lookup(c.S.Choice.Strategy); s != nil {
		return panel.Params(c.S, s.Params, c.S.Choice.Args, "arg:")
	}
	return nil
}

// Duplexes lists half and full duplex.
func (c *Details) Duplexes() []panel.Option {
	return two(c.S.Choice.Duplex == engine.FullDuplex, "half", "one way at a time", "full", "both ways at once")
}

// Transfers lists whole and streamed transfers.
func (c *Details) Transfers() []panel.Option {
	return two(c.S.Choice.Transfers == engine.Streamed, "whole", "whole", "streamed", "streamed")
}

// Line returns the most important details in a line.
func (c *Details) Line() string {
	words := []string{"link " + format.Rates(c.S.Choice.ToDev, c.S.Choice.ToHost),
		strings.ToLower(panel.Selected(c.Duplexes())), panel.Selected(c.Transfers()) + " transfers"}
	if e := (&About{S: c.S}).Efficiency(); e != "" {
		words = append([]string{"efficiency " + e + " %"}, words...)
	}
	return strings.Join(words, ", ")
}

// Algorithms lists the algorithms of convolutions, or returns nil if the preset has only one.
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
	return two(o.Fast, input.AlgorithmsOne, "convolutions m", input.AlgorithmsBoth, "convolutions m, p")
}

// Functions lists the ways to count operators, or returns nil if the preset is not a graph of operators.
func (c *Details) Functions() []panel.Option {
	base, o := source(c.S).Variant()
	if base == nil || !o.Graph {
		return nil
	}
	return two(o.Separate, input.FunctionsJoined, "joined operators", input.FunctionsSeparate, "separate operators")
}

// Explanations of Algorithms and Functions.
const (
	AlgorithmsTitle = "Convolutions: m needs the least memory, p is faster with a workspace. vDNN and vDNN++ choose between them."
	FunctionsTitle  = "Operators: those that work in place belong to the one whose result they change, or each is a function by itself."
)

// VariantNote explains a choice in Algorithms or Functions, or is empty for the defaults.
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

// About is the panel about the network: its sums, in which a wrong unit can be seen, the origins of its numbers, and
// findings.
type About struct{ S *state.State }

// Name returns the name of the network.
func (c *About) Name() string {
	if c.S.Network == nil {
		return "Network"
	}
	return c.S.Network.Profile.Name
}

// Facts returns the sums over the network.
func (c *About) Facts() []panel.Fact {
	if c.S.Network == nil {
		return nil
	}
	t := c.S.Network.Totals
	parts := panel.Fact{Label: "blocks", Title: "Repeated parts of the network, or all if none is repeated"}
	if chain := c.S.Network.Profile.Chain; c.S.Network.Chain != nil {
		parts.Value = format.Count(tell.CountBlocks(chain, t.Stages))
	} else {
		parts = panel.Fact{Label: "operations", Value: format.Count(t.Ops),
			Title: "Operations of the graph, forward and backward"}
	}
	out := []panel.Fact{
		parts,
		{Label: "forward", Value: format.Duration(t.Forward),
			Title: "Sum of the forward times: " + format.Milliseconds(t.Forward) + " ms"},
		{Label: "backward", Value: format.Duration(t.Back),
			Title: "Sum of the backward times: " + format.Milliseconds(t.Back) + " ms"},
		{Label: "activations", Value: format.Bytes(t.Saved),
			Title: fmt.Sprintf("Sum of all that is kept for the backward: %d MiB", t.Saved/engine.MiB)},
		{Label: "weights, gradients, optimizer", Value: format.Bytes(t.Resident), Title: "What is always there"},
	}
	if step := t.Forward + t.Back; t.Batch > 0 && step > 0 {
		out = append(out, panel.Fact{Label: "samples/s", Value: format.PerSecond(t.Batch, step),
			Title: fmt.Sprintf("Batch of %d without any limit", t.Batch)})
	}
	return out
}

// Notes returns at most six assumptions of the source of the network.
func (c *About) Notes() []string {
	if c.S.Network == nil {
		return nil
	}
	notes := c.S.Network.Profile.Source.Notes
	return inWords(notes[:min(len(notes), 6)])
}

// Schedule returns at most six notes of the strategy about the shown schedule. The first begins with its name.
func (c *About) Schedule() []string {
	p := c.S.Visible()
	if p == nil || len(p.Solved.Claim.Notes) == 0 || p.Choice.Policy != nil {
		return nil
	}
	notes := inWords(p.Solved.Claim.Notes[:min(len(p.Solved.Claim.Notes), 6)])
	notes[0] = p.Choice.PlanName() + ": " + notes[0]
	return notes
}

// Lint returns at most six findings about a preset. Those about a file are in ui.Findings.
func (c *About) Lint() []string {
	if c.S.Network == nil || c.S.Network.Source.File != "" {
		return nil
	}
	lint := c.S.Network.Lint
	if len(lint) > 6 {
		return append(inWords(lint[:5]), fmt.Sprintf("and %d more", len(lint)-5))
	}
	return inWords(lint)
}

// inWords returns sentences with times and options as the page writes them.
func inWords(sentences []string) (out []string) {
	for _, s := range sentences {
		out = append(out, format.Durations(ask.InWords(s)))
	}
	return out
}

// Line returns the origins of times and sizes.
func (c *About) Line() string {
	var words []string
	for _, o := range origins(c.S) {
		words = append(words, o.What+" "+o.How)
	}
	return strings.Join(words[:min(len(words), 2)], " · ")
}

// Paper returns the address of the paper about a preset, or "" for files.
func (c *About) Paper() string {
	if n := c.S.Network; n != nil && n.Source.Preset != "" {
		return n.Profile.Source.URL
	}
	return ""
}

// PaperName returns Paper without https:// and doi.org/.
func (c *About) PaperName() string {
	return strings.TrimPrefix(strings.TrimPrefix(c.Paper(), "https://"), "doi.org/")
}

// Adjustable reports whether the efficiency, the share of the card's peak rate, can be chosen.
func (c *About) Adjustable() bool {
	d, _ := timedDevice(c.S)
	return d != nil && c.S.Network != nil
}

// Efficiency returns the efficiency of matrix products in per cent, or the draft in its field. It is empty if each kind
// of operator has a fitted share.
func (c *About) Efficiency() string {
	if d := c.S.Draft; d.Field == "efficiency" {
		return d.Text
	}
	base, o := source(c.S).Variant()
	if base == nil {
		return ""
	}
	if share := base.Efficiency(o); share > 0 {
		return strconv.Itoa(share)
	}
	return ""
}

// Assumed explains the default efficiency.
func (c *About) Assumed() string {
	base, o := source(c.S).Variant()
	if base == nil {
		return ""
	}
	chosen := o.Efficiency > 0
	o.Efficiency = 0
	switch share := base.Efficiency(o); {
	case base.Model() != nil: // of the card
		return "% of the peak; empty: as noted below"
	case share == 0 && chosen:
		return "% of the peak; empty: as fitted to a trace"
	case share == 0:
		return "fitted to a trace; or % of the peak"
	case chosen:
		return fmt.Sprintf("%% of the peak; empty: %d %%, assumed", share)
	}
	return "% of the peak, assumed"
}
