// Package questions is what would help, as answers that a person can try.
package questions

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/question"
	"memtide/web/state"
)

// Better is what would help, which the page finds while it has nothing else to do: what makes
// the step faster for the same work, with the step time now and after. Where nothing fits, it is
// what would make it fit.
type Better struct{ S *state.State }

// unfit reports whether what is chosen has no schedule in its budget, or one that needs more
// than the device has.
func (c *Better) unfit() bool { return c.S.OverBudget != nil || c.S.Exceeds() != nil }

// room returns what has to be kept to: the device's memory if the budget is more than that.
func (c *Better) room() engine.Bytes {
	if d := c.S.Exceeds(); d != nil {
		return d.Memory
	}
	return c.S.Budget()
}

// fits reports whether what is chosen fits and loses no time to the memory limit: then there is room
// for more, and nothing to help against.
func (c *Better) fits() bool {
	a := c.S.Answers()
	return a != nil && !c.unfit() && a.Base > 0 && a.KeepAll > 0 && a.Base <= a.KeepAll
}

// Hidden reports whether there is nothing to say yet.
func (c *Better) Hidden() bool {
	return c.S.Network == nil || c.S.Memory != nil
}

// Title returns what the rows answer.
func (c *Better) Title() string {
	if c.unfit() {
		return "What would make it fit"
	}
	return "What would help?"
}

// Caption says what the bars are.
func (c *Better) Caption() string {
	a := c.S.Answers()
	switch {
	case a == nil && c.S.Compare != nil:
		return ""
	case a == nil:
		return "Looked for once the plan is there."
	case c.unfit():
		return "Memory at the peak, and the line of " + format.Bytes(c.room())
	case c.fits():
		return "No time is lost to memory."
	case a.Base <= 0:
		return ""
	}
	return "Step time, now " + format.Duration(a.Base) + ", and after, for the same work"
}

// Gain is an answer as it is read.
type Gain struct {
	Answer       int // index into Answers.List
	title, about string
	words        string
	better       bool
	now, after   float64 // lengths of the bars, shares of the longest
	mark         float64 // the budget on them, 0: none
}

// Rows returns the rows, largest gain first. Each is a button that chooses what it was solved for.
func (c *Better) Rows() (out []Gain) {
	a := c.S.Answers()
	switch {
	case c.fits():
		return c.more(a)
	case a == nil || a.Base <= 0 && !c.unfit():
		return nil
	}
	best, _ := a.Helps(c.unfit(), c.fitsIn())
	most := c.room()
	for _, i := range best {
		most = max(most, a.List[i].Peak)
	}
	for _, i := range best {
		o := c.gain(a, i)
		if c.unfit() {
			o.after, o.mark = float64(a.List[i].Peak)/float64(most), float64(c.room())/float64(most)
		}
		out = append(out, o)
	}
	return out
}

// Line returns the rows as a sentence, or the empty string if there are none.
func (c *Better) Line() string {
	var list []string
	for _, o := range c.Rows() {
		list = append(list, question.ChangeName(&c.S.Answers().List[o.Answer])+" ("+o.words+")")
	}
	return after(strings.TrimSuffix(c.Title(), "?")+": ", strings.Join(list, ", "))
}

// more returns a row about the largest batch for which there is room, if it is larger than the present
// one.
func (c *Better) more(a *state.Answers) []Gain {
	at, now := slices.IndexFunc(a.List, func(x proto.Suggestion) bool { return x.Batch > 0 }), c.S.Network.Totals.Batch
	if at < 0 || now <= 0 {
		return nil
	}
	x := &a.List[at]
	each := float64(x.StepTime) * float64(now) / (float64(a.Base) * float64(x.Batch))
	o := Gain{Answer: at, title: fmt.Sprintf("Room for a batch of %d", x.Batch), about: fmt.Sprintf("now %d", now),
		words: "no faster", now: 1, after: min(each, 1)}
	if gain := 1/each - 1; gain > 0 {
		o.words, o.better = strings.TrimPrefix(format.Percent(gain), "+")+" faster", true
	}
	return []Gain{o}
}

// fitsIn returns what an answer may need at most to count as one that fits.
func (c *Better) fitsIn() engine.Bytes {
	if c.S.Exceeds() != nil {
		return c.room()
	}
	return engine.NoLimit // it was solved for what it may use
}

