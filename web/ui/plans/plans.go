// Package plans shows the results of plans: as a table, and as a curve of step time against budget.
package plans

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vugu/vugu"
	"memtide/engine"
	"memtide/profiles/card"
	"memtide/wasm/proto"
	"memtide/web/chart"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
)

// Plans is the table of plans, and of the policies of frameworks on the same step. It is the menu of
// plans and the legend of the curve, and shows the results in the present budget. The folded table has about
// mostRows rows that fit, as many that do not, and no methods of the literature.
type Plans struct {
	S *state.State

	Parts []PlanRows // rows that fit, may not fit, have no plan yet, do not fit, and if unfolded the literature
	More  string     // text of the button that folds or unfolds the table, or "" if there are no more rows
}

// Compute sets Parts and More. Vugu calls it before Build, which uses them more than once.
func (c *Plans) Compute() {
	plans := c.S.Plans()
	c.Parts = c.groups(plans)
	c.More = c.moreText(plans)
}

// mostRows is the number of rows of a part of the folded table. Pinned rows may make it longer.
const mostRows = 7

// PlanRows are the rows of a part of the table.
type PlanRows struct {
	Title        string
	Step, Slower string // heads of the columns
	Bytes        string
	Rows         []*PlanRow
}

// PlanRow is the row of a plan or of a policy.
type PlanRow struct {
	Plan    state.PlanRow // zero for a policy
	Toggle  bool          // the row has a button that draws or removes the line of the plan
	Pressed string        // aria-pressed of that button
	Checked string        // aria-checked of the row
	Tab     string        // tabindex: the chosen row is a tab stop, arrow keys go to the others
	Known   string        // "yes"; "no" if there is no schedule or a policy does not fit; empty if it is not known
	Doc     string
	Sample  vugu.HTML
	HTML    vugu.HTML
	Policy  bool
	Index   int // of a policy, see state.OpenPolicy

	step   time.Duration // 0 if it is not known
	unfit  bool
	tight  bool // it fits, with less to spare than predictions err
	unsure bool // it may not fit
	pinned bool // the folded table has the row in any case
}

// groups returns Parts, each ordered by step time.
func (c *Plans) groups(plans []state.PlanGroup) (out []PlanRows) {
	fit := PlanRows{Title: "Fits", Step: "step", Slower: "slower", Bytes: "GiB"}
	may := PlanRows{Title: "May not fit", Step: "step", Slower: "slower", Bytes: "GiB"}
	not, open := PlanRows{Title: "Does not fit", Step: "step", Bytes: "lacks"}, PlanRows{Title: "No plan yet"}
	rest := PlanRows{}
	if c.S.Network != nil {
		fit.Title = "Fits " + format.Bytes(c.S.Limit())
	}
	var rows []*PlanRow
	policies := c.S.Policies()
	for _, g := range plans {
		if g.Literature && !c.S.View.LineList {
			continue
		}
		for _, p := range g.Plans {
			if p.Chosen && slices.ContainsFunc(policies, func(x state.Policy) bool { return x.Chosen }) {
				continue // the row of the policy has it
			}
			switch o := c.row(p); {
			case g.Literature:
				rest.Title = g.Title
				rest.Rows = append(rest.Rows, o)
			default:
				rows = append(rows, o)
			}
		}
	}
	for _, x := range policies {
		rows = append(rows, c.policy(x))
	}
	for _, o := range rows {
		group := &fit
		switch {
		case o.unfit:
			group = &not
		case o.unsure:
			group = &may
		case o.step == 0:
			group = &open
		case o.tight && c.S.Network != nil:
			fit.Title = "Fits or should fit " + format.Bytes(c.S.Limit())
		}
		group.Rows = append(group.Rows, o)
	}
	for _, g := range []PlanRows{fit, may, open, not, rest} {
		if len(g.Rows) == 0 {
			continue
		}
		slices.SortStableFunc(g.Rows, func(a, b *PlanRow) int { // 0-1 as uint64 is the largest number
			return cmp.Compare(uint64(a.step-1), uint64(b.step-1))
		})
		pinFastest(g.Rows)
		out = append(out, g)
	}
	return out
}

