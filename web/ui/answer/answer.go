// Package answer is the first thing that is read: does it fit, and what does that cost, in
// a word with a sentence behind it, and the bar of where the memory goes; of schedules and of
// training steps alike. Whatever else gives a verdict has its kinds and its words from here.
package answer

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/vugu/vugu"

	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/names"
)

// Answer is the first thing that is read: does it fit, and what does that cost;
// with the bar of where the memory goes.
type Answer struct{ S *state.State }

// Kind says how the answer is to look.
func (c *Answer) Kind() string {
	if c.S.Compare != nil && c.S.Visible() != nil && c.over() == nil {
		return versus
	}
	kind, _, _ := c.answer()
	return kind
}

// Word returns the verdict, with what follows it.
func (c *Answer) Word() string {
	if m := c.over(); m != nil {
		return fmt.Sprintf(wordsTooSmall, format.Bytes(m.Budget))
	}
	return Words[c.Kind()]
}

// over returns the budget that is too small, while nothing else is looked at.
func (c *Answer) over() *state.OverBudget {
	if c.S.Preview != nil {
		return nil
	}
	return c.S.OverBudget
}

// Smallest returns the text of the button that sets a budget that would do, or the empty string if
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

// Sentence returns what stands behind the word.
func (c *Answer) Sentence() string {
	_, sentence, _ := c.answer()
	return sentence
}

// Unsure returns the worst that is not known for sure, or how much stays free.
func (c *Answer) Unsure() string {
	_, _, unsure := c.answer()
	return unsure
}

// Say returns the sentence with what is left out of it on a phone marked.
func (c *Answer) Say() vugu.HTML {
	text := html.EscapeString(c.Sentence())
	return vugu.HTML(strings.Replace(text, wordsThan, `<span class="roomy">`+wordsThan+"</span>", 1))
}

func (c *Answer) answer() (kind, sentence, unsure string) {
	s := c.S
	if m := c.over(); m != nil {
		return DoesNot, tooSmall(s.Choice, m), ""
	}
	n := needed(s)
	if n == nil {
		kind, sentence = c.nothing()
		return kind, sentence, ""
	}
	return n.kind(), n.sentence(), n.unsure()
}

// needed returns what is needed by what the page shows; nil before anything is known.
func needed(s *state.State) *need {
	p := s.Visible()
	switch {
	case s.Step != nil && s.Step.Failed == "" && s.Step.Shown != nil:
		return ofStep(s, s.Step.Shown)
	case s.Step != nil || p == nil || s.Stale() && s.Preview == nil:
		return nil
	}
	return ofPlan(p)
}

// nothing says why there is no verdict.
func (c *Answer) nothing() (kind, sentence string) {
	s := c.S
	switch {
	case s.Step != nil && s.Step.Failed != "":
		return None, format.Sentence(s.Step.Failed)
	case s.Step != nil:
		return Working, wordsBusy
	}
	if w := Work(s); w != "" {
		return Working, w
	}
	if a := s.Alert; a != nil && a.File == "" {
		return None, a.Text
	}
	return Working, "Starting…"
}

// Sub says what everything needs, and what the plan does.
func (c *Answer) Sub() string {
	p := c.S.Visible()
	switch {
	case c.S.Step != nil:
		return stepSub(c.S)
	case p == nil:
		return ""
	case c.S.Stale() && c.S.Preview == nil:
		return "The pictures show " + shown(c.S) + "."
	}
	if n := ofPlan(p); n.statesOver() {
		return fmt.Sprintf(wordsNoPlan, n.span())
	}
	return fmt.Sprintf(wordsKeepAll, format.Bytes(p.Solved.KeepAll.Peak)) + " " + deeds(p) + room(p)
}

// Title returns the title of the page, of its links and of the files that are saved: what is
// open and its verdict; or what a person calls it.
func Title(s *state.State) string {
	name := names.Of(s)
	n := needed(s)
	if s.View.Frame.Title != "" || s.Memory != nil || s.Compare != nil || n == nil || s.OverBudget != nil {
		return name
	}
	return name + ": " + n.short()
}

// Problem says in a sentence or two what keeps the page from what was asked for, for
// where there is one line; empty if nothing does.
func Problem(s *state.State) string {
	switch {
	case s.OverBudget != nil:
		return fmt.Sprintf(wordsTooSmall, format.Bytes(s.OverBudget.Budget)) + tooSmall(s.Choice, s.OverBudget)
	case s.Alert != nil:
		return s.Alert.Text
	case s.Step != nil && s.Step.Failed != "":
		return format.Sentence(s.Step.Failed)
	}
	return ""
}

// Late says that what is shown answers something else than what is chosen, see Answer.Late;
// "rest" says that only the word does not.
func Late(s *state.State) string {
	if s.Step != nil {
		return strconv.FormatBool(s.Step.Shown != nil && s.Late())
	}
	if s.Preview == nil && s.Solving == nil && s.OverBudget != nil {
		return "rest"
	}
	return strconv.FormatBool(s.Solving != nil && s.Preview == nil && s.Shown != nil && !s.Shown.Choice.Equal(s.Choice))
}

// Work says what is being worked on; empty if nothing is.
func Work(s *state.State) string {
	if o := s.Opening; o != nil {
		if o.Progress.Total > 0 {
			return fmt.Sprintf("Reading %s… %s", o.Name,
				format.Share(float64(o.Progress.Done)/float64(o.Progress.Total)))
		}
		return "Reading " + o.Name + "…"
	}
	if t := s.Step; t.Busy() || t.Chaining() {
		return wordsMoreWork
	}
	w := s.Solving
	switch {
	case w == nil:
		return ""
	case w.Loading:
		return "Loading the solver…"
	case w.Silent:
		return "The solver has said nothing for a while…"
	case w.Best != nil:
		return fmt.Sprintf("Computing the plan… best so far %s", format.Duration(w.Best.Trace.Makespan))
	case w.Progress.Total > 0:
		return fmt.Sprintf("Computing the plan… %s", format.Share(float64(w.Progress.Done)/float64(w.Progress.Total)))
	}
	return "Computing the plan…"
}

// Ended says that an answer was ended before all of it was known; empty if it was not.
func Ended(s *state.State) string {
	if s.Step == nil || Work(s) != "" {
		return ""
	}
	return [...]string{state.NotEnded: "", state.ByPerson: wordsStopped, state.ByLimit: wordsLimit}[s.Step.Ended]
}
