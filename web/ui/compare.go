package ui

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/vugu/vugu"

	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/ui/names"
)

// Compare says how B differs from A, and which of the two the controls change.
type Compare struct{ S *state.State }

// On reports whether something is compared.
func (c *Compare) On() bool { return c.S.Compare != nil }

// edited reports whether the controls change a side.
func (c *Compare) edited(a bool) bool { return c.S.Compare != nil && c.S.Compare.OnA == a }

// Pressed is for aria-pressed of a side's button.
func (c *Compare) Pressed(a bool) string { return strconv.FormatBool(c.edited(a)) }

// Blocked reports whether the controls cannot be turned to a side yet.
func (c *Compare) Blocked(a bool) bool {
	if c.S.Compare == nil || c.edited(a) {
		return false
	}
	return c.S.Compare.Other.Network == nil || c.S.Opening != nil
}

// Edits says what the controls change, for the eye.
func (c *Compare) Edits() string {
	if c.S.Compare == nil {
		return ""
	}
	return "Controls and numbers: " + names.Letter(c.S.Compare.OnA)
}

// side returns the choice and the network of a side, the network nil if it is being
// read.
func (c *Compare) side(a bool) (state.Choice, *known.Network) {
	ca, cb := c.S.SideChoices()
	na, nb := c.S.SideNetworks()
	if a {
		return ca, na
	}
	return cb, nb
}

// Name says what a side is: its strategy and budget, and what else is not as on
// the other side.
func (c *Compare) Name(a bool) string {
	if c.S.Compare == nil {
		return ""
	}
	mine, network := c.side(a)
	other, otherNetwork := c.side(!a)
	return names.Side(mine, other, network, otherNetwork, names.Budget(mine, network))
}

// Fit returns the text of the button that gives the other side the budget that it lacks.
func (c *Compare) Fit() string {
	if c.S.Compare == nil || c.S.Compare.Other.Offer() <= 0 {
		return ""
	}
	return "Set " + format.BytesUp(c.S.Compare.Other.Offer()) + " for " + names.Letter(!c.S.Compare.OnA)
}

// missing says which side has no schedule, and why.
func (c *Compare) missing() string {
	if c.S.Compare == nil {
		return ""
	}
	o := &c.S.Compare.Other
	switch side := names.Letter(!c.S.Compare.OnA); {
	case o.Network == nil:
		return side + " is being read…" + shareOf(o.Progress())
	case o.Failed != "":
		return side + " has no schedule: " + strings.TrimSuffix(o.Failed, ".") + "."
	case o.Shown == nil:
		return side + " is being solved…" + shareOf(o.Progress())
	}
	own := names.Letter(c.S.Compare.OnA)
	switch {
	case c.S.Stale():
		return own + " has no schedule: the pictures show another one."
	case c.S.Solving != nil:
		return own + " is being solved…"
	}
	return own + " has no schedule."
}

// shareOf returns how much of a job is done, if that is known.
func shareOf(p proto.Progress) string {
	if p.Total <= 0 {
		return ""
	}
	return " " + format.Share(float64(p.Done)/float64(p.Total))
}

// Note says what the link of the comparison cannot hold.
func (c *Compare) Note() string {
	if c.S.Compare == nil {
		return ""
	}
	l := permalink.Of(c.S, link.Link{})
	a, b := c.S.SideNetworks()
	switch {
	case a != nil && !a.InLink() || b != nil && !b.InLink():
		return "The graph is too long for a link: send the file too."
	case l.B != nil && l.B.From != "" && l.B.Profile == nil:
		return "The two profiles together are too long for a link: it holds A only. Send the file of B too."
	}
	return ""
}

// Table has A and B in columns: what they are, what they take, and the layers
// that they treat differently.
func (c *Compare) Table() vugu.HTML {
	if c.S.Compare == nil || !c.S.View.Table {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<table><thead><tr><th scope="col">What</th><th scope="col">A</th><th scope="col">B</th><th scope="col">B − A</th></tr></thead><tbody>`)
	row := func(cells ...string) {
		b.WriteString(`<tr><th scope="row">` + html.EscapeString(cells[0]) + "</th>")
		for _, cell := range cells[1:] {
			b.WriteString("<td>" + html.EscapeString(cell) + "</td>")
		}
		b.WriteString("</tr>")
	}
	ca, na := c.side(true)
	cb, nb := c.side(false)
	row("network", names.Network(ca, na), names.Network(cb, nb), "")
	row("plan", choice.PlanName(ca.Strategy), choice.PlanName(cb.Strategy), "")
	row("host link", names.Link(ca), names.Link(cb), "")
	row("plan may use", names.Budget(ca, na), names.Budget(cb, nb), "")
	if d, ok := c.S.Delta(); ok {
		pa, pb, _ := c.S.Sides()
		ta, tb := pa.Solved.Trace, pb.Solved.Trace
		row("peak", format.Bytes(ta.Peak), format.Bytes(tb.Peak), format.BytesChange(d.Peak))
		row("step time (ms)", format.Milliseconds(ta.Makespan), format.Milliseconds(tb.Makespan),
			format.Milliseconds(d.Step))
		for _, p := range d.Parts {
			row(p.Name+" (ms)", format.Milliseconds(p.A), format.Milliseconds(p.B), format.Milliseconds(p.Change()))
		}
		compareLayers(pa.Model(), pb.Model(), c.S.Alignment(false), row)
	}
	b.WriteString("</tbody></table>")
	return vugu.HTML(b.String())
}

// compareRows is how many layers the table lists.
const compareRows = 60

// compareLayers lists the layers that are treated differently.
func compareLayers(a, b *draw.Model, al *draw.Alignment, row func(cells ...string)) {
	listed := 0
	for i := range al.Columns() {
		k, j := al.Layers(i)
		if !a.Differs(b, k, j) {
			continue
		}
		if listed++; listed > compareRows {
			continue
		}
		name, cells := "", [2]string{"–", "–"}
		if j > 0 {
			name, cells[1] = b.StageName(j), tell.DecisionName(b.Decision(j))
		}
		if k > 0 {
			name, cells[0] = a.StageName(k), tell.DecisionName(a.Decision(k))
		}
		row(name, cells[0], cells[1], "")
	}
	if listed > compareRows {
		row(fmt.Sprintf("and %s more blocks", format.Count(listed-compareRows)), "", "", "")
	}
}