// pinFastest pins the fastest plan of each class. rows are ordered by step time.
func pinFastest(rows []*PlanRow) {
	seen := map[engine.Class]bool{}
	for _, o := range rows {
		if !o.Policy && o.step > 0 && !seen[o.Plan.Strategy.Class] {
			seen[o.Plan.Strategy.Class], o.pinned = true, true
		}
	}
}

// Folded returns the rows of a part that the table shows, in their order. The folded table has the pinned ones, and if
// there is room policies and then other plans; if everything fits, it has the row of that alone.
func (c *Plans) Folded(g PlanRows) (out []*PlanRow) {
	if c.S.View.LineList {
		return g.Rows
	}
	if !c.S.Sentence().Plan { // everything fits, which no other plan makes better
		return slices.DeleteFunc(slices.Clone(g.Rows), func(o *PlanRow) bool { return o.Checked != "true" })
	}
	shown, free := make([]bool, len(g.Rows)), mostRows
	for _, first := range []func(o *PlanRow) bool{
		func(o *PlanRow) bool { return o.pinned },
		func(o *PlanRow) bool { return o.Policy && free > 0 },
		func(*PlanRow) bool { return free > 0 },
	} {
		for i := range g.Rows {
			if !shown[i] && first(g.Rows[i]) {
				shown[i] = true
				free--
			}
		}
	}
	for i, o := range g.Rows {
		if shown[i] {
			out = append(out, o)
		}
	}
	return out
}

