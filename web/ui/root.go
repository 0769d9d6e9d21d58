package ui

import (
	"html"
	"strconv"
	"strings"

	"github.com/vugu/vugu"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/link"
	"memtide/web/lookup"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/input"
	"memtide/web/ui/mount"
	"memtide/web/ui/names"
	"memtide/web/ui/questions"
	"memtide/web/ui/step"
)

// Root is the whole page below the body.
type Root struct {
	S        *state.State
	Hosts    mount.Hosts
	Page     *permalink.Origin
	Starting bool // the program does not run yet: nothing can be changed
}

// Stale marks the pictures as not being what was asked for; of a comparison those
// of one side.
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

// Kind is "memory" if a file about addresses is open: then only the address view
// is of use; and "step" if a training step is, which has a view of its own. It is "none" in a view in another page
// that has nothing to show.
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

// Refused reports whether the last file was not opened, which is said above the answer. What was assumed about a
// file that is open stands below it.
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

// rowsOfPart is how many rows of the page's grid a part may take: what stands above
// it, itself, and B's.
const rowsOfPart = 3

// Order puts the parts of the page into the order of the link: for each the first
// of its rows, and those of the first and of the last picture on the time axis,
// which stand on one stage whatever is between them. The first row of all is free
// for the slider of a view in another page.
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

// Header names the page, and offers what is about all of it.
type Header struct {
	S        *state.State
	Page     *permalink.Origin
	Starting bool
}

// ThemeLabel says what the theme button does.
func (c *Header) ThemeLabel() string {
	switch c.S.View.Theme {
	case "light":
		return "Theme: light"
	case "dark":
		return "Theme: dark"
	}
	return "Theme: as the system"
}

// Help lists the keys.
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

// Notice says what went wrong, and offers the way on.
type Notice struct{ S *state.State }

// alert returns what the notice tells; nothing if nothing is wrong, or if Findings tells it.
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

// Title returns what the view shows.
func (c *Embed) Title() string { return names.Of(c.S) }

// Line returns the verdict, or what somebody has selected: a view has no other place for that,
// and fingers and keys have no pointer to rest on it.
func (c *Embed) Line() string {
	a := &answer.Answer{S: c.S}
	p := c.S.Visible()
	if p != nil && answer.Problem(c.S) == "" && c.S.View.Picked && c.S.View.Selected.Kind != lookup.Nothing {
		return p.Index().Sentence(c.S.View.Selected)
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
	return (&Notice{S: c.S}).alert().Action
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
	if c.S.Step != nil {
		return (&step.View{S: c.S}).Line()
	}
	return (&questions.Better{S: c.S}).Line()
}
