package answer

import (
	"fmt"
	"strings"

	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/names"
)

// Title returns the title of the page, its links and saved files: the title that a person chose, or the name of what is
// open with the verdict.
func Title(s *state.State) string {
	name := names.Of(s)
	n := needed(s)
	switch {
	case s.View.Frame.Title != "" || s.Memory != nil || pending(s):
		return name
	case s.Compare != nil:
		return name + Pace(s, ": B is %s than A")
	case s.OverBudget != nil && exceeded(s) != nil:
		return fmt.Sprintf(wordsStatesOf, name, format.Bytes(s.Network.Totals.States), format.Bytes(exceeded(s).Memory))
	case lacking(s) != nil:
		return name + ": does not fit in " + format.Bytes(lacking(s).Memory)
	case s.OverBudget != nil:
		return name + ": does not fit in " + format.Bytes(s.OverBudget.Budget)
	case n == nil:
		return name
	}
	return name + ": " + n.short()
}

// Pace returns a sentence about how much slower or faster side B of a comparison is, made by words, which has one %s
// for it. It returns "" if a side has no schedule, or if both take as long.
func Pace(s *state.State, words string) string {
	d, ok := s.Delta()
	if !ok {
		return ""
	}
	switch step, _ := d.Rounded(); {
	case step > 0:
		return fmt.Sprintf(words, format.Duration(step)+" slower")
	case step < 0:
		return fmt.Sprintf(words, format.Duration(-step)+" faster")
	}
	return ""
}

// short returns the verdict for a title.
func (n *need) short() string {
	text := n.span()
	if n.memory > 0 {
		text = n.outOf()
	}
	switch n.kind() {
	case DoesNot:
		return "does not fit, " + text
	case Failed:
		return "check failed"
	}
	switch {
	case n.price == wordsNoSlower:
		text += ", " + n.price
	case n.price != "":
		share, _, _ := strings.Cut(n.price, wordsSlower)
		text += ", +" + share
	}
	return text
}
