// Package plans is what plans come to: the table of them, the curve of step time against
// budget with its lines, and the values of a plan's parameters.
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
	"memtide/wasm/proto"
	"memtide/web/chart"
	"memtide/web/choice"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/tradeoff"
	"memtide/web/ui/mount"
	"memtide/web/ui/names"
	"memtide/web/ui/panel"
)

// Plans is the table of plans and of the policies of frameworks on the same step: the menu of
// plans, the legend of the curve, and what each comes to in the present budget. Folded it has
// mostRows of those that fit and of those that do not, and no methods of the literature.
type Plans struct {
	S *state.State

	Parts []PlanRows // what fits, what does not, and the methods of the literature while the table is unfolded
	More  string     // text of the button that unfolds the table, or empty if there is no more
}

// Compute fills Parts and More. Vugu calls it before Build, which needs them more than once.
func (c *Plans) Compute() {
	plans := c.S.Plans()
	c.Parts = c.groups(plans)
	c.More = c.moreText(plans)
}

// mostRows is how many rows a part of the folded table has; plans that are drawn stand there in
// any case.
const mostRows = 7

// PlanRows are the rows of a part of the table.
type PlanRows struct {
	Title        string
	Step, Slower string // heads of the columns
	Bytes        string
	Rows         []*PlanRow
}

// PlanRow is a plan or a policy as it is read.
type PlanRow struct {
	Plan    state.PlanRow // of a policy it is empty
	Toggle  bool          // its line can be drawn and taken away here
	Pressed string
	Checked string
	Tab     string // one row is a tab stop, arrows go to the others
	Known   string // "yes", "no" where there is no schedule, or empty
	Doc     string
	Sample  vugu.HTML
	HTML    vugu.HTML
	Policy  bool
	Index   int // of a policy, see state.OpenPolicy

	step   time.Duration // 0: not known
	unfit  bool
	pinned bool // it is in the folded table
}

// groups returns the parts of the table: what fits and what does not, each by step time, and the methods
// of the literature while the table is unfolded.
func (c *Plans) groups(plans []state.PlanGroup) (out []PlanRows) {
	fit := PlanRows{Title: "Fits", Step: "step", Slower: "slower", Bytes: "GiB"}
	not, rest := PlanRows{Title: "Does not fit", Step: "step", Bytes: "lacks"}, PlanRows{}
	if c.S.Network != nil {
		fit.Title = "Fits " + format.Bytes(c.S.Limit())
	}
	for _, g := range plans {
		if g.Literature && !c.S.View.LineList {
			continue
		}
		for _, p := range g.Plans {
			switch o := c.row(p); {
			case g.Literature:
				rest.Title = g.Title
				rest.Rows = append(rest.Rows, o)
			case o.unfit:
				not.Rows = append(not.Rows, o)
			default:
				fit.Rows = append(fit.Rows, o)
			}
		}
	}
	for _, x := range c.S.Policies() {
		if o := c.policy(x); o.unfit {
			not.Rows = append(not.Rows, o)
		} else {
			fit.Rows = append(fit.Rows, o)
		}
	}
	for _, g := range []PlanRows{fit, not, rest} {
		if len(g.Rows) == 0 {
			continue
		}
		slices.SortStableFunc(g.Rows, func(a, b *PlanRow) int {
			return cmp.Compare(uint64(a.step-1),
				uint64(b.step-1))
		}) // 0 is the largest then
		pinFastest(g.Rows)
		out = append(out, g)
	}
	return out
}

// pinFastest keeps the fastest plan of each kind in the folded table; rows are by step time.
func pinFastest(rows []*PlanRow) {
	seen := map[engine.Class]bool{}
	for _, o := range rows {
		if !o.Policy && o.step > 0 && !seen[o.Plan.Strategy.Class] {
			seen[o.Plan.Strategy.Class], o.pinned = true, true
		}
	}
}

