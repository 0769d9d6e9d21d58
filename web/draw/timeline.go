package draw

import (
	"math"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

func init() {
	pictures[Timeline] = picture{name: "timeline", title: "Timeline", height: TimelineHeight(2),
		compared: TimelineHeight(2)}
	timed[Timeline] = layoutOf[*Index]{
		draw: (*Index).drawTimeline,
		overlay: func(m *Index, s *Scene, f *frame) {
			if k := m.StageOf(f.Hover); k > 0 {
				m.outlineSpans(s, f, m.ByStage[k-1], 1.5)
			}
			if x, y, w, h, ok := m.box(f, f.Hover); ok {
				s.Outline(display.StrokeOf(display.Ink, 2), x, y, w, h)
			}
			bottom, _ := m.laneBox(f, int(sim.NumLanes))
			m.drawCursor(s, f, titleLine-4, bottom, true)
			m.drawPlayhead(s, f, titleLine-8, bottom, true)
		},
		hit: (*Index).hitTimeline,
		height: func(m *Index, width float64) float64 {
			if m.OtherLanes() {
				return max(Timeline.HeightAt(width), TimelineHeight(m.CopyLanes()))
			}
			return Timeline.HeightAt(width)
		},
	}
}

func (m *Index) drawTimeline(s *Scene, f *frame) {
	s.Title = "Timeline of one training step"
	s.Desc = m.TimelineDesc()
	bottom, _ := m.laneBox(f, int(sim.NumLanes))
	m.drawPhases(s, f, 0, bottom)
	title := f.title(Timeline)
	s.AddText(display.Ink, 0, 13, title)
	for l := range m.Lanes {
		if m.runs(f, l) {
			y, h := m.laneBox(f, l)
			s.Line(display.StrokeOf(display.Grid, 1), f.left, y+h+0.5, f.right, y+h+0.5)
		}
	}
	ticks, unit := format.TimeTicks(f.From, f.To, max(int((f.right-f.left)/70), 2))
	f.drawTicks(s, ticks, unit, titleLine, bottom, bottom+11)
	for l := range m.Lanes {
		if m.runs(f, l) {
			y, h := m.laneBox(f, l)
			name := laneNames[l]
			if display.TextWidth(name) > f.left-8 {
				name = slimLaneNames[l]
			}
			s.Text(display.Muted, f.left-8, y+h/2+4, display.End, name)
		}
	}
	for l := range m.Lanes {
		if m.runs(f, l) {
			y, h := m.laneBox(f, l)
			m.drawLane(s, f, l, y, h)
		}
	}
	m.drawEnd(s, f, titleLine, bottom)
	if f.Chain {
		m.drawChain(s, f)
	}
	s.placed = append(s.placed[:0], box{0, 2, title.Width() + 4, 17})
	m.drawSelected(s, f)
	m.namePhases(s, f, 13)
}

// label is a text on a slice, collected to be drawn after all slices.
type label struct {
	x, y float64
	ink  display.Role
	text string
}

// drawLabels draws labels, grouped by colour.
func (s *Scene) drawLabels(labels []label) {
	for _, ink := range [...]display.Role{display.OnForward, display.OnRecompute, display.OnBackward,
		display.OnTransfer, display.OnFixed, display.Budget} {
		for _, l := range labels {
			if l.ink == ink {
				s.Text(ink, l.x, l.y, display.Middle, l.text)
			}
		}
	}
}

// drawLane draws the slices of a lane in a row.
func (m *Index) drawLane(s *Scene, f *frame, l int, y, h float64) {
	ln := &m.Lanes[l]
	s.clearSlices()
	var boxes rects
	var labels []label
	drawn := f.left
	marks(ln, f, func(k mark) {
		x0, x1 := math.Max(k.x0, drawn), k.x1
		if k.slice >= 0 && x1-x0 >= crispWidth {
			x0, x1 = math.Max(math.Round(x0), drawn), math.Round(x1)
			if x1 < f.right {
				x1--
			}
		}
		if x1 <= x0 {
			return
		}
		drawn = x1
		if k.kind == lookup.KindWaiting && x1-x0 < crispWidth {
			k.kind = kindSliver
		}
		if k.kind == lookup.KindWaiting && k.slice >= 0 {
			boxes.add(x0+0.5, y+0.5, x1-x0-1, h-1)
		} else {
			x0, x1 := x0, x1
			if k.slice >= 0 && ln.Ref[k.slice] >= 0 {
				x0, x1 = m.drawOwn(s, f, &m.Trace.Spans[ln.Ref[k.slice]], x0, x1, y, h)
			}
			s.slices[k.kind].add(x0, y, x1-x0, h)
		}
		if k.slice >= 0 && x1-x0 >= labelRoom {
			if lb, ok := m.label(ln, k, x0, x1); ok {
				lb.y = y + h/2 + 4
				labels = append(labels, lb)
			}
		}
	})
	if l != int(sim.Compute) {
		m.drawAsides(s, f, sim.Lane(l), y, h)
	}
	s.flushSlices()
	s.Rects(waitingBox, boxes)
	for _, lb := range labels {
		if lb.ink == display.Budget { // legible on the hatch
			w := display.TextWidth(lb.text) + 4
			s.Rect(display.FillOf(display.Surface), lb.x-w/2, lb.y-11, w, 14)
		}
	}
	s.drawLabels(labels)
}

// drawOwn draws the parts of a slice between x0 and x1 in which a stage computes results of its own again, at first,
// and in which it waits for other lanes, at last. It returns where the rest begins and ends.
func (m *Index) drawOwn(s *Scene, f *frame, sp *sim.Span, x0, x1, y, h float64) (from, to float64) {
	again, beside := m.Own(sp)
	if from, to = x0, x1; again > 0 {
		from = min(max(f.x(int64(sp.Start+again)), x0), x1)
		s.slices[sim.SpanRecompute].add(x0, y, from-x0, h)
	}
	if beside.Stall > 0 {
		to = max(min(f.x(int64(sp.End-beside.Stall)), x1), from)
		kind := lookup.KindWaiting
		if x1-to < crispWidth {
			kind = kindSliver
		}
		s.slices[kind].add(to, y, x1-to, h)
	}
	return from, to
}

// drawAsides draws what stages do in a lane beside their passes. Bars that share a pixel are drawn as one.
func (m *Index) drawAsides(s *Scene, f *frame, l sim.Lane, y, h float64) {
	kind := sim.SpanOffload
	if l == sim.CPU {
		kind = sim.SpanCPU
	}
	compute := &m.Lanes[sim.Compute]
	var x0, x1 float64
	flush := func() {
		if x1 > x0 {
			s.slices[kind].add(x0, y, x1-x0, h)
		}
	}
	for i := compute.FirstEnding(int64(f.From)); i < len(compute.Ref) && compute.From[i] < int64(f.To); i++ {
		if compute.Ref[i] < 0 {
			continue
		}
		sp := &m.Trace.Spans[compute.Ref[i]]
		_, beside := m.Own(sp)
		from, took := lookup.AsideIn(beside, l)
		if took == 0 {
			continue
		}
		a, b := max(f.clip(f.x(int64(sp.Start+from))), x1), f.clip(f.x(int64(sp.Start+from+took)))
		if a >= x1+1 {
			flush()
			x0 = a
		}
		x1 = max(x1, b)
	}
	flush()
}

// minLetters is the least length of a shortened name in bytes: a shortened "B18" would be misleading.
const minLetters = 8

// label returns the longest name of a slice that fits between x0 and x1, with y 0; ok is false if none fits.
func (m *Index) label(ln *lookup.Lane, k mark, x0, x1 float64) (label, bool) {
	room, ref := x1-x0-6, ln.Ref[k.slice]
	if ref < 0 {
		g := &m.Trace.Gaps[^ref]
		lb := label{(x0 + x1) / 2, 0, display.Budget, format.Duration(g.End - g.Start)}
		return lb, display.TextWidth(lb.text)+8 <= room
	}
	sp := &m.Trace.Spans[ref]
	ink, x := kindStyles[sp.Kind].Fill.On(), (x0+x1)/2
	if stage := m.StageOfSpan(sp); stage >= 1 && stage <= len(m.Names) {
		number := lastNumber(m.StageName(stage))
		if number == "" && m.IsBlock(stage) {
			number = strconv.Itoa(stage)
		}
		if stage > m.Count {
			number = "loss"
		}
		for _, name := range [...]string{m.StageName(stage), number} {
			if name != "" && display.TextWidth(name) <= room {
				return label{x, 0, ink, name}, true
			}
		}
		if !m.IsGraph() { // the name of the operation would not help
			return label{}, false
		}
	}
	name := m.SpanName(sp)
	if display.TextWidth(name) > room {
		name = display.Fit(name, room) // operators have long names
		return label{x, 0, ink, name}, len(name) > minLetters
	}
	return label{x, 0, ink, name}, true
}

// lastNumber returns the number at the end of a name such as block28, or the empty string for other names.
func lastNumber(name string) string {
	word := strings.TrimRight(name, "0123456789")
	if strings.ContainsAny(word, ".0123456789") {
		return ""
	}
	return name[len(word):]
}

// drawSelected outlines the selection and its stage, and draws an arrow from its cause.
func (m *Index) drawSelected(s *Scene, f *frame) {
	if !m.Valid(f.Selected) {
		return
	}
	if f.Selected.Kind == lookup.OnValue {
		m.outlineValue(s, f, engine.ValueID(f.Selected.Index))
		return
	}
	if k := m.Lit(f.Selected); k > 0 {
		m.outlineSpans(s, f, m.ByStage[k-1], 1.5)
	}
	x, y, w, h, ok := m.box(f, f.Selected)
	if !ok {
		return
	}
	if f.Selected.Kind != lookup.OnGap {
		s.Outline(display.StrokeOf(display.Ink, 2), x, y, w, h)
	} else {
		s.Outline(display.StrokeOf(display.Waiting, 2), x-1, y-1, w+2, h+2)
	}
	cause := m.Cause(f.Selected)
	if cx, cy, cw, ch, ok := m.box(f, cause); ok && cy != y {
		target := x
		if f.Selected.Kind == lookup.OnGap {
			target = x + w
		}
		arrow(s, cx+cw, cy, ch, target, y, h)
	}
	m.nameWait(s, f)
}

// arrow draws an arrow from the end of a cause at (cx, cy), of height ch, to the point tx of its
// effect, which is at ty with height th on another lane.
func arrow(s *Scene, cx, cy, ch, tx, ty, th float64) {
	from, to, dir := cy, ty+th, -1.0 // upwards
	if cy < ty {
		from, to, dir = cy+ch, ty, 1
	}
	// A cubic curve that bends to the left, so that it is visible if both ends have the same x.
	bend := math.Min(16, math.Abs(to-from)/2)
	xs := [4]float64{cx, cx - bend, tx - bend, tx}
	ys := [4]float64{from, from + (to-from)*0.35, to - (to-from)*0.35, to - dir*5}
	const steps = 12
	var xy [2 * (steps + 1)]float64
	for i := 0; i <= steps; i++ {
		u := float64(i) / steps
		v := 1 - u
		xy[2*i] = v*v*v*xs[0] + 3*v*v*u*xs[1] + 3*v*u*u*xs[2] + u*u*u*xs[3]
		xy[2*i+1] = v*v*v*ys[0] + 3*v*v*u*ys[1] + 3*v*u*u*ys[2] + u*u*u*ys[3]
	}
	s.Path(display.OpLine, display.StrokeOf(display.Waiting, 1.6), xy[:])
	s.Area(display.FillOf(display.Waiting), tx, to, tx-4, to-dir*7, tx+4, to-dir*7)
}

func (m *Index) hitTimeline(f *frame, x, y float64) lookup.Target {
	if x < f.left-reach || x > f.right+reach {
		return lookup.Target{}
	}
	if f.Playhead > 0 && y < titleLine && math.Abs(x-f.x(int64(f.Playhead))) <= 2*reach {
		return lookup.Target{Kind: lookup.OnPlayhead, Index: 0}
	}
	for l := range m.Lanes {
		if top, h := m.laneBox(f, l); m.runs(f, l) && y >= top && y < top+h {
			if i := nearest(&m.Lanes[l], f, x); i >= 0 {
				return lookup.TargetOf(m.Lanes[l].Ref[i])
			}
			return m.hitAside(f, sim.Lane(l), x)
		}
	}
	return lookup.Target{}
}

// hitAside returns the run beside which a stage does what is drawn at x in a lane.
func (m *Index) hitAside(f *frame, l sim.Lane, x float64) lookup.Target {
	compute := &m.Lanes[sim.Compute]
	at := f.time(x)
	if i := compute.At(int64(at)); i >= 0 && compute.Ref[i] >= 0 {
		sp := &m.Trace.Spans[compute.Ref[i]]
		_, beside := m.Own(sp)
		if from, took := lookup.AsideIn(beside, l); at >= sp.Start+from && at < sp.Start+from+took {
			return lookup.TargetOf(compute.Ref[i])
		}
	}
	return lookup.Target{}
}

// nearest returns the index of the slice of a lane that is nearest to x within reach, or -1 if there is none.
func nearest(l *lookup.Lane, f *frame, x float64) int {
	t := int64(f.time(x))
	if i := l.At(t); i >= 0 {
		return i
	}
	best, dist := -1, reach
	next := l.FirstEnding(t)
	for _, i := range [...]int{next - 1, next} {
		if i < 0 || i >= len(l.From) {
			continue
		}
		if d := math.Max(f.x(l.From[i])-x, x-f.x(l.To[i])); d <= dist {
			best, dist = i, d
		}
	}
	return best
}

// mark is a slice on the screen, or the merger of several slices that are narrower than a pixel.
type mark struct {
	x0, x1 float64
	kind   uint8
	slice  int // index into the lane, -1 for merged slices
}

const (
	crispWidth  = 4.0 // slices of at least this width are aligned to pixels, with a space to the next one
	lonelySpace = 3.0 // a merged mark with this distance from others is drawn one pixel wide to be visible
)

// marks calls emit with the marks of a lane, from left to right. Each slice that is at least a pixel wide is a mark.
// The others are merged by pixel column: those that start in a column become one mark, as wide as their total time, of
// the kind that has most of the time (the smaller kind of equals). A lane that is half busy therefore looks half busy
// at every zoom. Adjacent merged marks of one kind are joined. There are at most two marks per column.
func marks(l *lookup.Lane, f *frame, emit func(mark)) {
	from, to := int64(f.From), int64(f.To)
	pending := mark{slice: -1, x0: f.left, x1: f.left - 1} // a merged mark that may grow; x1 < x0: none
	flush := func() {
		if pending.x1 > pending.x0 {
			emit(pending)
		}
		pending.x1 = pending.x0 - 1
	}
	drawn := math.Inf(-1) // the end of the last mark
	for i := l.FirstEnding(from); i < len(l.From) && l.From[i] < to; {
		x0, x1 := f.clip(f.x(l.From[i])), f.clip(f.x(l.To[i]))
		if x1-x0 >= 1 {
			flush()
			emit(mark{x0, x1, l.Kind[i], i})
			drawn = x1
			i++
			continue
		}
		j := l.FirstStarting(i+1, min(f.ceilTime(math.Floor(x0)+1), to))
		// Only the last slice of a column can be wide.
		if j > i+1 && f.clip(f.x(l.To[j-1]))-f.clip(f.x(l.From[j-1])) >= 1 {
			j--
		}
		m := merge(l, f, i, j, x0)
		i = j
		if m.x1 <= m.x0 {
			continue // only runs without duration
		}
		if m.x1-m.x0 < 1 && m.x0-drawn > lonelySpace && m.x0+1 <= f.right &&
			(j == len(l.From) || f.x(l.From[j])-m.x1 > lonelySpace) {
			m.x1 = m.x0 + 1
		}
		drawn = m.x1
		if pending.x1 > pending.x0 && pending.kind == m.kind && m.x0-pending.x1 < 0.05 {
			pending.x1 = m.x1
			continue
		}
		flush()
		pending = m
	}
	flush()
}

// merge returns one mark for slices [i, j), which start at x0.
func merge(l *lookup.Lane, f *frame, i, j int, x0 float64) mark {
	busy := l.BusyIn(i, j)
	// Time outside of the view does not count.
	if before := int64(f.From) - l.From[i]; before > 0 {
		busy[l.Kind[i]] -= before
	}
	if after := l.To[j-1] - int64(f.To); after > 0 {
		busy[l.Kind[j-1]] -= after
	}
	var total int64
	kind := uint8(0)
	for k, b := range busy {
		total += b
		if b > busy[kind] {
			kind = uint8(k)
		}
	}
	x1 := math.Min(x0+float64(total)*f.scale, f.clip(f.x(l.To[j-1])))
	return mark{x0, x1, kind, -1}
}
