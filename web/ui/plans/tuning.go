package plans

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/tradeoff"
)

// Tuning shows step time against the values of the strategy's parameters: a
// small picture for each, in which a click takes a value over.
type Tuning struct{ S *state.State }

// Shown reports whether the strategy has parameters whose values are tried.
func (c *Tuning) Shown() bool { return c.S.Tuning != nil }

// Running reports whether values are being tried.
func (c *Tuning) Running() bool { return c.Shown() && c.S.Tuning.ID != 0 }

// CanStart reports whether values that were given up can be tried again.
func (c *Tuning) CanStart() bool {
	return c.Shown() && c.S.Tuning.ID == 0 && (c.S.Tuning.Stopped || c.S.Tuning.Failed != "")
}

// Title says what is shown.
func (c *Tuning) Title() string {
	if !c.Shown() {
		return "Parameters"
	}
	name := "parameters"
	if p := c.S.Tuning.Params; len(p) == 1 {
		name = p[0].Name
	}
	return fmt.Sprintf("Step time by %s, in %s", name, format.Bytes(c.S.Tuning.Budget))
}

// Status says how far it is, or which value is the fastest.
func (c *Tuning) Status() string {
	if !c.Shown() {
		return ""
	}
	t := c.S.Tuning
	switch {
	case t.ID != 0:
		return fmt.Sprintf("%d of %d values", t.Done, t.Total)
	case t.Failed != "":
		return t.Failed
	case t.Stopped:
		return fmt.Sprintf("Stopped after %d of %d values", t.Done, t.Total)
	}
	for i := range t.Params {
		if t.Params[i].Fastest() >= 0 {
			return "Click a value to use it; 0 in the field above searches by itself."
		}
	}
	return "No value of this parameter fits into the budget."
}

// tune is the picture of a parameter, in units of its view box.
type tune struct {
	p          *tradeoff.Param
	last       int // the largest value
	fast, slow time.Duration
}

const (
	tuneWidth, tuneHeight = 316.0, 104.0
	tuneTop, tuneBottom   = 18.0, 86.0
	tuneLeft              = 2.0
)

func (t *tune) x(value int) float64 {
	return tuneLeft + (tuneWidth-2*tuneLeft)*float64(value)/float64(max(t.last, 1))
}

func (t *tune) y(d time.Duration) float64 {
	return tuneTop + (tuneBottom-tuneTop)*(1-float64(d-t.fast)/float64(max(t.slow-t.fast, 1)))
}

// HTML returns a picture for each parameter. What comes from a network is escaped.
func (c *Tuning) HTML() vugu.HTML {
	if !c.Shown() {
		return ""
	}
	var b strings.Builder
	for i := range c.S.Tuning.Params {
		c.draw(&b, &c.S.Tuning.Params[i])
	}
	return vugu.HTML(b.String())
}

func (c *Tuning) draw(b *strings.Builder, p *tradeoff.Param) {
	t := &tune{p: p}
	if n := len(p.Values); n > 0 {
		t.last = p.Values[n-1]
	}
	for _, q := range p.Points {
		if q != nil && q.StepTime > 0 {
			t.slow = max(t.slow, q.StepTime)
			if t.fast == 0 || q.StepTime < t.fast {
				t.fast = q.StepTime
			}
		}
	}
	fmt.Fprintf(b, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s">`, tuneWidth, tuneHeight,
		html.EscapeString(t.words()))
	t.background(b)
	t.marks(b, c.chosen(p.Name))
	t.targets(b)
	b.WriteString("</svg>")
}

// chosen returns the value of a parameter that is set; 0: it is searched for.
func (c *Tuning) chosen(name string) int {
	v, _ := strconv.Atoi(c.S.Choice.Args[name])
	return v
}

// words say what the picture shows.
func (t *tune) words() string {
	i := t.p.Fastest()
	if i < 0 {
		return "Step time by " + t.p.Name
	}
	return fmt.Sprintf("Step time by %s: fastest with %s, %s", t.p.Name, t.value(t.p.Values[i]),
		format.Duration(t.p.Points[i].StepTime))
}

