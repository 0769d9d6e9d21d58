package ui

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/web/chart"
	"memtide/web/draw"
	"memtide/web/permalink"
	"memtide/web/state"
)

// Title says what the curve shows.
func (c *Tradeoff) Title() string {
	if c.S.View.Axis == state.Throughput {
		return "Throughput against budget"
	}
	return "Step time against budget"
}

// Axes lists what the curve may show upwards.
func (c *Tradeoff) Axes() []Option {
	rate := "samples per second"
	if n := c.S.Network; n != nil && n.Totals.Batch == 0 {
		rate = "steps per second"
	}
	var out []Option
	for i, title := range []string{"slowdown", "step time", rate} {
		out = append(out, Option{permalink.AxisNames[i], title, state.Axis(i) == c.S.View.Axis})
	}
	return out
}

// Chip is a button that draws lines of the curve or takes them away, and the
// legend of its line.
type Chip struct {
	Names   string // of the lines, with commas
	Title   string
	Doc     string
	Pressed string // for aria-pressed
	Fixed   bool   // the chosen strategy is always drawn
	stroke  string // class of the line's colour
	dash    []int
}

// HTML is the sample of the line and its name. The title is escaped.
func (o Chip) HTML() vugu.HTML {
	dash := ""
	if o.dash != nil {
		var list []string
		for _, n := range o.dash {
			list = append(list, strconv.Itoa(n))
		}
		dash = ` stroke-dasharray="` + strings.Join(list, " ") + `"`
	}
	return vugu.HTML(fmt.Sprintf(`<svg width="34" height="8" aria-hidden="true"><path class="%s" d="M0 4H34"%s/></svg>%s`,
		o.stroke, dash, html.EscapeString(o.Title)))
}

// strokes are the classes of the colours that lines have.
var strokes = map[draw.Role]string{draw.Forward: "of-both", draw.Transfer: "of-offload", draw.Recompute: "of-recompute", draw.Fixed: "of-keep"}

func (c *Tradeoff) chip(st *engine.Strategy) Chip {
	summary, _, _ := strings.Cut(st.Doc, "\n\n")
	return Chip{
		Names: st.Name, Title: st.Title, Doc: summary,
		Pressed: strconv.FormatBool(c.S.Drawn(st.Name)), Fixed: st.Name == c.S.Choice.Strategy,
		stroke: strokes[chart.Role(st.Name)], dash: chart.Dash(st.Name),
	}
}

// boundChip is the chip of the lower bounds, by the name of the one that is drawn
// if it is only one.
func (c *Tradeoff) boundChip() Chip {
	o := Chip{Names: state.BoundLine, Title: "lower bound", Doc: "No schedule that does the same kinds of things is faster.",
		Pressed: strconv.FormatBool(c.S.Drawn(state.BoundLine)), stroke: "of-bound", dash: []int{1, 3}}
	if bounds := chart.Bounds(c.S); len(bounds) == 1 {
		o.Title = bounds[0].Title
	}
	return o
}

// bounded says whether a lower bound is drawn, or may be once the curve is known.
func (c *Tradeoff) bounded() bool {
	return c.S.Drawn(state.BoundLine) && (c.S.Curve == nil || c.Running() && !c.S.Curve.Complete() || len(chart.Bounds(c.S)) > 0)
}

// Drawn are the chips of what is drawn, the chosen strategy first and the lower
// bound last, if there is one to see.
func (c *Tradeoff) Drawn() (out []Chip) {
	for _, st := range c.S.CurveStrategies() {
		switch o := c.chip(st); {
		case o.Fixed:
			out = slices.Insert(out, 0, o)
		case c.S.Drawn(st.Name):
			out = append(out, o)
		}
	}
	if c.bounded() {
		out = append(out, c.boundChip())
	}
	return out
}

// LineGroup is the strategies of a paper.
type LineGroup struct {
	Paper Chip // all of them
	Lines []Chip
}

// Groups are all lines that can be drawn, by the paper that strategies are from;
// nothing while the list is closed.
func (c *Tradeoff) Groups() (out []LineGroup) {
	if !c.S.View.LineList {
		return nil
	}
	var papers []string
	for _, st := range c.S.CurveStrategies() {
		paper := engine.Cite{Text: "Other strategies"}
		if len(st.Cites) > 0 {
			paper = st.Cites[0]
		}
		i := slices.Index(papers, paper.ID)
		if i < 0 {
			i, papers = len(papers), append(papers, paper.ID)
			out = append(out, LineGroup{Paper: Chip{Title: shortCite(paper.Text), Doc: paper.Text + " (" + paper.ID + ")"}})
		}
		out[i].Lines = append(out[i].Lines, c.chip(st))
	}
	for i := range out {
		drawn := true
		var names []string
		for _, o := range out[i].Lines {
			names = append(names, o.Names)
			drawn = drawn && o.Pressed == "true"
		}
		out[i].Paper.Names, out[i].Paper.Pressed = strings.Join(names, ","), strconv.FormatBool(drawn)
	}
	bound := c.boundChip()
	return append(out, LineGroup{Paper: Chip{Title: "Bounds", Names: bound.Names, Pressed: bound.Pressed, Doc: bound.Doc}, Lines: []Chip{bound}})
}

// shortCite is the title of a source, without its authors and its subtitle.
func shortCite(text string) string {
	_, title, ok := strings.Cut(text, ": ")
	if !ok {
		return text
	}
	if short, _, _ := strings.Cut(title, ": "); len(short) > 20 {
		return short
	}
	return title
}

// ListOpen is for aria-expanded.
func (c *Tradeoff) ListOpen() string { return strconv.FormatBool(c.S.View.LineList) }

// ListText is the text of the button that opens the list of all lines.
func (c *Tradeoff) ListText() string {
	if c.S.View.LineList {
		return "Done"
	}
	return fmt.Sprintf("Choose from %d strategies…", len(c.S.CurveStrategies()))
}
