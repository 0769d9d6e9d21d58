// Package plans is what plans come to: the table of them, the curve of step time against
// budget with its lines, and the values of a plan's parameters.
package plans

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/state"
)

// Plans is the table of plans: the menu of them, the legend of the curve, and what
// each comes to in the present budget. Folded it has no methods of
// the literature.
type Plans struct{ S *state.State }

// PlanRows are the rows of a kind of plans.
type PlanRows struct {
	Title string
	Rows  []PlanRow
}

// PlanRow is a plan as it is read.
type PlanRow struct {
	Plan    state.Plan
	Toggle  bool // its line can be drawn and taken away here
	Pressed string
	Checked string
	Tab     string // one row is a tab stop, arrows go to the others
	Known   string // "yes", "no" where there is no schedule, or empty
	Doc     string
	Sample  vugu.HTML
	HTML    vugu.HTML
}

// Groups are the rows.
func (c *Plans) Groups() (out []PlanRows) {
	for _, g := range c.S.Menu() {
		rows := PlanRows{Title: g.Title}
		for _, p := range g.Plans {
			rows.Rows = append(rows.Rows, c.row(p))
		}
		out = append(out, rows)
	}
	return out
}

func (c *Plans) row(p state.Plan) PlanRow {
	summary, _, _ := strings.Cut(p.Strategy.Doc, "\n\n")
	time, more := Result(c.S, &p)
	o := PlanRow{Plan: p, Toggle: c.S.View.LineList && p.Strategy.Class != 0, Pressed: strconv.FormatBool(p.Drawn),
		Checked: strconv.FormatBool(p.Chosen), Tab: "-1", Doc: summary}
	if p.Chosen {
		o.Tab = "0"
	}
	switch {
	case p.Failure != nil:
		o.Known = "no"
		if p.Failure.Text != "" {
			o.Doc += " " + p.Failure.Text
		}
	case p.StepTime > 0:
		o.Known = "yes"
		o.Doc += c.boundWords(p.Strategy.Class)
	}
	line := sample(p.Strategy.Name)
	switch {
	case o.Toggle:
		o.Sample, line = vugu.HTML(line), ""
	case !p.Drawn:
		line = ""
	}
	o.HTML = vugu.HTML(fmt.Sprintf(`<i>%s</i><span>%s</span><span>%s</span><span>%s</span>`, line,
		html.EscapeString(p.Name), html.EscapeString(time), html.EscapeString(more)))
	return o
}

// Result is what a plan comes to in the present budget, in two columns.
func Result(s *state.State, p *state.Plan) (time, more string) {
	switch f := p.Failure; {
	case f != nil && f.Smallest > 0 && p.Strategy.Class == 0: // no budget to be chosen, but what it takes
		return "does not fit", format.Bytes(f.Smallest)
	case f != nil && f.Kind == proto.Infeasible && f.Smallest > 0:
		return "does not fit", format.BytesUp(f.Smallest)
	case f != nil:
		return "", Failure(f)
	case p.StepTime <= 0 && (s.Curve != nil && s.Curve.ID != 0 || s.Working()):
		return "", "…"
	case p.StepTime <= 0:
		return "", "–"
	}
	time = format.Duration(p.StepTime)
	if p.AtMost {
		time = "≤ " + time
	}
	if all := s.KeepAll().StepTime; all > 0 {
		more = format.Percent(format.Longer(p.StepTime, all))
	}
	return time, more
}

// Failure say in a few words why there is no schedule: it does not fit, it
// cannot work on this network, or its time was over are never taken for each other.
func Failure(f *proto.Failure) string {
	switch f.Kind {
	case proto.Infeasible:
		return "does not fit"
	case proto.Unsupported:
		if before, _, ok := strings.Cut(f.Text, " stages at most"); ok {
			return "needs ≤ " + before[strings.LastIndexByte(before, ' ')+1:] + " blocks"
		}
		return "does not apply"
	case proto.Deadline:
		return "out of time"
	}
	return "failed"
}

// Caption says what the results are about.
func (c *Plans) Caption() string {
	if c.S.Network == nil {
		return "Choose one to see it."
	}
	text := "In " + format.Bytes(c.S.Budget())
	if state.DeviceOf(c.S.Choice) != nil {
		text += ", on this card"
	}
	if c.S.View.LineList {
		return text + ". Choose one to see it; the samples draw lines of the curve and take them away."
	}
	return text + ". Choose one to see it."
}

// ListOpen is for aria-expanded.
func (c *Plans) ListOpen() string { return strconv.FormatBool(c.S.View.LineList) }

// MoreText is the text of the button that unfolds the table; empty if there is no more.
func (c *Plans) MoreText() string {
	if c.S.View.LineList {
		return "Fewer plans"
	}
	for _, g := range c.S.Plans() {
		if g.Literature {
			return fmt.Sprintf("%d methods of the literature", len(g.Plans))
		}
	}
	return ""
}

// boundWords say what no plan of a kind can beat in the present budget; empty if that says
// no more than that nothing is faster than keeping everything.
func (c *Plans) boundWords(class engine.Class) string {
	if c.S.Curve == nil {
		return ""
	}
	bound := c.S.Curve.Bound(class, c.S.Budget())
	if all := c.S.KeepAll().StepTime; all <= 0 || bound <= all {
		return ""
	}
	return " No plan of its kind takes less than " + format.Duration(bound) + " here (lower bound)."
}
