package chart

import (
	"math"
	"slices"
	"sort"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/tradeoff"
)

// label is the position of the name of a line relative to the end of the line, in CSS pixels; up is positive. A line
// has no label if no place is clearly beside it. The table of plans names every line, and so does pointing at it.
type label struct {
	x, y  float64
	left  bool // the text ends at x instead of beginning there
	shown bool
	box   rect    // rectangle of the text
	lines float64 // pixels of lines behind the text
}

// place is a point of the plot in CSS pixels.
type place struct{ x, y float64 }

// ends returns the ends of the lines.
func (p *Plot) ends() []named {
	out := make([]named, 0, len(p.Lines))
	for i := range p.Lines {
		l, pts := &p.Lines[i], p.inside(&p.Lines[i])
		e := named{name: l.Title, chosen: l.Method.Strategy == p.Chosen, gone: len(pts) == 0}
		if !e.gone {
			last := pts[len(pts)-1]
			e.x, e.y = p.X(last.Budget), p.Y(last.StepTime)
		}
		out = append(out, e)
	}
	return out
}

// labels places the names of the lines. A name is beside its line, as near to the end as possible, where no other line
// is nearer, covers no other name and as little of the lines as possible. The chosen strategy's name is placed first.
func (p *Plot) labels() []label {
	ends := p.ends()
	order := make([]int, len(ends))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { // the chosen one first, then from the bottom up
		a, b := &ends[order[i]], &ends[order[j]]
		return a.chosen && !b.chosen || a.chosen == b.chosen && a.y > b.y
	})
	out := make([]label, len(ends))
	if p.Width < roomForLabels {
		return out
	}
	lines, taken := p.strokes(), p.marked(nil)
	for _, i := range order {
		e := ends[i]
		if e.gone {
			continue
		}
		if at := p.place(e, i, lines, taken); at.shown && (e.chosen || at.lines <= touchLimit) {
			taken = append(taken, at.box)
			out[i] = at
		}
	}
	return out
}

// Costs of places for names, in CSS pixels of distance from the line.
const (
	alongCosts  = 0.03 // for each pixel along the line from its end
	nearCosts   = 0.8  // for each pixel by which another line is nearer than room
	room        = 16.0
	rightCosts  = 2.0  // right of the point of the line, where lines continue
	acrossCosts = 6.0  // across the end of the line
	touchCosts  = 4.0  // for each pixel of the line behind the name
	touchLimit  = 14.0 // the most pixels behind a name; otherwise it is left out
)

// Positions of names relative to their lines, in CSS pixels.
const (
	beside     = 3.0               // horizontal space between the name and the line
	clearance  = 1.5               // the least distance from all other lines, including uprights
	placeEvery = 12.0              // distance of the points along the line that are tried
	mostAlong  = 720.0             // the farthest of these points
	labelAway  = labelHeight/2 + 6 // the farthest position above and below a point
)

// place returns the best label for line i, whose end is e: left or right of a point of the line, above or below it.
func (p *Plot) place(e named, i int, lines []stroke, taken []rect) (best label) {
	width, cost := nameWidth(e.name)-2*beside, math.Inf(1)
	var near []stroke
	for k, at := range p.along(e, i, lines) {
		base := float64(k) * placeEvery * alongCosts
		if base >= cost {
			break
		}
		reach := rect{at.x - width - beside, at.y - labelAway, at.x + width + beside, at.y + labelAway}.widened(room)
		near = near[:0]
		for _, s := range lines {
			if reach.meets(s.around().widened(1)) {
				near = append(near, s)
			}
		}
		for _, onLeft := range [2]bool{true, false} {
			for step := -labelAway; step <= labelAway; step += 2 {
				l := p.candidate(e, at, step, onLeft, width)
				c := base + math.Abs(step)
				switch {
				case !onLeft:
					c += rightCosts
				case k > 0 && l.box.x0 < e.x:
					c += acrossCosts
				}
				if c >= cost || !l.shown || slices.ContainsFunc(taken, l.box.meets) {
					continue
				}
				behind, next, ok := l.box.alone(i, near)
				if !ok {
					continue
				}
				if c += touchCosts*behind + nearCosts*max(0, room-next); c < cost {
					l.lines, best, cost = behind, l, c
				}
			}
		}
	}
	return best
}

