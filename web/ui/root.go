package ui

import (
	"html"
	"strconv"
	"strings"

	"github.com/vugu/vugu"
	"memtide/engine"
	"memtide/web/format"
	"memtide/web/link"
	"memtide/web/lookup"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/input"
	"memtide/web/ui/mount"
	"memtide/web/ui/questions"
	"memtide/web/ui/step"
)

// version is written at the foot of the page.
const version = "memtide " + engine.Version

// Root is the whole page below the body.
type Root struct {
	S        *state.State
	Hosts    mount.Hosts
	Page     *permalink.Origin
	Starting bool // the program is not running yet: controls are disabled
}

// Stale returns data-stale: "true" if the pictures are not those of the choice, in a comparison the letter of the side
// with such pictures, otherwise "false".
func (c *Root) Stale() string {
	switch {
	case !c.S.Stale():
		return "false"
	case c.S.Compare != nil:
		letter, _ := c.S.Letters()
		return letter
	}
	return "true"
}

// Kind returns data-kind: "step" if a training step is open, "memory" if a file about addresses is open, "none" in a
// view in another page without anything to show, otherwise "network". The style sheet hides the other parts.
func (c *Root) Kind() string {
	switch {
	case c.S.Step != nil:
		return "step"
	case c.S.Memory != nil:
		return "memory"
	case c.S.Network == nil && c.S.Alert != nil && c.S.View.Frame.Embed:
		return "none"
	}
	return "network"
}

// Hopeless reports whether no plan makes the step fit. Then there are only the verdict and what would make it fit,
// unless a person asks for the rest.
func (c *Root) Hopeless() bool { return answer.Hopeless(c.S) && !c.S.View.Frame.Embed }

// Sentence says of a step that no plan makes fit what becomes of its pictures and its table.
func (c *Root) Sentence() string {
	if c.S.View.Anyway {
		return "No plan fits; the pictures show one that needs more than there is."
	}
	return "No plan fits, so there are no pictures and no table."
}

// Button returns the text of the button that shows or hides them.
func (c *Root) Button() string {
	if c.S.View.Anyway {
		return "Hide them"
	}
	return "Show them anyway"
}

// Refused reports whether the last file was not opened. Then the findings are above the answer, otherwise below it.
func (c *Root) Refused() bool { return (&Findings{S: c.S}).Refused() }

// Hidden lists the parts of the page that the link leaves out.
func (c *Root) Hidden() string {
	f := &c.S.View.Frame
	var out []string
	for _, part := range link.Panels {
		if !f.Shows(part) || f.Show == nil && f.Embed && (part == "curve" || part == "addr" || part == "table") {
			out = append(out, part)
		}
	}
	return strings.Join(out, " ")
}

// rowsOfPart is the number of rows of the page's grid for a part: above it, itself, and that of side B.
const rowsOfPart = 3

// Order returns a style that puts the parts of the page into the order of the link: the first grid row of each part,
// and the rows of the first and last picture on the time axis, whose stage spans the rows between them. Row 1 is for
// the slider of a view in another page.
func (c *Root) Order() string {
	var b strings.Builder
	first, last := 0, 0
	for i, part := range c.S.View.Frame.Show {
		row := 2 + rowsOfPart*i
		b.WriteString("--row-" + part + ":" + strconv.Itoa(row) + ";")
		if part == "strip" || part == "time" || part == "mem" {
			if last = row; first == 0 {
				first = row
			}
		}
	}
	if first > 0 {
		b.WriteString("--row-first:" + strconv.Itoa(first) + ";--row-last:" + strconv.Itoa(last) + ";")
	}
	return b.String()
}

// Header is the head of the page, with the buttons about all of it.
type Header struct {
	S        *state.State
	Page     *permalink.Origin
	Starting bool
}

// ThemeLabel returns the label of the theme button.
func (c *Header) ThemeLabel() string {
	switch c.S.View.Theme {
	case "light":
		return "Theme: light"
	case "dark":
		return "Theme: dark"
	}
	return "Theme: as the system"
}

// Help is the dialog with help and the list of keys.
type Help struct {
	S    *state.State
	Page *permalink.Origin
}

// Keys returns the list of keys.
func (c *Help) Keys() vugu.HTML {
	var b strings.Builder
	for _, k := range input.KeyRows() {
		b.WriteString("<div><dt>" + html.EscapeString(k.Label(c.S.View.KeyLabels)) + "</dt><dd>" + k.Does +
			"</dd></div>")
	}
	return vugu.HTML(b.String())
}

// Notice shows the alert, with its button.
type Notice struct{ S *state.State }

// alert returns the alert to show, or the zero value if there is no alert or if Findings shows it.
func (c *Notice) alert() state.Alert {
	if a := c.S.Alert; a != nil && a.File == "" {
		return *a
	}
	return state.Alert{}
}

// Embed is the caption of a view in another page.
type Embed struct {
	S    *state.State
	Page *permalink.Origin
}

// Line returns the verdict, or a sentence about the selection. A view has no panel for the selection, and touch and
// keyboard have no tooltips.
func (c *Embed) Line() string {
	a := &answer.Answer{S: c.S}
	p := c.S.Visible()
	if p != nil && answer.Problem(c.S) == "" && c.S.View.Picked && c.S.View.Selected.Kind != lookup.Nothing {
		return p.Index().Sentence(c.S.View.Selected)
	}
	line := a.Word() + a.Sentence()
	if p != nil && c.S.Step == nil {
		line += " " + p.Choice.PlanName() + p.Within(" in ") + ": " +
			format.Duration(p.Solved.Trace.Makespan) + " per step."
	}
	if from := c.S.View.Frame.Opener; from != "" {
		line += " Opened by " + from + "."
	}
	return line
}

// Action returns the text of the alert's button, or "" if there is no button.
func (c *Embed) Action() string {
	if c.S.Step != nil { // a step has buttons of its own
		return ""
	}
	return (&Notice{S: c.S}).alert().Action
}

// Address returns the address of the page with exactly what the view shows, or "" on the page itself.
func (c *Embed) Address() string {
	if c.Page == nil || !c.S.View.Frame.Embed {
		return ""
	}
	if permalink.Empty(c.S) {
		return c.Page.Base
	}
	return c.Page.Address(c.S, true)
}

// Helps returns a line about what would help, or "" on the page itself.
func (c *Embed) Helps() string {
	if !c.S.View.Frame.Embed {
		return ""
	}
	if c.S.Step != nil {
		return (&step.View{S: c.S}).Line()
	}
	return (&questions.Better{S: c.S}).Line()
}
