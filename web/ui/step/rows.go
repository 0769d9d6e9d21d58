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
	"memtide/web/ui/panel"
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
		return "What would make it fit"
	}
	return "What would help"
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

// tokens returns the tokens of a step on one copy of the model, or 0 if they are not known.
func tokens(args engine.Args) float64 {
	all := 1.0
	for _, name := range []string{"batch", "seq", "accumulate"} {
		n, err := strconv.Atoi(ask.Value(args, name))
		if err != nil {
			return 0
		}
		all *= float64(n)
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

// Word is the control of an option of a training step, with the words around it in the sentence.
type Word struct {
	Name, Label   string
	Before, After string
	Value         string
	Min, Max      int
	Options       []panel.Option // nil for a number or a card
	Groups        []panel.Group  // for a card
}

// said are the options in the sentence of the case, with the words before and after them; one is the word after the
// value 1. The other options are assumptions.
var said = []struct{ name, before, after, one string }{
	{"batch", "at", "sequences", "sequence"}, {"seq", "of", "tokens", "token"}, {"optimizer", "in bf16 with", "", ""},
	{"lora", "for adapters of rank", "", ""}, {"base", "beside products", "", ""}, {"states", "on", "", ""},
	{"ckpt", "and", "", ""}, {"program", "in", "", ""}, {"gpus", "on", "×", "×"}, {"device", "", "", ""},
	{"shard", "with", "", ""},
	{"pp", "as", "pipeline ranks", ""}, {"schedule", "by", "", ""},
	{"accumulate", "with", "micro batches", "micro batch"},
}

// sentenceIf are options that are in the sentence only if another option does not have its default.
var sentenceIf = map[string]string{"shard": "gpus", "pp": "pp", "schedule": "pp", "accumulate": "pp",
	"lora": "lora", "base": "base"}

// inSentence reports whether an option is in the sentence.
func inSentence(args engine.Args, name string) bool {
	if name == "seq" && args["height"] != "" { // of pictures the tokens follow from the sides
		return false
	}
	for _, w := range said {
		if w.name == name {
			if other := sentenceIf[name]; other != "" && ask.Value(args, other) == ask.Option(other).Default {
				return false
			}
			switch name {
			case "shard": // needs several cards for each pipeline rank
				return ask.Value(args, "gpus") != ask.Value(args, "pp")
			case "states": // has no effect on adapters
				return ask.Value(args, "lora") == "0"
			}
			return true
		}
	}
	return false
}

// Case is the part of the case's sentence about a training step.
type Case struct{ S *state.State }

// Words returns its controls.
func (c *Case) Words() (out []Word) {
	for _, w := range said {
		s := stepWord(c.S, w.name)
		if s.Before, s.After = w.before, w.after; s.Value == "1" {
			s.After = w.one
		}
		if inSentence(c.S.Choice.StepArgs, w.name) {
			out = append(out, s)
		}
	}
	return out
}

// stepWord returns the control of an option.
func stepWord(s *state.State, name string) Word {
	o, args := ask.Option(name), s.Choice.StepArgs
	w := Word{Name: name, Label: format.Capital(o.Title), Value: ask.Value(args, name), Min: o.Min, Max: o.Max}
	if name == "device" {
		w.Groups = panel.Cards(w.Value)
		return w
	}
	for _, v := range o.Choices {
		w.Options = append(w.Options, panel.Option{ID: v, Title: ask.WordsIn(args, name, v), Selected: v == w.Value})
	}
	if d := s.Draft; d.Field == input.StepField(name) {
		w.Value = d.Text
	}
	return w
}

// Assumed returns the controls that are not in the sentence.
func (c *View) Assumed() (out []Word) {
	for i := range ask.Options {
		switch name := ask.Options[i].Name; {
		case name == "seq", name == "states" && ask.Value(c.S.Choice.StepArgs, "lora") != "0", ask.Pictured(name) &&
			!ask.Pictures(c.S.Choice.Step): // seq and states are not shown, nor sides of pictures for other models
		case !inSentence(c.S.Choice.StepArgs, name) && name != "shard" && ask.Matters(c.S.Choice.StepArgs, name):
			out = append(out, stepWord(c.S, name))
		}
	}
	return out
}
