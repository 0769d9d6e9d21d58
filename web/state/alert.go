package state

import (
	"fmt"
	"strings"

	"memtide/web/format"
)

// Type is text typed into a field that has not been committed.
type Type struct{ Field, Text string }

func (m Type) apply(s *State) []Effect {
	s.Draft = Draft(m) // the field shows it already: nothing to draw
	return nil
}

// Refuse says why something that was asked for is not done: a text that was not understood, a link that
// is cut, damaged or too new.
type Refuse struct{ Text string }

func (m Refuse) apply(s *State) []Effect { return s.alert(&Alert{Text: m.Text}) }

// alert shows an error; it replaces the one before it.
func (s *State) alert(a *Alert) []Effect {
	s.Alert = a
	return s.touch()
}

// textAlert makes the first line the headline and keeps five more. The headline
// begins as a sentence does, unless it begins with a name, such as forward_s.
func textAlert(text string) *Alert {
	lines := strings.Split(format.Durations(strings.TrimSpace(text)), "\n")
	a := &Alert{Text: lines[0]}
	if word, _, _ := strings.Cut(a.Text, " "); strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" && word != "" {
		a.Text = strings.ToUpper(word[:1]) + a.Text[1:]
	}
	if rest := lines[1:]; len(rest) > 5 {
		a.Lines = append(rest[:5:5], fmt.Sprintf("and %d more", len(rest)-5))
	} else {
		a.Lines = rest
	}
	return a
}

// headline returns the first line of what went wrong, for where there is room for one.
func headline(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