func (t *tune) value(v int) string {
	if t.p.Unit == "MiB" {
		return format.Bytes(engine.Bytes(v) << 20)
	}
	return format.Count(v) + " " + t.p.Unit
}

// background draws the axis, its ends, and the values that do not fit.
func (t *tune) background(b *strings.Builder) {
	text := func(x, y float64, anchor, words string) {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, html.EscapeString(words))
	}
	from := -1
	for i, q := range t.p.Points {
		switch {
		case q != nil && q.StepTime == 0 && q.Failure != nil && from < 0:
			from = i
		case q != nil && q.StepTime > 0:
			from = -1
		}
	}
	if from >= 0 {
		x := t.x(t.p.Values[from])
		if from > 0 {
			x = (x + t.x(t.p.Values[from-1])) / 2
		}
		fmt.Fprintf(b, `<rect class="misfit" x="%.1f" y="%g" width="%.1f" height="%g"/>`, x, tuneTop-4,
			tuneWidth-tuneLeft-x, tuneBottom-tuneTop+8)
		if tuneWidth-x > 70 {
			text((x+tuneWidth)/2, (tuneTop+tuneBottom)/2+4, "middle", "does not fit")
		}
	}
	fmt.Fprintf(b, `<path class="axis-line" d="M%g %gH%g"/>`, tuneLeft, tuneBottom+4, tuneWidth-tuneLeft)
	text(tuneLeft, tuneHeight-2, "start", t.p.Name)
	text(tuneWidth-tuneLeft, tuneHeight-2, "end", t.value(t.last))
	if t.slow > 0 {
		text(tuneLeft, 12, "start", "slowest "+format.Duration(t.slow))
	}
	if i := t.p.Fastest(); i >= 0 {
		text(tuneWidth-tuneLeft, 12, "end", "fastest "+format.Duration(t.fast)+" with "+t.value(t.p.Values[i]))
	}
}

// marks draws the line of the known values, the fastest of them and the chosen one.
func (t *tune) marks(b *strings.Builder, chosen int) {
	path, pen := "", "M"
	for i, q := range t.p.Points {
		if q == nil || q.StepTime <= 0 {
			pen = "M"
			continue
		}
		path += fmt.Sprintf("%s%.1f %.1f", pen, t.x(t.p.Values[i]), t.y(q.StepTime))
		pen = "L"
	}
	fmt.Fprintf(b, `<path class="tune-line" d="%s"/>`, path)
	if i := t.p.Fastest(); i >= 0 {
		fmt.Fprintf(b, `<circle class="tune-dot" cx="%.1f" cy="%.1f" r="3.5"/>`, t.x(t.p.Values[i]),
			t.y(t.p.Points[i].StepTime))
	}
	if chosen > 0 && chosen <= t.last {
		fmt.Fprintf(b, `<path class="tune-chosen" d="M%.1f %gV%g"/>`, t.x(chosen), tuneTop-4, tuneBottom+4)
	}
}

// targets are what is clicked: a column for each value that fits.
func (t *tune) targets(b *strings.Builder) {
	for i, q := range t.p.Points {
		if q == nil || q.StepTime <= 0 {
			continue
		}
		v := t.p.Values[i]
		from, to := tuneLeft, tuneWidth-tuneLeft
		if i > 0 {
			from = (t.x(t.p.Values[i-1]) + t.x(v)) / 2
		}
		if i+1 < len(t.p.Values) {
			to = (t.x(t.p.Values[i+1]) + t.x(v)) / 2
		}
		fmt.Fprintf(b, `<rect class="tune-hit" data-do="tune" data-arg="%s" data-index="%d" x="%.1f" y="0" width="%.1f" height="%g"><title>%s: %s</title></rect>`,
			html.EscapeString(t.p.Name), v, from, max(to-from, 0), tuneHeight, t.value(v), format.Duration(q.StepTime))
	}
}
