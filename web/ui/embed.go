package ui

import (
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/lookup"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/names"
	"memtide/web/ui/questions"
)

// Embed is the caption of a view in another page.
type Embed struct {
	S    *state.State
	Page *permalink.Page
}

// Title returns what the view shows.
func (c *Embed) Title() string { return names.Of(c.S) }

// Line returns the verdict, or what somebody has selected: a view has no other place for that,
// and fingers and keys have no pointer to rest on it.
func (c *Embed) Line() string {
	a := &answer.Answer{S: c.S}
	p := c.S.Visible()
	if p != nil && answer.Problem(c.S) == "" && c.S.View.Picked && c.S.View.Selected.Kind != lookup.Nothing {
		return p.Model().Sentence(c.S.View.Selected)
	}
	line := a.Word() + a.Sentence()
	if p != nil && c.S.Step == nil {
		line += " " + choice.PlanName(p.Choice.Strategy) + " in " + format.Bytes(p.Solved.Budget) + ": " +
			format.Duration(p.Solved.Trace.Makespan) + " per step."
	}
	if from := c.S.View.Frame.Opener; from != "" {
		line += " Opened by " + from + "."
	}
	return line
}

// Action returns the way on from what is wrong, or the empty string if there is none.
func (c *Embed) Action() string {
	if c.S.Step != nil { // it has its own
		return ""
	}
	return (&Notice{S: c.S}).Action()
}

// Address returns the page with exactly what the view shows.
func (c *Embed) Address() string {
	if c.Page == nil || !c.S.View.Frame.Embed {
		return ""
	}
	if permalink.Empty(c.S) {
		return c.Page.Base
	}
	return c.Page.Address(c.S, true)
}

// Helps returns what would help, in a view that looks for it.
func (c *Embed) Helps() string {
	if !c.S.View.Frame.Embed {
		return ""
	}
	return (&questions.Better{S: c.S}).Line()
}
