package ui

import (
	"cmp"
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/vugu/vugu"
	"memtide/engine"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/ui/answer"
	"memtide/web/ui/names"
)

// Compare says how B differs from A, and which of the two the controls change. In its methods a says that a side is A.
type Compare struct{ S *state.State }

// On reports whether a comparison is open.
func (c *Compare) On() bool { return c.S.Compare != nil }

// edited reports whether the controls change a side.
func (c *Compare) edited(a bool) bool { return c.S.Compare != nil && c.S.Compare.OnA == a }

// Blocked reports whether the controls cannot be turned to a side yet.
func (c *Compare) Blocked(a bool) bool {
	if c.S.Compare == nil || c.edited(a) {
		return false
	}
	return c.S.Compare.Other.Network == nil || c.S.Opening != nil
}

// Edits says which side the controls change.
func (c *Compare) Edits() string {
	own, _ := c.S.Letters()
	if own == "" {
		return ""
	}
	return "Controls and numbers: " + own
}

// Name returns the name of a side: its plan and budget, and the other differences from the other side.
func (c *Compare) Name(a bool) string {
	if c.S.Compare == nil {
		return ""
	}
	mine, other := c.S.AB()
	if !a {
		mine, other = other, mine
	}
	return names.Side(mine.Choice, other.Choice, mine.Network, other.Network,
		names.Budget(mine.Choice, mine.Network))
}

// Fit returns the text of the button that gives a side enough memory, or "" if none is needed or its card has less.
func (c *Compare) Fit() string {
	if c.S.Compare == nil {
		return ""
	}
	own, letter := c.S.Letters()
	side := &c.S.Compare.Other
	if side.Offer() <= 0 {
		side, letter = &c.S.Side, own
	}
	if d := state.DeviceOf(side.Choice); side.Offer() <= 0 || d != nil && side.Offer() > d.Memory {
		return ""
	}
	return "Set " + format.BytesUp(side.Offer()) + " for " + letter
}

// missing says which side has no schedule, and why. It is empty without a comparison.
func (c *Compare) missing() string {
	if c.S.Compare == nil {
		return ""
	}
	o := &c.S.Compare.Other
	own, side := c.S.Letters()
	switch {
	case o.Network == nil:
		return side + " is being read…" + answer.Done(o.Progress())
	case o.Failed != "":
		return side + " has no schedule: " + strings.TrimSuffix(o.Failed, ".") + "."
	case o.Shown == nil:
		return side + " is being solved…" + answer.Done(o.Progress())
	case c.S.OverBudget != nil && c.S.OverBudget.Smallest > 0:
		return own + " has no schedule: it needs at least " + format.BytesUp(c.S.OverBudget.Smallest) + "."
	case c.S.Stale():
		return own + " has no schedule: the pictures show another one."
	case c.S.Solving != nil:
		return own + " is being solved…"
	}
	return own + " has no schedule."
}

// Note says what a link cannot hold of the comparison.
func (c *Compare) Note() string {
	if c.S.Compare == nil {
		return ""
	}
	l := permalink.Of(c.S, link.Link{})
	switch {
	case !c.S.InLink():
		return "The graph is too long for a link: send the file too."
	case l.B != nil && l.B.From != "" && l.B.Profile == nil:
		return "The two profiles together are too long for a link: it holds A only. Send the file of B too."
	}
	return ""
}

// Table returns a table with A and B in columns: settings, results, and the layers that they treat differently.
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
	x, y := c.S.AB()
	ca, na, cb, nb := x.Choice, x.Network, y.Choice, y.Network
	row("network", names.Network(ca, na), names.Network(cb, nb), "")
	row("plan", ca.PlanName(), cb.PlanName(), "")
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
		compareLayers(pa.Index(), pb.Index(), c.S.Alignment(false), row)
	}
	b.WriteString("</tbody></table>")
	return vugu.HTML(b.String())
}

// compareRows is the largest number of layers in the table.
const compareRows = 60

// compareLayers adds a row for each layer that a and b treat differently.
func compareLayers(a, b *draw.Index, al draw.Alignment, row func(cells ...string)) {
	listed := 0
	for _, c := range al {
		k, j := c[0], c[1]
		if !a.Differs(b, k, j) {
			continue
		}
		if listed++; listed > compareRows {
			continue
		}
		name, cells := "", [2]string{"–", "–"}
		if j > 0 {
			name, cells[1] = b.StageName(j), tell.DecisionName(b.Deed(j))
		}
		if k > 0 {
			name, cells[0] = a.StageName(k), tell.DecisionName(a.Deed(k))
		}
		row(name, cells[0], cells[1], "")
	}
	if listed > compareRows {
		row(fmt.Sprintf("and %s more blocks", format.Count(listed-compareRows)), "", "", "")
	}
}

// Say returns the difference in one sentence, instead of the verdict.
func (c *Compare) Say() string {
	if _, ok := c.S.Delta(); !ok {
		return c.missing()
	}
	a, b, _ := c.S.Sides()
	at, bt := format.Duration(a.Solved.Trace.Makespan), format.Duration(b.Solved.Trace.Makespan)
	return cmp.Or(answer.Pace(c.S, "B is %s ("+bt+", not "+at+")."), "B takes as long as A: "+bt+".")
}

