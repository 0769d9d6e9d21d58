package answer

import (
	"fmt"
	"strconv"

	"memtide/web/format"
	"memtide/web/state"
)

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
			return fmt.Sprintf("Reading %s… %s", o.Name, format.Share(float64(o.Progress.Done)/float64(o.Progress.Total)))
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
