package step

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/profiles/llm"
	"memtide/web/format"
)

// The size of the picture and its margins, in units of the SVG.
const (
	curveWide, curveHigh                         = 380.0, 236.0
	curveLeft, curveRight, curveTop, curveBottom = 58.0, 10.0, 50.0, 36.0
)

// axes are the ranges of a picture: low to high in bytes with the context, fast to slow in time.
type axes struct {
	context    engine.Bytes
	low, high  engine.Bytes
	fast, slow time.Duration
}

// curve returns a picture of step time over the memory that a card needs, as SVG: a line for the results of each
// strategy and a dot for each policy. It is empty if there are no lines.
func curve(p *llm.Answer) string {
	if len(p.Curves) == 0 {
		return ""
	}
	a := axes{context: p.Ask.Context, low: math.MaxInt64, fast: math.MaxInt64}
	for _, c := range p.Curves {
		for _, s := range c.Spots {
			a.hold(s.Reserved, s.Time)
		}
	}
	for _, c := range p.Policies {
		a.hold(c.Estimate.High, c.Estimate.Time)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="The time of a step over what a card has to have: lines of what strategies find, a dot for each policy">`, curveWide, curveHigh)
	a.frame(&b, p.Ask.Card.Memory)
	for i, c := range p.Curves {
		a.line(&b, c, i)
	}
	fmt.Fprintf(&b, `<circle class="turn-fits" cx="%g" cy="%g" r="4"/>`, curveLeft+8, legendY(len(p.Curves))-3.5)
	legend(&b, len(p.Curves), "a policy each")
	for _, c := range p.Policies {
		if e := c.Estimate; c.Method == "" {
			title := fmt.Sprintf("%s: %s, %s", c.Names[0], format.Bytes(e.High+a.context),
				format.Duration(e.Time))
			fmt.Fprintf(&b, `<circle class="turn-%s" cx="%.1f" cy="%.1f" r="4"><title>%s</title></circle>`,
				fits[e.Verdict], a.x(e.High+a.context), a.y(e.Time), html.EscapeString(title))
		}
	}
	return b.String() + "</svg>"
}

func (a *axes) hold(n engine.Bytes, t time.Duration) {
	a.low, a.high = min(a.low, n+a.context), max(a.high, n+a.context)
	a.fast, a.slow = min(a.fast, t), max(a.slow, t)
}

func (a *axes) x(n engine.Bytes) float64 {
	return curveLeft + (curveWide-curveLeft-curveRight)*float64(n-a.low)/float64(max(a.high-a.low, 1))
}

func (a *axes) y(t time.Duration) float64 {
	return curveTop + (curveHigh-curveTop-curveBottom)*float64(a.slow-t)/float64(max(a.slow-a.fast, 1))
}

// frame draws the axes with the ends of their ranges, and a mark at the memory of the card.
func (a *axes) frame(b *strings.Builder, card engine.Bytes) {
	bottom := curveHigh - curveBottom + 8
	fmt.Fprintf(b, `<path d="M%g %gV%gH%g"/>`, curveLeft-8, curveTop-6, bottom, curveWide)
	label := func(anchor string, x, y float64, words string) {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, html.EscapeString(words))
	}
	label("end", curveLeft-12, a.y(a.slow)+4, format.Duration(a.slow))
	label("end", curveLeft-12, a.y(a.fast)+4, format.Duration(a.fast))
	label("start", a.x(a.low), bottom+12, format.Bytes(a.low))
	label("end", a.x(a.high), bottom+12, format.Bytes(a.high))
	if x := a.x(card); card > a.low && card < a.high {
		fmt.Fprintf(b, `<path class="bar-mark" d="M%.1f %gV%g"/>`, x, curveTop-6, bottom)
		label("middle", x, bottom+24, "card "+format.Bytes(card))
	}
}

// line draws the curve c and its entry in the legend, the i-th one.
func (a *axes) line(b *strings.Builder, c llm.Curve, i int) {
	style := "recomputes"
	if c.Class&engine.MayOffload != 0 {
		style = "moves"
	}
	fmt.Fprintf(b, `<path class="%s" d="`, style)
	for k, s := range c.Spots {
		step := "L"
		if k == 0 {
			step = "M"
		}
		fmt.Fprintf(b, "%s%.1f %.1f", step, a.x(s.Reserved+a.context), a.y(s.Time))
	}
	fmt.Fprintf(b, `"/><path class="%s" d="M%g %gh16"/>`, style, curveLeft, legendY(i)-3.5)
	legend(b, i, c.Title)
}

// legendY returns the baseline of entry i of the legend.
func legendY(i int) float64 { return 11 + 14*float64(i) }

func legend(b *strings.Builder, i int, words string) {
	fmt.Fprintf(b, `<text x="%g" y="%g">%s</text>`, curveLeft+22, legendY(i), words)
}

// Sizes of the small picture of a schedule, in units of the SVG, whose width the page stretches.
const (
	lanesWide = 1000
	laneHigh  = 4
	mostLanes = 16 // of more ranks only every second, fourth, ... has a lane
	leastRun  = 4  // adjacent passes are joined until they are as wide
)

// laneClasses are the colours of passes by kind: 0 for forwards, 1 for backwards, 2 for backwards of the weights.
var laneClasses = map[pipeline.Kind]int{pipeline.Backward: 1, pipeline.Inputs: 1, pipeline.Weights: 2}

// lanes returns a small picture of when the ranks of a pipeline work, as SVG with a lane for each rank. The axis ends
// at longest, the longest of the compared steps, and a line marks taken, the end of the chosen step. The first third of
// a joined pass is drawn as its forward.
func lanes(t *pipeline.Trace, taken, longest time.Duration) string {
	every := 1
	for len(t.Ranks) > mostLanes*every {
		every *= 2
	}
	at := func(d time.Duration) int { return int(float64(d) * lanesWide / float64(max(longest, 1))) }
	var paths [3]strings.Builder
	n := 0
	for r := 0; r < len(t.Ranks); r += every {
		y := n*laneHigh + laneHigh/2
		n++
		class, from, to := 0, 0, 0
		flush := func() {
			if to > from {
				fmt.Fprintf(&paths[class], "M%d %dh%d", from, y, to-from)
			}
		}
		for i, x := range t.Ranks[r] {
			kind, start, end := laneClasses[x.Kind], at(x.Start), at(x.End)
			switch third := at(x.Start + (x.End-x.Start)/3); {
			case x.Joined:
				end = third
			case i > 0 && t.Ranks[r][i-1].Joined:
				start = third
			}
			if to > 0 && start <= to && (kind == class || to-from < leastRun) {
				to = max(to, end)
				continue
			}
			flush()
			class, from, to = kind, start, end
		}
		flush()
	}
	high := n * laneHigh
	return fmt.Sprintf(`<svg class="lanes" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true"><path class="f" d="%s"/><path class="b" d="%s"/><path class="w" d="%s"/><path class="bar-mark" d="M%d 0V%d"/></svg>`,
		lanesWide, high, &paths[0], &paths[1], &paths[2], at(taken)-1, high)
}
