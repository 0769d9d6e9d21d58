// Package questions shows the answers to the question what would help.
package questions

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/question"
	"memtide/web/state"
)

// Better is the panel of what would help. It lists what makes the step faster for the same work, or, if the
// choice does not fit, what would make it fit.
type Better struct{ S *state.State }

// unfit reports whether the choice has no schedule in its budget, or one that exceeds the memory of the device.
func (c *Better) unfit() bool { return c.S.OverBudget != nil || c.S.Exceeds() != nil }

// room returns the memory that a step may need: the budget or, where a card is known, what that corresponds to of its
// memory, and all of it if the schedule exceeds that.
func (c *Better) room() engine.Bytes {
	switch d := c.S.Exceeds(); {
	case d != nil:
		return d.Memory
	case state.DeviceOf(c.S.Choice) == nil:
		return c.S.Budget()
	}
	return c.S.Limit()
}

// needs returns what a schedule with the given peak needs of room, at worst.
func (c *Better) needs(peak engine.Bytes) engine.Bytes {
	if state.DeviceOf(c.S.Choice) == nil {
		return peak
	}
	return known.AtWorst(c.S.Choice, c.S.Network, peak)
}

// fits reports whether the choice fits and is as fast as keeping everything, so that nothing has to help.
func (c *Better) fits() bool {
	a := c.S.Answers()
	return a != nil && !c.unfit() && a.Base > 0 && a.KeepAll > 0 && a.Base <= a.KeepAll
}

// Hidden reports whether the panel is hidden, because no network is open.
func (c *Better) Hidden() bool { return c.S.Network == nil || c.S.Memory != nil }

// Title returns the question that the rows answer.
func (c *Better) Title() string {
	if c.unfit() {
		return "What would make it fit?"
	}
	return "What would help?"
}

// Caption explains the bars.
func (c *Better) Caption() string {
	a := c.S.Answers()
	switch {
	case a == nil && c.S.Compare != nil:
		return ""
	case a == nil:
		return "Looked for when plan and curve are there."
	case c.unfit():
		what := "Memory of the card, with CUDA and the allocator"
		if state.DeviceOf(c.S.Choice) == nil {
			what = "Memory at the peak"
		}
		return what + ", and the line of " + format.Bytes(c.room())
	case c.fits():
		return "No time is lost to memory."
	case a.Base <= 0:
		return ""
	}
	return "Step time, now " + format.Duration(a.Base) + ", and after, for the same work"
}

// Gain is the row of an answer.
type Gain struct {
	Do           string // the command of the row, about Answer: an index into Answers.List, or of a policy
	Answer       int
	title, about string
	words        string  // the result
	better       bool    // the result is green
	now, after   float64 // lengths of the bars, as shares of the longest
	mark         float64 // the budget on the same scale; 0 without a mark
}

// Rows returns the rows, largest gain first. Each is a button that chooses what the answer was solved for.
func (c *Better) Rows() (out []Gain) {
	a := c.S.Answers()
	switch {
	case c.fits():
		return c.more(a)
	case a == nil || a.Base <= 0 && !c.unfit():
		return nil
	case c.unfit():
		out = c.policies()
	}
	best, _ := a.Helps(c.unfit(), c.fitsIn())
	most := c.room()
	for _, i := range best {
		most = max(most, c.needs(a.List[i].Peak))
	}
	for _, i := range best {
		o := c.gain(a, i)
		if c.unfit() {
			o.after, o.mark = float64(c.needs(a.List[i].Peak))/float64(most), float64(c.room())/float64(most)
		}
		out = append(out, o)
	}
	return out
}

// policies returns the fastest policies of frameworks that fit.
func (c *Better) policies() (out []Gain) {
	list := slices.DeleteFunc(c.S.Policies(), func(x state.Policy) bool { return x.Lacks > 0 || x.Chosen || x.Apart })
	slices.SortFunc(list, func(x, y state.Policy) int { return cmp.Compare(x.Time, y.Time) })
	for _, x := range list[:min(mostPolicies, len(list))] {
		out = append(out, Gain{Do: "policy", Answer: x.Index, title: x.Names[0], about: "a framework’s policy",
			words: format.Bytes(x.Needs) + ", " + format.Duration(x.Time),
			after: float64(x.Needs) / float64(c.room()), mark: 1})
	}
	return out
}

