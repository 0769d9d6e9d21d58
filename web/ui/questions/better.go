// Package questions is what would help, as answers that a person can try.
package questions

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/question"
	"memtide/web/state"
)

// Better is the first of the answers to what would help, which the page finds while
// it has nothing else to do: each with what is lost now and after. Where nothing
// fits, it is what would make it fit.
type Better struct{ S *state.State }

const wordsTry = "Press to see it in the pictures, Enter to use it"

// mostBetter is how many rows there are.
const mostBetter = 5

// answers are those about the present choice; nil before anything was asked.
func (c *Better) answers() *state.Answers { return c.S.Answers(question.Lookup(state.HelpName)) }

// unfit says that what is chosen has no schedule in its budget, or one that needs more
// than the device has.
func (c *Better) unfit() bool { return c.S.OverBudget != nil || c.S.Exceeds() != nil }

// room is what has to be kept to: the device's memory if the budget is more than that.
func (c *Better) room() engine.Bytes {
	if d := c.S.Exceeds(); d != nil {
		return d.Memory
	}
	return c.S.Budget()
}

// lost is the time that the memory limit costs now; 0 if it is not known.
func (c *Better) lost() time.Duration {
	a := c.answers()
	if a == nil || a.Base <= 0 || a.KeepAll <= 0 {
		return 0
	}
	return max(a.Base-a.KeepAll, 0)
}

// Hidden says that there is nothing to say yet.
func (c *Better) Hidden() bool {
	return c.S.Network == nil || c.S.Memory != nil
}

// Title is what the rows answer.
func (c *Better) Title() string {
	if c.unfit() {
		return "What would make it fit"
	}
	return "What would help?"
}

// Caption says what the bars are.
func (c *Better) Caption() string {
	a := c.answers()
	switch lost := c.lost(); {
	case a == nil && c.S.Compare != nil:
		return ""
	case a == nil:
		return "Looked for once the plan is there."
	case c.unfit():
		return "Memory at the peak, and the line of " + format.Bytes(c.room())
	case a.Base > 0 && lost == 0:
		return "Nothing: no time is lost to the memory limit."
	case lost == 0:
		return ""
	default:
		return fmt.Sprintf("The limit costs %s of %s. With:", format.Duration(lost), format.Duration(a.Base))
	}
}

// Gain is an answer as it is read.
type Gain struct {
	Answer       int    // index into Answers.List
	Tried        string // for aria-pressed: it is in the pictures
	title, about string
	words        string
	better       bool
	now, after   float64 // lengths of the bars, shares of the longest
	mark         float64 // the budget on them, 0: none
}

// gains are the best answers, and how many help.
func (c *Better) gains() (out []Gain, all int) {
	a := c.answers()
	if a == nil {
		return nil, 0
	}
	for _, i := range a.ByGain() {
		x := &a.List[i]
		if x.StepTime <= 0 || !c.unfit() && x.StepTime >= a.Base || c.S.Exceeds() != nil && x.Peak > c.room() {
			continue
		}
		if all++; len(out) < mostBetter && (c.unfit() || c.lost() > 0) {
			out = append(out, c.gain(a, i))
		}
	}
	if c.unfit() {
		most := c.room()
		for i := range out {
			most = max(most, a.List[out[i].Answer].Peak)
		}
		for i := range out {
			out[i].after, out[i].mark = float64(a.List[out[i].Answer].Peak)/float64(most), float64(c.room())/float64(most)
		}
	}
	return out, all
}

func (c *Better) gain(a *state.Answers, i int) Gain {
	x := &a.List[i]
	o := Gain{Answer: i, title: x.Name}
	st := engine.Lookup(x.Strategy)
	switch {
	case st != nil && st.Title == x.Name:
		o.title, o.about = choice.PlanName(x.Strategy), "another plan, "+classWords(st.Class)
	case x.Device != nil:
		o.title, o.about = question.ChangeTitle(x), linkWords(x.Device)
	default:
		o.title, o.about = question.ChangeTitle(x), "in "+format.Bytes(x.Budget)
	}
	lost := max(x.StepTime-a.KeepAll, 0)
	switch {
	case c.unfit() && a.KeepAll > 0:
		o.words = format.Bytes(x.Peak) + ", " + slower(lost, a.KeepAll)
	case c.unfit():
		o.words = format.Bytes(x.Peak)
	default:
		o.now, o.after = 1, float64(lost)/float64(c.lost())
		o.words = slower(lost, a.KeepAll)
	}
	o.better = lost == 0
	return o
}

// slower says how much slower a step is, given what it loses.
func slower(lost, all time.Duration) string {
	if lost == 0 {
		return "no slower"
	}
	return format.Percent(float64(lost) / float64(all))
}

// classWords say what plans of a class do.
func classWords(class engine.Class) string {
	switch class {
	case engine.MayRecompute:
		return "recompute only"
	case engine.MayOffload:
		return "offload only"
	case engine.MayRecompute | engine.MayOffload:
		return "recompute and offload"
	}
	return "no limit needed"
}

func linkWords(d *engine.Device) string {
	text := "link of " + format.Rates(d.ToDev, d.ToHost)
	if d.Duplex == engine.FullDuplex {
		text += " in both directions at once"
	}
	return text
}

// Rows are the rows. Each is a button that chooses what it was solved for.
func (c *Better) Rows() []Gain {
	out, _ := c.gains()
	for i := range out {
		out[i].Tried = strconv.FormatBool(c.S.Tries(state.TryAnswer{Name: state.HelpName, Index: out[i].Answer}))
	}
	return out
}

// HTML is what stands in a row.
func (o Gain) HTML() vugu.HTML {
	class := "words"
	if o.better {
		class += " good"
	}
	return vugu.HTML(fmt.Sprintf(`<span><b>%s</b><small>%s</small></span><span>%s<small class="%s">%s</small></span>`,
		html.EscapeString(o.title), html.EscapeString(o.about), o.bars(), class, html.EscapeString(o.words)))
}

// Note says how far the answers are, or that none of them helps.
func (c *Better) Note() string {
	a := c.answers()
	switch {
	case a == nil:
		return ""
	case a.ID != 0:
		return strings.TrimSpace("… " + progressOf(a))
	case a.Complete() && len(c.Rows()) == 0 && (c.unfit() || c.lost() > 0):
		return "Nothing of what was tried does."
	}
	return ""
}

// progressOf is how many of the answers are there.
func progressOf(a *state.Answers) string {
	if a.Total <= 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d tried", a.Done, a.Total)
}

// bars are what is lost now and after, or the bytes with the budget across.
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

// CanLook says that nobody has asked yet, or that the answers were given up.
func (c *Better) CanLook() bool {
	a := c.answers()
	return a == nil || a.ID == 0 && !a.Complete()
}

// Looks says that answers are being looked for.
func (c *Better) Looks() bool {
	a := c.answers()
	return a != nil && a.ID != 0
}
