package step

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vugu/vugu"
	"memtide/engine"
	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/input"
)

// Row is a change of a training step: a button that applies it.
type Row struct {
	Arg   string // the list of the change, such as input.FixRow; empty for the present step
	Index int    // in that list

	title, about string
	lanes        string // SVG of a schedule
	bytes, time  string
	fit          proto.Fit
	now          bool    // this is the present step
	after, mark  float64 // needed bytes and memory of the card, as shares of the longest bar

	_ [0]func() // never compared, see choice.Field
}

// mostRows is the largest number of changes in Rows.
const mostRows = 10

// fixing reports whether the present step may not fit.
func (c *View) fixing() bool { return c.reply() != nil && c.reply().Fit != proto.Fits }

// Title returns the question that the rows answer.
func (c *View) Title() string {
	if c.fixing() {
		return "What would make it fit?"
	}
	return "What would help?"
}

// Note says that changes are still being tried, or that no change helps.
func (c *View) Note() string {
	switch r := c.reply(); {
	case c.S.Step.Failed != "":
		return ""
	case (r == nil || r.Done < 3) && c.S.Step.Ended != state.NotEnded:
		return "Not all changes were tried: it was stopped."
	case r == nil || r.Done < 3:
		return "…"
	case len(r.Fixes)+len(r.Changes) == 0:
		return "Nothing of what was tried helps."
	case c.fixing() && len(r.Fixes) == 0:
		return "No combination of up to four changes was found that makes it fit."
	}
	return ""
}

// Rows returns the present step, the changes that make it fit, and the other single changes, best first.
func (c *View) Rows() (out []Row) {
	r := c.reply()
	if r == nil {
		return nil
	}
	out = append(out, Row{now: true, title: "As it is", bytes: format.Range(r.Low+r.Context, r.High+r.Context),
		after: float64(r.High + r.Context), fit: r.Fit, time: format.Duration(r.Time)})
	add := func(x *proto.StepChange, arg string, i int) { out = append(out, c.row(x, arg, i)) }
	for i := range r.Fixes {
		add(&r.Fixes[i], input.FixRow, i)
	}
	for i := range r.Changes {
		x := &r.Changes[i]
		fix := slices.ContainsFunc(r.Fixes, func(f proto.StepChange) bool { return slices.Equal(f.Names, x.Names) })
		if !fix && len(out) <= mostRows {
			add(x, input.AloneRow, i)
		}
	}
	return c.scaled(out)
}

// lineRows is the largest number of changes in Line.
const lineRows = 3

// Line returns the first changes in a sentence, or "" if there are no changes.
func (c *View) Line() string {
	var list []string
	for _, o := range c.Rows() {
		if o.now || len(list) == lineRows {
			continue
		}
		said := []string{o.bytes}
		for _, words := range []string{o.time, o.about} {
			if words != "" {
				said = append(said, words)
			}
		}
		list = append(list, o.title+" ("+strings.Join(said, ", ")+")")
	}
	if list == nil {
		return ""
	}
	return strings.TrimSuffix(c.Title(), "?") + ": " + strings.Join(list, ", ")
}

// row returns the row of x, the change with index i in list.
func (c *View) row(x *proto.StepChange, list string, i int) Row {
	r := c.reply()
	o := Row{Arg: list, Index: i, title: format.Capital(strings.Join(x.Names, " + ")),
		bytes: format.Range(x.Low+r.Context, x.High+r.Context),
		after: float64(x.High + r.Context), fit: x.Fit, time: changed(r.Time, x.Time)}
	if c.fixing() || x.Fit != proto.Fits {
		o.about = changeFits[x.Fit]
	}
	if now, then := tokens(c.S.Choice.StepArgs), tokens(x.Args); x.Time > 0 && now > 0 &&
		then != now { // the steps do not do the same work
		o.time = changed(r.Time, time.Duration(float64(x.Time)*now/then))
		o.about = strings.TrimPrefix(o.about+", "+wordsEqualWork, ", ")
	}
	if x.GPUs != r.GPUs {
		o.about = strings.TrimPrefix(o.about+fmt.Sprintf(", %d cards", x.GPUs), ", ")
	}
	return o
}

// tokens returns the tokens of a step on all its copies of the model, or 0 if they are not known.
func tokens(args engine.Args) float64 {
	all := 1.0
	for _, name := range []string{"batch", "seq", "accumulate", "gpus", "tp", "cp", "pp"} {
		n, err := strconv.Atoi(ask.Value(args, name))
		switch {
		case err != nil:
			return 0
		case name == "tp" || name == "cp" || name == "pp":
			all /= float64(n)
		default:
			all *= float64(n)
		}
	}
	return all
}

// scaled turns the bytes in rows into shares of the longest bar.
func (c *View) scaled(rows []Row) []Row {
	most := float64(max(c.reply().Memory, 1))
	for _, o := range rows {
		most = max(most, o.after)
	}
	for i := range rows {
		rows[i].after, rows[i].mark = rows[i].after/most, float64(c.reply().Memory)/most
	}
	return rows
}

// Policies returns a row for each policy of frameworks, with its name there.
func (c *View) Policies() (out []Row) {
	r := c.reply()
	if r == nil {
		return nil
	}
	for i := range r.Policies {
		o := c.row(&r.Policies[i], input.PolicyRow, i)
		o.about = r.Policies[i].Words
		out = append(out, o)
	}
	return c.scaled(out)
}

// HTML returns the content of a row.
func (o Row) HTML() vugu.HTML {
	return vugu.HTML(fmt.Sprintf(`<span><b>%s</b><small>%s</small></span>%s<span class="%s">%s</span><span>%s</span>`,
		html.EscapeString(o.title), html.EscapeString(o.about), o.lanes+o.bar(), o.fit, html.EscapeString(o.bytes),
		html.EscapeString(o.time)))
}

// bar returns the bar of the needed bytes, with a mark at the memory of the card.
func (o Row) bar() string {
	class := "turn-" + string(o.fit)
	if o.now {
		class = "bar-now"
	}
	const width = 200.0
	return fmt.Sprintf(`<svg viewBox="0 0 200 16" preserveAspectRatio="none" aria-hidden="true"><rect class="%s" y="4" width="%.1f" height="8"/><path class="bar-mark" d="M%.1f 0V16"/></svg>`,
		class, max(width*o.after, 2), min(width*o.mark, width-1))
}
