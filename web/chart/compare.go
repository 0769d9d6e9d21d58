package chart

import (
	"fmt"
	"math"
	"time"

	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/tradeoff"
)

// anotherName follows the letter of a side with another network.
const anotherName = ", another network"

// measure sets the place and the note of a schedule of another network by its own measure on the
// axis of this one. own is its step time when everything is kept, or 0 if that is not known.
func (b *Beside) measure(s *state.State, own time.Duration, unit string, batch int) {
	all, axis, missing := s.KeepAll().StepTime, s.View.Axis, ""
	share := 1.0
	switch {
	case all <= 0:
		missing = "the step time of keeping everything is not known yet"
	case axis == tradeoff.StepTime:
		b.Note = "its own step time"
	case axis == tradeoff.Throughput:
		b.Note = "its own throughput"
		switch here, n := known.Trained(s.Choice, s.Network); {
		case n > 0 && batch > 0 && here != unit:
			missing = "it trains with " + unit + " and this one with " + here
		case n > 0 && batch > 0:
			share = float64(n) / float64(batch)
		case n > 0:
			missing = "its batch size is not known, so it has no samples per second"
		}
	case own <= 0:
		missing = "its step time of keeping everything is not known"
	default:
		b.Note, share = "its slowdown against its own step time of keeping everything", float64(all)/float64(own)
	}
	if missing != "" {
		b.At = tradeoff.LinePoint{}
		b.Note = fmt.Sprintf("%s is another network and not in the chart: %s.", b.Letter, missing)
		return
	}
	b.At.StepTime = max(time.Duration(share*float64(b.At.StepTime)), 1)
	b.Note = fmt.Sprintf("%s is another network, at %s.", b.Letter, b.Note)
}

// compare sets the other side of a comparison, and extends the axis of budgets to include it.
func (p *Plot) compare(s *state.State) {
	p.Letters[0], p.Letters[1] = s.Letters()
	b := OtherSide(s)
	if b == nil || b.At.StepTime <= 0 {
		return
	}
	p.Other, p.Another = b.At, b.Another
	room := (max(p.To, p.Other.Budget) - min(p.From, p.Other.Budget)) / 24
	p.From, p.To = max(min(p.From, p.Other.Budget-room), 0), max(p.To, p.Other.Budget+room)
}

// OtherAt reports whether a point is at the dot of another network's schedule.
func (p *Plot) OtherAt(x, y float64) bool {
	const radius = 10
	return p.Another && math.Hypot(p.X(p.Other.Budget)-x, p.Y(p.Other.StepTime)-y) <= radius
}

// besideName returns the label of the other side's dot.
func (p *Plot) besideName() string {
	if p.Another {
		return p.Letters[1] + anotherName
	}
	return p.Letters[1]
}

// otherRight reports whether the label of the other side's dot has room on its right.
func (p *Plot) otherRight() bool {
	return !p.Another || p.X(p.Other.Budget)+8+nameWidth(p.besideName()) < p.Width
}

func (p *Plot) letterRects() (out []rect) {
	add := func(at tradeoff.LinePoint, name string, onRight bool) {
		if at.StepTime <= 0 || name == "" {
			return
		}
		x, y, width := p.X(at.Budget)+7, p.Y(at.StepTime), nameWidth(name)
		if !onRight {
			x -= 14 + width
		}
		out = append(out, rect{x, y - labelHeight/2, x + width, y + labelHeight/2})
	}
	add(p.Now, p.Letters[0], false)
	add(p.Other, p.besideName(), p.otherRight())
	return out
}

// letterLabel returns the label of a side's dot, or nil without a comparison. The labels of both sides are on different
// sides of their dots, which may be at the same place. Only the long label of another network is where there is room.
func (p *Plot) letterLabel(dot string, look Look) node {
	name, position := p.Letters[0], "left"
	if dot == otherName {
		name = p.besideName()
		if p.otherRight() {
			position = "right"
		}
	}
	if name == "" {
		return nil
	}
	n := look.words(name, display.Ink, 12)
	n["position"], n["fontWeight"] = position, 600
	return n
}

// OtherSide returns the other side of a comparison, or nil without one or while it has no schedule.
func OtherSide(s *state.State) *Beside {
	if s.Compare == nil || s.Compare.Other.Shown == nil || s.Network == nil {
		return nil
	}
	o := s.Compare.Other.Shown
	_, letter := s.Letters()
	step := o.Solved.Trace.Makespan
	b := &Beside{Letter: letter, Another: o.Network != s.Network,
		At:    tradeoff.LinePoint{Budget: o.Solved.Budget, StepTime: step},
		Words: format.Duration(step) + " per step in " + format.Bytes(o.Solved.Budget)}
	own := o.Solved.KeepAll.StepTime
	if own > 0 {
		b.Words += ", " + format.Ratio(float64(step)/float64(own))
		if b.Another {
			b.Words += " against its own " + format.Duration(own)
		}
	}
	unit, n := known.Trained(o.Choice, o.Network)
	if n > 0 {
		b.Words += ", " + format.Throughput(n, unit, step)
	}
	if b.Another {
		b.measure(s, own, unit, n)
	}
	return b
}
