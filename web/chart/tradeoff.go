package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"memtide/engine"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/tradeoff"
)

// Margins of the plot in CSS pixels; the left one may be larger, see Plot.left.
const (
	left   = 44.0
	right  = 14.0
	top    = 18.0
	bottom = 26.0
)

// slowest is the largest slowdown on the axis, 65 % of the best rate, unless what is shown
// is slower. Slower schedules are not useful, and would flatten the rest of the curve.
const slowest = 1 / 0.65

// layBudgets sets the ends of the horizontal axis: a little below the smallest plan and a
// little beyond keeping everything, extended to the budget and what is shown.
func (p *Plot) layBudgets(r tradeoff.Range) {
	from, to := r.From, r.To
	if p.Fits > 0 {
		from = p.Fits
	}
	if p.KeepAll.Budget > from {
		to = p.KeepAll.Budget
	}
	room := (to - from) / 12
	p.From, p.To = from-room, to+to/100*6
	for _, b := range []engine.Bytes{p.Budget, p.Now.Budget} {
		if b > 0 && b <= to/2*3 { // but not to much more than keeping everything needs
			p.From, p.To = min(p.From, b-room/2), max(p.To, b+room/2)
		}
	}
	for _, x := range p.Spots {
		if x.Fits {
			p.From = min(p.From, x.At.Budget-room/2)
		}
	}
	p.From = max(p.From, 0)
}

// least returns the smallest budget for which a plan or a policy is known. The parameter plan is the smallest budget of
// a plan; a policy with block swap can need less.
func (p *Plot) least(plan engine.Bytes) engine.Bytes {
	for _, x := range p.Spots {
		plan = min(plan, x.At.Budget)
	}
	return plan
}

// layAxis sets the ends of the vertical axis.
func (p *Plot) layAxis() {
	if p.KeepAll.StepTime <= 0 {
		p.Axis = tradeoff.Slowdown
	}
	low, high, limit := 1.0, 1.1, max(slowest, 1.02*p.slowdown(p.Now.StepTime))
	if p.Bound > 0 {
		low = min(low, p.slowdown(p.Bound))
	}
	for i := range p.Spots {
		x := &p.Spots[i]
		if at := p.slowdown(x.At.StepTime); p.within(x) && at <= limit {
			low, high = min(low, at), max(high, at)
		}
	}
	for _, l := range p.Lines {
		for _, pt := range l.Points {
			high = max(high, p.slowdown(pt.StepTime))
		}
	}
	high = max(high, p.slowdown(p.Now.StepTime))
	cut := high > limit
	high = min(high, limit)
	if p.Other.StepTime > 0 { // always on the axis
		low, high = min(low, p.slowdown(p.Other.StepTime)), max(high, p.slowdown(p.Other.StepTime))
	}
	p.Most = high
	if !cut {
		p.Most = low + (high-low)*1.12 // room for labels
	}
	p.Least = low - (p.Most-low)*0.11
	if p.Axis == tradeoff.Throughput { // room as a share of the rates on the axis, which stays above 0
		p.Least = 1 / (1/low + (1/low-1/p.Most)*0.14)
	}
	p.Low, p.Top = p.onAxis(p.Least), p.onAxis(p.Most)
	if p.Axis == tradeoff.Throughput {
		p.Low, p.Top = p.Top, p.Low
	}
	if p.Other.StepTime > 0 {
		at, room := p.onAxis(p.slowdown(p.Other.StepTime)), (p.Top-p.Low)*0.06
		p.Low, p.Top = min(p.Low, at-room), max(p.Top, at+room)
	}
	p.wide = p.labelWidth()
}

// labelWidth estimates the width of the longest label of the vertical axis, with its distance from the axis, in CSS
// pixels. If a label did not fit, the chart library would move the axis, and the geometry of the Plot would be wrong.
func (p *Plot) labelWidth() float64 {
	chars := len([]rune(p.format())) - len("{value}")
	digits := len(strconv.FormatFloat(math.Floor(max(p.Top, 1)), 'f', 0, 64))
	chars += digits + (digits-1)/3
	if decimals := -math.Floor(math.Log10((p.Top - p.Low) / 4)); decimals > 0 {
		chars += 1 + int(decimals)
	}
	return 10 + 6.5*float64(chars)
}

// left returns the left edge of the plot.
func (p *Plot) left() float64 { return max(left, p.wide) }

// onAxis returns a slowdown in the unit of the vertical axis.
func (p *Plot) onAxis(slowdown float64) float64 {
	switch p.Axis {
	case tradeoff.StepTime:
		unit, _ := p.timeUnit()
		return slowdown * float64(p.KeepAll.StepTime) / float64(unit)
	case tradeoff.Throughput:
		return float64(max(p.Batch, 1)) / (slowdown * p.KeepAll.StepTime.Seconds())
	}
	return slowdown
}

// timeUnit returns the unit of an axis of step times, and its name.
func (p *Plot) timeUnit() (time.Duration, string) {
	switch at := p.KeepAll.StepTime; {
	case at >= time.Second:
		return time.Second, "s"
	case at >= time.Millisecond:
		return time.Millisecond, "ms"
	}
	return time.Microsecond, "µs"
}

// format returns the template of the labels of the vertical axis.
func (p *Plot) format() string {
	switch p.Axis {
	case tradeoff.StepTime:
		_, name := p.timeUnit()
		return "{value} " + name
	case tradeoff.Throughput:
		return "{value}/s"
	}
	return "×{value}"
}