// Sub says what B does differently, and whether both fit.
func (c *Compare) Sub() string {
	d, ok := c.S.Delta()
	if !ok {
		return ""
	}
	a, b, _ := c.S.Sides()
	againA, outA := a.Tally()
	againB, outB := b.Tally()
	var deeds, text []string
	if n := againB - againA; n != 0 {
		deeds = append(deeds, "computes "+fewer(n)+" again")
	}
	if n := outB - outA; n != 0 {
		deeds = append(deeds, "sends "+fewer(n)+" to the host")
	}
	if len(deeds) > 0 {
		text = append(text, "It "+strings.Join(deeds, " and ")+".")
	}
	text = append(text, peakWords(d.Peak))
	if x, y := fitWords(c.S, a), fitWords(c.S, b); x[0] != "" && y[0] != "" {
		if x == y {
			text = append(text, x[1]+".")
		} else {
			text = append(text, "A "+x[0]+", B "+y[0]+".")
		}
	}
	if x, y := a.Solved.Host, b.Solved.Host; x != y {
		text = append(text, "Host memory: A "+hostWords(x)+", B "+hostWords(y)+".")
	}
	return strings.Join(text, " ")
}

// fewer returns n more blocks, or for a negative n fewer blocks, in words.
func fewer(n int) string {
	word := "more"
	if n < 0 {
		n, word = -n, "fewer"
	}
	return format.CountOf(n, word+" block")
}

// fitWords says whether the schedule of p fits its device: in words about one schedule, and about two with the same
// verdict. Both are empty if the memory is unknown.
func fitWords(s *state.State, p *known.Picture) [2]string {
	kind, _ := answer.Verdict(s, p)
	return map[string][2]string{answer.Fits: {"fits", "Both fit"}, answer.Should: {"should fit", "Both should fit"},
		answer.MayNot: {"may not fit", "Each may not fit"}, answer.DoesNot: {"does not fit", "Neither fits"}}[kind]
}

func hostWords(b engine.Bytes) string {
	if b == 0 {
		return "none"
	}
	return format.Bytes(b)
}

func peakWords(d engine.Bytes) string {
	switch {
	case d > 0:
		return "Its peak is " + format.Bytes(d) + " higher."
	case d < 0:
		return "Its peak is " + format.Bytes(-d) + " lower."
	}
	return "The peaks are equal."
}

// Delta returns bars for the parts of the difference in step time. Each begins where the previous one ends, so the last
// one is the sum. The numbers are rounded so that they add up.
func (c *Compare) Delta() vugu.HTML {
	d, ok := c.S.Delta()
	if !ok {
		return ""
	}
	step, parts := d.Rounded()
	low, high, sum := time.Duration(0), time.Duration(0), time.Duration(0)
	for _, x := range parts {
		sum += x
		low, high = min(low, sum), max(high, sum)
	}
	u := names.UnitOf(&d)
	var b strings.Builder
	row := func(class, name string, from, to time.Duration, title string) {
		scale := 1000 / float64(max(high-low, 1))
		x0, x1 := float64(min(from, to)-low)*scale, float64(max(from, to)-low)*scale
		fmt.Fprintf(&b, `<li title="%s"><span>%s <b>%s</b></span><svg viewBox="0 0 1000 10" preserveAspectRatio="none"><rect class="%s" x="%.0f" width="%.0f" height="10"/></svg></li>`,
			title, name, u.Signed(to-from), class, x0, max(x1-x0, 2))
	}
	sum = 0
	for i, p := range d.Parts {
		if parts[i] != 0 {
			words, class := names.Part(p.Name)
			row(class, words, sum, sum+parts[i], "A "+format.Duration(p.A)+", B "+format.Duration(p.B))
			sum += parts[i]
		}
	}
	if step == 0 && b.Len() == 0 {
		return ""
	}
	row("delta-step", "step", 0, step, html.EscapeString(c.Say()))
	return vugu.HTML("<p>Where the " + u.Plain(step) + " " + u.Name + " come from</p><ul>" + b.String() + "</ul>")
}

// Sentence returns the delta in words, for screen readers.
func (c *Compare) Sentence() string {
	d, ok := c.S.Delta()
	if !ok {
		return c.missing()
	}
	step, parts := d.Rounded()
	u := names.UnitOf(&d)
	more := func(d time.Duration, more, less string) string {
		if d < 0 {
			more = less
		}
		return u.Plain(d) + " " + u.Name + " " + more
	}
	text := "B takes as long as A"
	if step != 0 {
		text = "B takes " + more(step, "more", "less") + " than A"
	}
	sep := ": "
	for i, p := range d.Parts {
		if parts[i] != 0 {
			words, _ := names.Part(p.Name)
			text += sep + words + " " + more(parts[i], "more", "less")
			sep = ", "
		}
	}
	return text + ". " + peakWords(d.Peak)
}