// candidate returns a label beside a point; it is not shown if it leaves the plot.
func (p *Plot) candidate(e named, at place, step float64, onLeft bool, width float64) label {
	x, y := at.x+beside, at.y+step
	l := label{at.x + beside - e.x, e.y - y, onLeft, true, rect{x, y - labelHeight/2, x + width, y + labelHeight/2}, 0}
	if onLeft {
		l.x -= 2 * beside
		l.box.x0, l.box.x1 = at.x-beside-width, at.x-beside
	}
	l.shown = l.box.x0 >= p.left()+2 && l.box.x1+2 <= p.Width && l.box.y0 >= top && l.box.y1 <= p.Height-bottom
	return l
}

// alone reports in ok whether no line other than i is within the rectangle of a name or nearer to it than line i.
// behind is how many pixels of line i are behind the name, next the distance of the nearest other line.
func (r rect) alone(i int, near []stroke) (behind, next float64, ok bool) {
	own := math.Inf(1)
	next = math.Inf(1)
	for _, s := range near {
		if s.of == i {
			own = min(own, r.gap(s.rect))
		}
	}
	own = max(own, clearance)
	for _, s := range near {
		if s.of == i {
			behind += r.holds(s.rect)
			continue
		}
		gap := r.gap(s.rect)
		if gap < clearance || gap < own && s.of != noLine {
			return 0, 0, false
		}
		if s.of != noLine {
			next = min(next, gap)
		}
	}
	return behind, next, true
}

// along returns points of line i at equal distances, from its end on.
func (p *Plot) along(e named, i int, lines []stroke) []place {
	out, way := []place{{e.x, e.y}}, 0.0
	for _, s := range slices.Backward(lines) { // the last stroke of a line is at its end
		if s.of != i {
			continue
		}
		length := math.Hypot(s.x1-s.x0, s.y1-s.y0)
		for next := float64(len(out)) * placeEvery; next <= way+length && next <= mostAlong; next += placeEvery {
			share := (next - way) / length
			out = append(out, place{s.x1 + share*(s.x0-s.x1), s.y1 + share*(s.y0-s.y1)})
		}
		way += length
	}
	return out
}

// marked returns the rectangles of labels, and of all dots and texts that have fixed places.
func (p *Plot) marked(labels []label) (out []rect) {
	for _, l := range labels {
		if l.shown {
			out = append(out, l.box)
		}
	}
	for _, at := range []tradeoff.LinePoint{p.KeepAll, p.Now, p.Other} {
		if at.StepTime > 0 {
			x, y := p.X(at.Budget), p.Y(at.StepTime)
			out = append(out, rect{x - 7, y - 7, x + 7, y + 7})
		}
	}
	if at := p.keepAllPlace(); at.shown {
		out = append(out, at.box)
	}
	if r, ok := p.shownRect(); ok {
		out = append(out, r)
	}
	for i := range p.Spots {
		if x := &p.Spots[i]; p.drawn(x) {
			out = append(out, p.spotRect(x))
		}
	}
	if y := p.Y(p.Bound); p.Bound > 0 {
		out = append(out, rect{p.left(), y - labelHeight - 4, p.left() + nameWidth(boundName), y})
	}
	region := func(from, to engine.Bytes, width float64) {
		x, y := (p.X(from)+p.X(to))/2, p.Height-bottom
		out = append(out, rect{x - width/2, y - 2*labelHeight, x + width/2, y})
	}
	if p.unfit() {
		region(p.From, p.Fits, unfitWidth)
	}
	if p.beyond() {
		region(p.Device, p.To, beyondWidth)
	}
	return append(out, p.letterRects()...)
}

// endLabel returns the option of a label at the end of a line.
func endLabel(at label, name string, look Look, r display.Role) node {
	align := "left"
	if at.left {
		align = "right"
	}
	n := look.words(name, r, 11)
	n["align"], n["verticalAlign"], n["distance"] = align, "middle", 0
	n["offset"] = []float64{math.Round(at.x), math.Round(-at.y)}
	return n
}
