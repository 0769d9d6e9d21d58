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

// Finding is one of them.
type Finding struct{ Kind, Place, What, Better string }

// Refused says that the last file was not opened.
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
	case len(c.list()) > 0 || c.S.Config() != "":
		return "Read " + c.file() + "."
	}
	return ""
}

// About says what follows from the findings.
func (c *Findings) About() string {
	switch n := len(c.list()); {
	case n == 0:
		return ""
	case c.Refused() && (c.S.Network != nil || c.S.Memory != nil || c.S.Step != nil):
		return "What was shown before stays."
	case c.Refused():
		return ""
	case n == 1:
		return "One finding may change the answer."
	default:
		return fmt.Sprintf("%d findings may change the answer.", n)
	}
}

// First are the first findings, Rest the others, as items of a list.
func (c *Findings) First() vugu.HTML {
	list := c.list()
	return items(list[:min(len(list), firstFindings)])
}

// Rest are the findings after the first.
func (c *Findings) Rest() vugu.HTML {
	list := c.list()
	return items(list[min(len(list), firstFindings):])
}

// More counts the rest.
func (c *Findings) More() string { return fmt.Sprintf("%d more", len(c.list())-firstFindings) }

// Action is what can be done about the first finding; empty if nothing can.
func (c *Findings) Action() string {
	if a := c.S.Alert; a != nil && a.File != "" {
		return a.Action
	}
	return ""
}

// file is the name of the file that is open; empty for a preset.
func (c *Findings) file() string {
	switch {
	case c.S.Memory != nil:
		return c.S.Memory.File
	case c.S.Network != nil:
		return c.S.Network.Source.File
	}
	return ""
}

// list is what there is to say: about the refused file, or about the one that is open.
func (c *Findings) list() (out []Finding) {
	a := c.S.Alert
	if c.Refused() {
		for _, line := range append([]string{strings.TrimPrefix(a.Text, a.File+": ")}, a.Lines...) {
			out = append(out, newFinding("refused", line))
		}
		return out
	}
	if a != nil && a.File != "" {
		out = append(out, newFinding("doubtful", strings.Join(append([]string{a.Text}, a.Lines...), " ")))
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
			out = append(out, newFinding(kindOf(line), line))
		}
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
		fmt.Fprintf(&b, `<li><i class="%s">%s</i><span>%s%s <small>%s</small></span></li>`, strings.ReplaceAll(f.Kind, " ", "-"), f.Kind, place, html.EscapeString(f.What), html.EscapeString(f.Better))
	}
	return vugu.HTML(b.String())
}
