package ui

import (
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/ui/answer"
	"memtide/web/ui/names"
)

// What a comparison comes to: a sentence, what it does otherwise, and where the
// difference comes from.

// Say returns the difference in one sentence, in the place of the verdict.
func (c *Compare) Say() string {
	d, ok := c.S.Delta()
	if !ok {
		return c.missing()
	}
	a, b, _ := c.S.Sides()
	at, bt := format.Duration(a.Solved.Trace.Makespan), format.Duration(b.Solved.Trace.Makespan)
	step, _ := d.Rounded()
	switch {
	case step == 0:
		return fmt.Sprintf(wordsAsLong, bt)
	case step > 0:
		return fmt.Sprintf(wordsLonger, format.Duration(step), bt, at)
	}
	return fmt.Sprintf(wordsShorter, format.Duration(-step), bt, at)
}

// Sub says what B does otherwise, and whether both fit.
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
	if x, y := fitWords(a), fitWords(b); x[0] != "" && y[0] != "" {
		if x == y {
			text = append(text, x[1]+".")
		} else {
			text = append(text, "A "+x[0]+", B "+y[0]+".")
		}
	}
	if x, y := a.Solved.Trace.HostPeak, b.Solved.Trace.HostPeak; x != y {
		text = append(text, "Host memory: A "+hostWords(x)+", B "+hostWords(y)+".")
	}
	return strings.Join(text, " ")
}

// fewer counts layers against those of the other side.
func fewer(n int) string {
	word := "more"
	if n < 0 {
		n, word = -n, "fewer"
	}
	if n == 1 {
		return "1 " + word + " block"
	}
	return format.Count(n) + " " + word + " blocks"
}

// fitWords say whether a picture fits its device, and of two that are alike in that;
// empty if unknown.
func fitWords(p *known.Picture) [2]string {
	kind, _ := answer.Verdict(p)
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

// Delta returns where the difference comes from: each part of the step time begins where
// the one before it ends, so that the last bar is their sum. The numbers add up as
// they are written.
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
			title, name, u.Signed(to-from, true), class, x0, max(x1-x0, 2))
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
	return vugu.HTML("<p>" + fmt.Sprintf(wordsWhere, u.Plain(step)+" "+u.Name) + "</p><ul>" + b.String() + "</ul>")
}

// Sentence returns the delta in words, for screen readers.
func (c *Compare) Sentence() string {
	if c.S.Compare == nil {
		return ""
	}
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