func (c *Plans) row(p state.PlanRow) *PlanRow {
	o := &PlanRow{Plan: p, Toggle: c.S.View.LineList && p.Strategy.Class != 0, Pressed: strconv.FormatBool(p.Drawn),
		Checked: strconv.FormatBool(p.Chosen), Tab: "-1", Doc: p.Strategy.Doc, step: p.StepTime, pinned: p.Chosen ||
			p.Drawn || p.Strategy.Class == 0}
	if p.Chosen {
		o.Tab = "0"
	}
	step, more := Result(c.S, &p)
	needs, all, kept := "", c.S.KeepingAll(), c.S.KeepAll()
	switch {
	case p.Peak > 0 && p.Peak == kept.Peak && p.StepTime == kept.StepTime:
		needs, o.unsure, o.tight = awaited(all, gib), all > c.S.Limit(), all > card.Sure(c.S.Limit())
		if low, _, context := c.S.Kept(); low+context > c.S.Limit() {
			o.unfit, more, needs = true, "", c.lacks(all)
		}
	case p.Peak > 0:
		most := known.AtWorst(c.S.Choice, c.S.Network, p.Peak)
		needs, o.unsure, o.tight = gib(most), most > c.S.Limit(), most > card.Sure(c.S.Limit())
	}
	switch f := p.Failure; {
	case f != nil:
		o.Known = "no"
		if f.Text != "" {
			o.Doc += " " + f.Text
		}
		if f.Kind == proto.Infeasible {
			o.unfit, step, more, needs = true, "", "", c.lacks(known.AtWorst(c.S.Choice, c.S.Network, f.Smallest))
		}
		if t := c.S.KeepAll().StepTime; o.unfit && p.Strategy.Class == 0 && t > 0 {
			o.step, step, needs = t, format.Duration(t), awaited(all, c.lacks)
		}
	case o.unfit:
		o.Known = "no"
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
	graph := c.S.Network != nil && c.S.Network.Chain == nil
	o.HTML = cells(line, p.Whose(graph), "", step, more, needs)
	return o
}

// awaited returns words for what keeping everything needs, or an ellipsis until that is known.
func awaited(all engine.Bytes, words func(engine.Bytes) string) string {
	if all == 0 {
		return "…"
	}
	return words(all)
}

// lacks returns the memory that a plan which needs the given bytes on the card lacks, or "" if that is not known.
func (c *Plans) lacks(needs engine.Bytes) string {
	if over := needs - c.S.Limit(); needs > c.S.Choice.Context() && over > 0 {
		return gib(over)
	}
	return ""
}

// policy returns the row of a policy.
func (c *Plans) policy(x state.Policy) *PlanRow {
	o := &PlanRow{Policy: true, Index: x.Index, Known: "yes", Tab: "0", Pressed: strconv.FormatBool(x.Chosen),
		Doc: x.Words + ".", step: x.Time, unfit: x.Lacks > 0 && !x.Unsure, unsure: x.Unsure,
		tight: x.Needs > card.Sure(c.S.Limit()), pinned: x.Chosen}
	if x.Apart {
		o.Doc, o.Pressed = x.Words+". Opens the step with it.", ""
	}
	more, needs, circle := "", gib(x.Needs), "fits"
	if all := c.S.KeepAll().StepTime; all > 0 {
		more = format.Percent(format.Longer(x.Time, all))
	}
	switch {
	case o.unfit:
		o.Known, more, needs, circle = "no", "", gib(x.Lacks), "fits-not"
	case x.Unsure:
		circle = "fits-not"
	}
	o.HTML = cells(fmt.Sprintf(`<svg width="26" height="10" aria-hidden="true"><circle class="%s" cx="13" cy="5" r="3.5"/></svg>`, circle),
		format.Capital(x.Names[0]), x.Words, format.Duration(x.Time), more, needs)
	return o
}

// cells returns the escaped cells of a row.
func cells(sample, name, words, step, more, needs string) vugu.HTML {
	if words != "" {
		words = "<small>" + html.EscapeString(words) + "</small>"
	}
	return vugu.HTML(fmt.Sprintf(`<i>%s</i><span>%s%s</span><span>%s</span><span>%s</span><span>%s</span>`, sample,
		html.EscapeString(name), words, html.EscapeString(step), html.EscapeString(more), html.EscapeString(needs)))
}

// gib returns n for a column with the head "GiB": without the unit if that is GiB.
func gib(n engine.Bytes) string { return strings.TrimSuffix(format.Bytes(n), " GiB") }

// Result returns the result of a plan in the present budget for two columns: the step time, and how much slower than
// keeping everything that is. If there is no schedule, they say why.
func Result(s *state.State, p *state.PlanRow) (time, more string) {
	switch f := p.Failure; {
	case f != nil && f.Smallest > 0 && p.Strategy.Class == 0: // the exact peak, not a budget to choose
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

// Failure says in a few words why there is no schedule: it does not fit, the strategy does not apply to this
// network, or the time limit was reached.
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

// Title returns the title of the table.
func (c *Plans) Title() string {
	if len(c.S.Policies()) > 0 {
		return "Plans and policies"
	}
	return "Plans"
}

// Caption explains the rows.
func (c *Plans) Caption() string {
	if c.S.Network == nil {
		return "Choose one to see it."
	}
	text := "The same step under each. Choose one to see it"
	if c.S.View.LineList {
		text += "; the samples draw lines of the curve and take them away"
	}
	if len(c.S.Policies()) > 0 {
		return text + ". GiB: with CUDA and the allocator, plans with expandable segments, policies at worst."
	}
	return text + ". GiB: with the allocator at worst and CUDA."
}

func (c *Plans) moreText(plans []state.PlanGroup) string {
	if c.S.View.LineList {
		return "Fewer plans"
	}
	var parts []string
	more := 0
	for _, g := range c.Parts {
		more += len(g.Rows) - len(c.Folded(g))
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	for _, g := range plans {
		if g.Literature {
			parts = append(parts, fmt.Sprintf("%d methods of the literature", len(g.Plans)))
		}
	}
	return strings.Join(parts, " and ")
}

// boundWords returns a sentence with the lower bound of the plans of a class in the present budget. It is empty if the
// bound is the step time of keeping everything.
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

// strokes are the CSS classes of the colours of lines.
var strokes = map[display.Role]string{display.Forward: "of-both", display.Transfer: "of-offload",
	display.Recompute: "of-recompute", display.Fixed: "of-keep"}

// sample returns a piece of the line of a strategy, as SVG.
func sample(line string) string {
	class, dash := strokes[chart.Role(line)], ""
	if dashes := chart.Dash(line); dashes != nil {
		dash = ` stroke-dasharray="` + strings.Trim(fmt.Sprint(dashes), "[]") + `"`
	}
	return fmt.Sprintf(`<svg width="26" height="8" aria-hidden="true"><path class="%s" d="M0 4H26"%s/></svg>`,
		class, dash)
}