// slowdown returns a step time relative to that of keeping everything, or 1 if that is not known.
func (p *Plot) slowdown(d time.Duration) float64 {
	if p.KeepAll.StepTime <= 0 {
		return 1
	}
	return float64(d) / float64(p.KeepAll.StepTime)
}

// inside returns the part of a line within the plot, from its largest budget to its
// smallest. It cuts a line off at the slow edge.
func (p *Plot) inside(l *tradeoff.Line) []tradeoff.LinePoint {
	out := make([]tradeoff.LinePoint, 0, len(l.Points)+1)
	edge := time.Duration(p.Most * float64(p.KeepAll.StepTime))
	for _, pt := range slices.Backward(l.Points) {
		if p.slowdown(pt.StepTime) > p.Most {
			if n := len(out); n > 0 {
				out = append(out, tradeoff.LinePoint{Budget: out[n-1].Budget, StepTime: edge})
			}
			break
		}
		out = append(out, pt)
	}
	return out
}

// X returns the x coordinate of a budget, in CSS pixels from the left.
func (p *Plot) X(b engine.Bytes) float64 {
	return p.left() + (p.Width-p.left()-right)*float64(b-p.From)/float64(max(p.To-p.From, 1))
}

// Y returns the y coordinate of a step time, in CSS pixels from the top.
func (p *Plot) Y(d time.Duration) float64 {
	return top + (p.Height-top-bottom)*(p.Top-p.onAxis(p.slowdown(d)))/(p.Top-p.Low)
}

// Words returns the name and the numbers of a point of the curve, or the empty string if there is no such point.
func (p *Plot) Words(at tradeoff.Point) string {
	for _, l := range p.Lines {
		i := slices.IndexFunc(l.Points, func(pt tradeoff.LinePoint) bool { return pt.Budget == at.Budget })
		if i < 0 || l.Method.Strategy != at.Strategy {
			continue
		}
		pt, in := l.Points[i], "in "
		if p.Card {
			in = "where a plan may use "
		}
		words := fmt.Sprintf("%s\n%s per step %s%s, %s", l.Title, format.Duration(pt.StepTime), in,
			format.Bytes(pt.Budget), format.Ratio(p.slowdown(pt.StepTime)))
		if p.Batch > 0 {
			words += ", " + format.Throughput(p.Batch, p.Unit, pt.StepTime)
		}
		if pt.Partial > 0 {
			words += fmt.Sprintf("\nBest found in %s; click for a full search.", format.Duration(pt.Partial))
		}
		return words
	}
	return ""
}

// BudgetAt returns the budget at an x coordinate, the inverse of X.
func (p *Plot) BudgetAt(x float64) engine.Bytes {
	share := (x - p.left()) / max(p.Width-p.left()-right, 1)
	return p.From + engine.Bytes(share*float64(p.To-p.From))
}

// reach is the largest distance of the pointer from a line, in CSS pixels.
const reach = 28.0

// Nearest returns the point of the curve that is nearest to (x, y). Within a line the
// distance in budget counts, because lines are steps; between lines the vertical distance counts.
func (p *Plot) Nearest(x, y float64) (tradeoff.Point, bool) {
	if x < p.left()-4 || x > p.Width-right+4 || y < top-8 || y > p.Height-bottom+4 { // among the labels
		return tradeoff.Point{}, false
	}
	best, found := math.Inf(1), tradeoff.Point{}
	for _, l := range p.Lines {
		i, dx := 0, math.Inf(1)
		for j, pt := range l.Points {
			if d := math.Abs(p.X(pt.Budget) - x); d < dx {
				i, dx = j, d
			}
		}
		pt := l.Points[i]
		d := math.Abs(p.Y(pt.StepTime)-y) + max(dx-reach, 0)*4
		if l.Method.Strategy == p.Chosen {
			d -= 0.5 // prefer the chosen line to one that it covers
		}
		if d < best {
			best, found = d, tradeoff.Point{Strategy: l.Method.Strategy, Args: l.Method.Args, Budget: pt.Budget}
		}
	}
	return found, best <= reach
}

// showsDevice reports whether the line of the device's memory is in the plot.
func (p *Plot) showsDevice() bool { return p.Device > p.From && p.Device < p.To }

// value returns the coordinates of a point on both axes.
func (p *Plot) value(pt tradeoff.LinePoint, unit float64) [2]float64 {
	return [2]float64{float64(p.Memory(pt.Budget)) / unit, p.onAxis(p.slowdown(pt.StepTime))}
}

// unreserved returns the budget for which a card needs the given memory, the inverse of Choice.Reserved.
func (p *Plot) unreserved(card engine.Bytes) engine.Bytes {
	whole := choice.Reserved(100*engine.GiB) - choice.Context
	return engine.Bytes(float64(max(card-p.Context, 0)) / float64(whole) * float64(100*engine.GiB))
}

// Memory returns the value of the horizontal axis at a budget: the memory that a card needs for it, if there is a card.
func (p *Plot) Memory(b engine.Bytes) engine.Bytes {
	if p.Card {
		return choice.Reserved(b) - choice.Context + p.Context
	}
	return b
}

// within reports whether the budget of a policy is on the horizontal axis.
func (p *Plot) within(x *Spot) bool { return x.At.Budget > p.From && x.At.Budget < p.To }

// drawn reports whether a policy is in the plot.
func (p *Plot) drawn(x *Spot) bool { return p.within(x) && p.slowdown(x.At.StepTime) <= p.Most }
