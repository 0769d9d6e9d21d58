package ui

import (
	"fmt"
	"html"
	"strings"

	"github.com/vugu/vugu"

	"memtide/profiles"
	"memtide/web/format"
	"memtide/web/state"
)

// Findings is the panel about a file that was opened or refused: what of it was left
// out, is doubtful or was assumed, each with its place, and what would be better.
type Findings struct{ S *state.State }

// firstFindings are so many as are shown at once.
const firstFindings = 5

// Finding is one of them; Action is what a button does about it, by the command Do,
// empty if nothing can.
type Finding struct{ Kind, Place, What, Better, Action, Do string }

// Refused reports whether the last file was not opened.
func (c *Findings) Refused() bool {
	a := c.S.Alert
	return a != nil && a.File != "" && a.Do == nil
}

// Role is "alert" for what came unasked for.
func (c *Findings) Role() string {
	if c.Refused() {
		return "alert"
	}
	return "region"
}

// Head names the file; empty if there is nothing to say.
func (c *Findings) Head() string {
	switch {
	case c.Refused():
		return c.S.Alert.File + " was not opened."
	case len(c.list()) > 0:
		return "Read " + c.file() + "."
	}
	return ""
}

// About says what follows from the findings.
func (c *Findings) About() string {
	switch n := len(c.list()); {
	case c.Refused() && (c.S.Network != nil || c.S.Memory != nil || c.S.Step != nil):
		return "What was shown before stays."
	case c.Refused():
		return ""
	case n == 1:
		return "We assumed one thing."
	default:
		return fmt.Sprintf("We assumed %d things.", n)
	}
}

// First returns the first findings, Rest the others, as items of a list.
func (c *Findings) First() vugu.HTML {
	list := c.list()
	return items(list[:min(len(list), firstFindings)])
}

// Rest returns the findings after the first.
func (c *Findings) Rest() vugu.HTML {
	list := c.list()
	return items(list[min(len(list), firstFindings):])
}

// More counts the rest.
func (c *Findings) More() string { return fmt.Sprintf("%d more", len(c.list())-firstFindings) }

// file returns the name of the file that is open; empty for a preset.
func (c *Findings) file() string {
	switch {
	case c.S.Memory != nil:
		return c.S.Memory.File
	case c.S.Network != nil:
		return c.S.Network.Source.File
	}
	return ""
}

// list returns what there is to say: about the refused file, or about the one that is open.
func (c *Findings) list() (out []Finding) {
	a := c.S.Alert
	if c.Refused() {
		for _, line := range append([]string{strings.TrimPrefix(a.Text, a.File+": ")}, a.Lines...) {
			out = append(out, newFinding("refused", line))
		}
		return out
	}
	if a != nil && a.File != "" {
		f := newFinding("doubtful", strings.Join(append([]string{a.Text}, a.Lines...), " "))
		f.Action, f.Do = a.Action, "act"
		out = append(out, f)
	}
	if c.file() == "" {
		return out
	}
	var odd, notes []string
	switch {
	case c.S.Memory != nil:
		odd = c.S.Memory.Lint
	default:
		odd, notes = c.S.Network.Lint, c.S.Network.Profile.Source.Notes
	}
	for _, line := range odd {
		if told := a != nil && a.File != ""; !told || !strings.HasPrefix(line, profiles.NoChain) {
			f := newFinding(kindOf(line), line)
			if strings.Contains(line, "stage") && !c.S.View.LayerList && c.S.Memory == nil {
				f.Action, f.Do = "Show the blocks", "layers"
			}
			out = append(out, f)
		}
	}
	if c.S.Config() != "" {
		f := newFinding("assumed", wordsOneCard)
		f.Action, f.Do = wordsAskStep, "step-config"
		out = append(out, f)
	}
	for _, line := range notes {
		out = append(out, newFinding("assumed", line))
	}
	return out
}

// newFinding takes a sentence of a reader apart: the line that it is about, what is
// there, and what would be better.
func newFinding(kind, text string) Finding {
	f := Finding{Kind: kind, What: format.Durations(text)}
	if place, rest, ok := strings.Cut(f.What, ": "); ok && strings.HasPrefix(place, "Line ") {
		f.Place, f.What = place, rest
	}
	if what, better, ok := strings.Cut(f.What, ". "); ok {
		f.What, f.Better = what+".", better
	}
	return f
}

// kindOf tells what a warning is about by the words that readers use.
func kindOf(text string) string {
	for _, word := range []string{"skipped", "not read", "missing", "left out", "cannot be used", "cannot be joined"} {
		if strings.Contains(text, word) {
			return "left out"
		}
	}
	for _, word := range []string{"taken for", "taken as", "assumed"} {
		if strings.Contains(text, word) {
			return "assumed"
		}
	}
	return "doubtful"
}

// items are findings as items of a list. Everything in them is escaped.
func items(list []Finding) vugu.HTML {
	var b strings.Builder
	for _, f := range list {
		place := ""
		if f.Place != "" {
			place = "<b>" + html.EscapeString(f.Place) + "</b> "
		}
		act := ""
		if f.Action != "" {
			act = fmt.Sprintf(`<button class="button small" type="button" data-do="%s">%s</button>`, f.Do,
				html.EscapeString(f.Action))
		}
		fmt.Fprintf(&b, `<li><i class="%s">%s</i><span>%s%s <small>%s</small></span>%s</li>`,
			strings.ReplaceAll(f.Kind, " ", "-"), f.Kind, place, html.EscapeString(f.What),
			html.EscapeString(f.Better), act)
	}
	return vugu.HTML(b.String())
}