// Folded returns the rows of a part that the table shows: those that are pinned, then policies, then
// other plans, as far as there is room, by step time.
func (c *Plans) Folded(g PlanRows) (out []*PlanRow) {
	if c.S.View.LineList {
		return g.Rows
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
	summary, _, _ := strings.Cut(p.Strategy.Doc, "\n\n")
	o := &PlanRow{Plan: p, Toggle: c.S.View.LineList && p.Strategy.Class != 0, Pressed: strconv.FormatBool(p.Drawn),
		Checked: strconv.FormatBool(p.Chosen), Tab: "-1", Doc: summary, step: p.StepTime, pinned: p.Chosen ||
			p.Drawn || p.Strategy.Class == 0}
	if p.Chosen {
		o.Tab = "0"
	}
	step, more := Result(c.S, &p)
	needs := ""
	if p.Peak > 0 {
		needs = gib(choice.Reserved(p.Peak))
	}
	switch f := p.Failure; {
	case f != nil:
		o.Known = "no"
		if f.Text != "" {
			o.Doc += " " + f.Text
		}
		if f.Kind == proto.Infeasible {
			o.unfit, step, more, needs = true, "", "", c.lacks(choice.Reserved(f.Smallest))
		}
		if all := c.S.KeepAll().StepTime; o.unfit && p.Strategy.Class == 0 && all > 0 {
			o.step, step = all, format.Duration(all)
			if played := c.S.KeepingAll(); played > 0 {
				needs = c.lacks(played)
			}
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
	graph := c.S.Network != nil && c.S.Network.Chain == nil
	o.HTML = cells(line, p.Whose(graph), "", step, more, needs)
	return o
}

// lacks returns what a plan that needs so much on the card lacks there, or the empty string if that is not known.
func (c *Plans) lacks(needs engine.Bytes) string {
	if over := needs - c.S.Limit(); needs > choice.Context && over > 0 {
		return gib(over)
	}
	return ""
}

// policy returns the row of a policy.
func (c *Plans) policy(x state.Policy) *PlanRow {
	o := &PlanRow{Policy: true, Index: x.Index, Known: "yes", Tab: "0",
		Doc: x.Words + ". Opens the whole step with it.", step: x.Time, unfit: x.Lacks > 0}
	more, needs, circle := "", gib(x.Needs), "fits"
	if all := c.S.KeepAll().StepTime; all > 0 {
		more = format.Percent(float64(x.Time)/float64(all) - 1)
	}
	if o.unfit {
		o.Known, more, needs, circle = "no", "", gib(x.Lacks), "fits-not"
	}
	o.HTML = cells(fmt.Sprintf(`<svg width="26" height="10" aria-hidden="true"><circle class="%s" cx="13" cy="5" r="3.5"/></svg>`, circle),
		format.Capital(x.Names[0]), x.Words, format.Duration(x.Time), more, needs)
	return o
}

// cells returns what stands in a row.
func cells(sample, name, words, step, more, needs string) vugu.HTML {
	if words != "" {
		words = "<small>" + html.EscapeString(words) + "</small>"
	}
	return vugu.HTML(fmt.Sprintf(`<i>%s</i><span>%s%s</span><span>%s</span><span>%s</span><span>%s</span>`, sample,
		html.EscapeString(name), words, html.EscapeString(step), html.EscapeString(more), html.EscapeString(needs)))
}

// gib returns a number of bytes below the head "GiB": with its unit only if that is another one.
func gib(n engine.Bytes) string { return strings.TrimSuffix(format.BytesUp(n), " GiB") }

// Result returns what a plan comes to in the present budget, in two columns.
func Result(s *state.State, p *state.PlanRow) (time, more string) {
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

// Title returns that of the table.
func (c *Plans) Title() string {
	if len(c.S.Policies()) > 0 {
		return "Plans and policies"
	}
	return "Plans"
}

// Caption says what the rows are about.
func (c *Plans) Caption() string {
	if c.S.Network == nil {
		return "Choose one to see it."
	}
	text := "The same step under each. Choose one to see it"
	if c.S.View.LineList {
		text += "; the samples draw lines of the curve and take them away"
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

// Tradeoff is the curve of step time against budget. Chart and progress are
// drawn by hand: points arrive more often than components should be drawn.
type Tradeoff struct {
	S     *state.State
	Hosts mount.Hosts
}

// Running reports whether points are still being computed.
func (c *Tradeoff) Running() bool { return c.S.Curve != nil && c.S.Curve.ID != 0 }

// CanStart reports whether a curve that was given up can be computed again.
func (c *Tradeoff) CanStart() bool {
	return c.S.Curve != nil && c.S.Curve.ID == 0 && !c.S.Curve.Complete()
}

// StartText returns the button's.
func (c *Tradeoff) StartText() string {
	if c.S.Curve != nil && c.S.Curve.Failed != "" {
		return "Try again"
	}
	return "Compute"
}

// Label says in words what the curve shows.
func (c *Tradeoff) Label() string {
	if c.S.Curve == nil {
		return "Trade-off curve, not computed yet"
	}
	var parts []string
	for _, l := range c.S.Lines() {
		first, last := l.Points[0], l.Points[len(l.Points)-1]
		parts = append(parts, fmt.Sprintf("%s from %s at %s to %s at %s", l.Title,
			format.Duration(first.StepTime), format.Bytes(first.Budget), format.Duration(last.StepTime),
			format.Bytes(last.Budget)))
	}
	if b := chart.OtherSide(c.S); b != nil {
		parts = append(parts, BesideWords(c.S, b, ": "))
		if b.Note != "" {
			parts = append(parts, strings.TrimSuffix(b.Note, "."))
		}
	}
	return "Speed against memory: " + strings.Join(parts, "; ")
}

// BesideWords names the other side of a comparison and says what it needs.
func BesideWords(s *state.State, b *chart.Beside, between string) string {
	name := b.Letter
	if b.Another {
		o := s.Compare.Other.Shown
		name += ", another network: " + names.Network(o.Choice, o.Network)
	}
	return name + between + b.Words
}

// SweepStatus returns the line under the curve: how far it is, and how to read the
// place of another network.
func SweepStatus(s *state.State) string {
	text := sweepProgress(s)
	if b := chart.OtherSide(s); text != "" && b != nil && b.Note != "" {
		text += " " + b.Note
	}
	return text
}

func sweepProgress(s *state.State) string {
	c := s.Curve
	switch {
	case c == nil:
		return ""
	case c.Improving > 0:
		return "Point at the curve to preview, click to use. Looking for better points."
	case c.ID != 0:
		return fmt.Sprintf("%d of %d points", c.Done, c.Total)
	case c.Failed != "" && !c.Complete():
		return c.Failed
	case c.Stopped && !c.Complete():
		return fmt.Sprintf("Stopped after %d of %d points", c.Done, c.Total)
	}
	return "Point at the curve to preview, click to use."
}

// Title says what the curve shows.
func (c *Tradeoff) Title() string {
	if c.S.View.Axis == tradeoff.Throughput {
		return "Speed against memory"
	}
	return "Step time against memory"
}

// Better says which way is better.
func (c *Tradeoff) Better() string {
	text := "down is better"
	if c.S.View.Axis == tradeoff.Throughput {
		text = "up is better"
	}
	if state.DeviceOf(c.S.Choice) != nil {
		text += "; memory of the card"
	}
	if len(c.S.Policies()) > 0 {
		text += "; circles are frameworks’ policies"
	}
	return text
}

// Axes lists what the curve may show upwards.
func (c *Tradeoff) Axes() []panel.Option {
	rate := "samples per second"
	if n := c.S.Network; n != nil {
		unit, count := known.Trained(c.S.Choice, n)
		if rate = unit + " per second"; count == 0 {
			rate = "steps per second"
		}
	}
	titles := map[string]string{tradeoff.Throughput: rate, tradeoff.Slowdown: "slowdown",
		tradeoff.StepTime: "step time"}
	var out []panel.Option
	for _, axis := range tradeoff.Axes {
		out = append(out, panel.Option{ID: cmp.Or(axis, "rate"), Title: titles[axis], Selected: axis == c.S.View.Axis})
	}
	return out
}

// strokes are the classes of the colours that lines have.
var strokes = map[display.Role]string{display.Forward: "of-both", display.Transfer: "of-offload",
	display.Recompute: "of-recompute", display.Fixed: "of-keep"}

// sample returns a piece of a strategy's line, as SVG.
func sample(line string) string {
	class, dash := strokes[chart.Role(line)], ""
	if dashes := chart.Dash(line); dashes != nil {
		list := make([]string, len(dashes))
		for i, n := range dashes {
			list[i] = strconv.Itoa(n)
		}
		dash = ` stroke-dasharray="` + strings.Join(list, " ") + `"`
	}
	return fmt.Sprintf(`<svg width="26" height="8" aria-hidden="true"><path class="%s" d="M0 4H26"%s/></svg>`,
		class, dash)
}
