package state

import (
	"fmt"
	"strings"

	"memtide/profiles/llm/ask"
	"memtide/web/format"
)

// Type is text that was typed into a field and is not committed yet.
type Type struct{ Field, Text string }

func (m Type) apply(s *State) []Effect {
	s.Draft = Draft(m) // no redraw: the field shows the text already
	return nil
}

// Refuse shows why an input is not used: a text that is not valid, a link that is cut, damaged or too new.
type Refuse struct{ Text string }

func (m Refuse) apply(s *State) []Effect { return s.alert(&Alert{Text: m.Text, Field: s.Draft.Field}) }

// Invalid reports whether the alert refuses the draft of the text field.
func (s *State) Invalid(field string) bool { return s.Alert != nil && s.Alert.Field == field }

func (s *State) alert(a *Alert) []Effect {
	s.Alert = a
	return s.touch()
}

// textAlert returns an alert whose headline is the first line of text, with at most five more lines. The
// headline is capitalized, unless its first word is a name such as forward_s.
func textAlert(text string) *Alert {
	lines := strings.Split(format.Durations(ask.InWords(strings.TrimSpace(text))), "\n")
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

// headline returns the first line of an error text.
func headline(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
