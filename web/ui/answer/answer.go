// Package answer is the first thing that is read: does it fit, and what does that cost, in
// a word with a sentence behind it, and the bar of where the memory goes. Whatever else
// gives a verdict has its kinds and its words from here.
package answer

import (
	"fmt"
	"html"
	"strings"

	"github.com/vugu/vugu"

	"memtide/engine/sim"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
)

// Answer is the first thing that is read: does it fit, and what does that cost;
// with the bar of where the memory goes.
type Answer struct{ S *state.State }

// Kind says how the answer is to look.
func (c *Answer) Kind() string {
	if c.S.Compare != nil && c.S.Visible() != nil && c.over() == nil {
		return versus
	}
	kind, _ := c.answer()
	return kind
}

// Word is the verdict, with what follows it.
func (c *Answer) Word() string {
	if m := c.over(); m != nil {
		return fmt.Sprintf(wordsTooSmall, format.Bytes(m.Budget))
	}
	return Words[c.Kind()]
}

// over is the budget that is too small, while nothing else is looked at.
func (c *Answer) over() *state.OverBudget {
	if c.S.Preview != nil {
		return nil
	}
	return c.S.OverBudget
}

// Smallest is the text of the button that sets a budget that would do; empty if
// there is none.
func (c *Answer) Smallest() string {
	if m := c.over(); m != nil && m.Smallest > 0 {
		return "Set " + format.BytesUp(m.Smallest)
	}
	return ""
}

// Late says that what was asked for is still being solved, so that what stands here
// is the answer to something else; the style sheet fades it if that lasts.
func (c *Answer) Late() string { return Late(c.S) }

// Sentence is what stands behind the word.
func (c *Answer) Sentence() string {
	_, sentence := c.answer()
	return sentence
}

// Say is the sentence with what is left out of it on a phone marked.
func (c *Answer) Say() vugu.HTML {
	text := html.EscapeString(c.Sentence())
	for _, long := range [...]string{wordsThan, wordsReserved} {
		text = strings.Replace(text, long, `<span class="roomy">`+long+"</span>", 1)
	}
	return vugu.HTML(text)
}

func (c *Answer) answer() (kind, sentence string) {
	s := c.S
	if m := c.over(); m != nil {
		return DoesNot, tooSmall(s.Choice, m)
	}
	p := s.Visible()
	if p == nil || s.Stale() && s.Preview == nil {
		if w := Work(s); w != "" {
			return Working, w
		}
		if a := s.Alert; a != nil && a.File == "" {
			return None, a.Text
		}
		return Working, "Starting…"
	}
	return Of(p)
}

// Sub says what the schedule does.
func (c *Answer) Sub() string {
	p := c.S.Visible()
	switch {
	case p == nil:
		return ""
	case c.S.Stale() && c.S.Preview == nil:
		return "The pictures show " + shown(c.S) + "."
	}
	if d := Device(p.Choice); resident(p, d) {
		return fmt.Sprintf(wordsNoPlan, format.Bytes(p.Network.Totals.Resident-d.Memory))
	}
	return fmt.Sprintf(wordsKeepAll, format.Bytes(p.Solved.KeepAll.Peak)) + " " + deeds(p)
}

// deeds counts what happens to the layers.
func deeds(p *known.Picture) string {
	layers, by := p.Model().Tally()
	both := by[sim.Offload|sim.Recompute] // counts as sent and as computed again
	away, again := by[sim.Offload]+both, by[sim.Recompute]+both
	send := fmt.Sprintf("sends %d of the %d layers to the host and back", away, layers)
	switch {
	case away > 0 && again > 0:
		return fmt.Sprintf("This plan %s and computes %d again.", send, again)
	case away > 0:
		return "This plan " + send + "."
	case again > 0:
		return fmt.Sprintf("This plan computes %d of the %d layers again.", again, layers)
	}
	return "This plan keeps everything."
}

// shown says which schedule the pictures still show: its budget, and what else
// is not what was asked for.
func shown(s *state.State) string {
	p := s.Shown
	what := format.Bytes(p.Solved.Budget)
	if p.Choice.Strategy != s.Choice.Strategy {
		what = choice.PlanName(p.Choice.Strategy) + " in " + what
	}
	if p.Network != s.Network {
		what += " for " + p.Network.Profile.Name
	}
	return what
}