func (c *Better) gain(a *state.Answers, i int) Gain {
	x := &a.List[i]
	o := Gain{Answer: i, title: format.Capital(question.ChangeName(x)), about: format.Duration(x.StepTime) + " a step"}
	st := engine.Lookup(x.Strategy)
	switch {
	case st != nil && st.Title == x.Name:
		o.about = "another plan, " + classWords[st.Class]
	case x.Device != nil:
		d := c.S.Choice
		o.about = "now " + format.Rates(d.ToDev, d.ToHost) + ", one direction at a time"
		if d.Duplex == engine.FullDuplex {
			o.about = "now " + format.Rates(d.ToDev, d.ToHost) + ", both directions at once"
		}
	}
	if c.unfit() {
		o.words = format.Bytes(x.Peak) + ", " + format.Duration(x.StepTime)
		return o
	}
	o.now, o.after, o.better = 1, float64(x.StepTime)/float64(a.Base), true
	o.words = strings.TrimPrefix(format.Percent(a.Gain(i)), "+") + " faster"
	return o
}

// classWords say what plans of a class do.
var classWords = map[engine.Class]string{0: "no limit needed", engine.MayRecompute: "recompute only",
	engine.MayOffload: "offload only", engine.MayRecompute | engine.MayOffload: "recompute and offload"}

// HTML returns what stands in a row.
func (o Gain) HTML() vugu.HTML {
	class := "words"
	if o.better {
		class += " good"
	}
	return vugu.HTML(fmt.Sprintf(`<span><b>%s</b><small>%s</small></span><span>%s<small class="%s">%s</small></span>`,
		html.EscapeString(o.title), html.EscapeString(o.about), o.bars(), class, html.EscapeString(o.words)))
}

// Note says how far the answers are, or what was tried and gains less.
func (c *Better) Note() string {
	a := c.S.Answers()
	switch {
	case a == nil:
		return ""
	case a.ID != 0:
		if a.Total <= 0 {
			return "…"
		}
		return fmt.Sprintf("… %d of %d tried", a.Done, a.Total)
	case !a.Complete() || c.fits() || a.Base <= 0 && !c.unfit():
		return ""
	}
	best, none := a.Helps(c.unfit(), c.fitsIn())
	var names []string
	for _, i := range none {
		if name := question.ChangeName(&a.List[i]); !strings.Contains(name, " + ") {
			names = append(names, name)
		}
	}
	switch list := strings.Join(names, ", "); {
	case c.unfit() && len(best) == 0:
		of := "Nothing that was tried makes it fit"
		if slices.ContainsFunc(a.List, func(x proto.Suggestion) bool { return x.Preset != "" }) {
			of = fmt.Sprintf("No change makes it fit, nor does a pair of them, of which at most %d are tried",
				question.MostPairs)
		}
		return of + after(": ", list) + "."
	case len(names) > 0 && c.unfit():
		return "Tried, not enough: " + list + "."
	case len(names) > 0:
		return "Tried, no gain: " + list + "."
	case len(best) == 0:
		return "Nothing that was tried makes it faster."
	}
	return ""
}

// after returns a text behind what leads to it, or the empty string if there is none.
func after(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}

// bars returns the step time now and after, or the bytes with the budget across.
func (o Gain) bars() string {
	const width = 92.0
	var b strings.Builder
	b.WriteString(`<svg viewBox="0 0 92 18" aria-hidden="true">`)
	if o.now > 0 {
		fmt.Fprintf(&b, `<rect class="bar-now" y="2" width="%.1f" height="5"/>`, width*o.now)
	}
	fmt.Fprintf(&b, `<rect class="bar-after" y="10" width="%.1f" height="6"/>`, max(width*o.after, 2))
	if o.mark > 0 {
		fmt.Fprintf(&b, `<path class="bar-mark" d="M%.1f 5V18"/>`, min(width*o.mark, width-1))
	}
	b.WriteString("</svg>")
	return b.String()
}

// CanLook reports whether it was not asked for yet, or that the answers were given up.
func (c *Better) CanLook() bool {
	a := c.S.Answers()
	return a == nil || a.ID == 0 && !a.Complete()
}

// Looks reports whether answers are being looked for.
func (c *Better) Looks() bool {
	a := c.S.Answers()
	return a != nil && a.ID != 0
}