// mostPolicies is the largest number of policies among the rows.
const mostPolicies = 2

// Line returns the rows as a sentence, or "" if there are no rows.
func (c *Better) Line() string {
	var list []string
	for _, o := range c.Rows() {
		list = append(list, o.title+" ("+o.words+")")
	}
	return after(strings.TrimSuffix(c.Title(), "?")+": ", strings.Join(list, ", "))
}

// more returns a row about the largest batch for which there is room, if the answers have one.
func (c *Better) more(a *state.Answers) []Gain {
	at, now := slices.IndexFunc(a.List, func(x proto.Suggestion) bool { return x.Batch > 0 }), c.S.Network.Totals.Batch
	if at < 0 || now <= 0 {
		return nil
	}
	x := &a.List[at]
	each := float64(x.StepTime) * float64(now) / (float64(a.Base) * float64(x.Batch))
	o := Gain{Do: "use-answer", Answer: at, title: fmt.Sprintf("room for a batch of %d", x.Batch),
		about: fmt.Sprintf("now %d", now),
		words: "no faster", now: 1, after: min(each, 1)}
	if gain := 1/each - 1; gain > 0 {
		o.words, o.better = strings.TrimPrefix(format.Percent(gain), "+")+" faster", true
	}
	return []Gain{o}
}

// fitsIn returns the largest peak of an answer that fits.
func (c *Better) fitsIn() engine.Bytes {
	if c.S.Exceeds() != nil || known.Uneven(c.S.Choice, c.S.Network) {
		return c.S.Choice.Usable(known.Evenly(c.S.Choice, c.S.Network, c.room()))
	}
	return engine.NoLimit // the answers were solved within the budget
}

func (c *Better) gain(a *state.Answers, i int) Gain {
	x := &a.List[i]
	o := Gain{Do: "use-answer", Answer: i, title: question.ChangeName(x),
		about: format.Duration(x.StepTime) + " a step"}
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
		o.words = format.Bytes(c.needs(x.Peak)) + ", " + format.Duration(x.StepTime)
		return o
	}
	o.now, o.after, o.better = 1, float64(x.StepTime)/float64(a.Base), true
	o.words = strings.TrimPrefix(format.Percent(a.Gain(i)), "+") + " faster"
	return o
}

// classWords describes the plans of a class.
var classWords = map[engine.Class]string{0: "no limit needed", engine.MayRecompute: "recompute only",
	engine.MayOffload: "offload only", engine.MayRecompute | engine.MayOffload: "recompute and offload"}

// HTML returns the content of a row.
func (o Gain) HTML() vugu.HTML {
	class := "words"
	if o.better {
		class += " good"
	}
	return vugu.HTML(fmt.Sprintf(`<span><b>%s</b><small>%s</small></span><span>%s<small class="%s">%s</small></span>`,
		html.EscapeString(format.Capital(o.title)), html.EscapeString(o.about), o.bars(), class,
		html.EscapeString(o.words)))
}

// Note returns the progress of the answers, or what was tried and does not help.
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
		name, _, _ := strings.Cut(question.ChangeName(&a.List[i]), ", by ")
		if !strings.Contains(name, " + ") {
			names = append(names, name)
		}
	}
	switch list := strings.Join(names, "; "); { // some names have a comma
	case c.unfit() && len(best) == 0 && len(c.policies()) == 0:
		of := "Nothing that was tried makes it fit"
		if slices.ContainsFunc(a.List, func(x proto.Suggestion) bool { return x.Preset != "" || x.Options != nil }) {
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

// after returns lead and text, or "" if text is empty.
func after(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}

// bars returns the step time now and after the change as bars, or the peak with a mark at the budget.
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

// CanLook reports whether the question was not asked yet, or was stopped.
func (c *Better) CanLook() bool {
	a := c.S.Answers()
	return a == nil || a.ID == 0 && !a.Complete()
}

// Looks reports whether the question is being answered.
func (c *Better) Looks() bool {
	return c.S.Working()
}
