package chart

import (
	"math"
	"slices"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/tradeoff"
)

// marks sets the lines of the budget and of the device's memory, and the regions in which
// nothing fits and beyond the device's memory.
func (p *Plot) marks(s node, look Look, unit float64) node {
	set(s, float64(p.Memory(p.Budget))/unit, "markLine", "data", "0", "xAxis")
	set(s, 12, "markLine", "precision") // otherwise the library rounds to two decimals
	set(s, "plan may use "+format.Bytes(p.Budget), "markLine", "label", "formatter")
	set(s, look.Font, "markLine", "label", "fontFamily")
	line := s["markLine"].(node)
	var areas []any
	if p.Fits > p.From {
		set(s, float64(p.Memory(p.From))/unit, "markArea", "data", "0", "0", "xAxis")
		set(s, float64(p.Memory(p.Fits))/unit, "markArea", "data", "0", "1", "xAxis")
		set(s, p.unfit(), "markArea", "label", "show")
		areas = s["markArea"].(node)["data"].([]any)
	}
	if p.showsDevice() {
		label := node{"formatter": p.Name, "align": "left"}
		width, x := nameWidth(p.Name), p.X(p.Device)
		near := math.Abs(x-p.X(p.Budget)) < markWidth
		switch {
		case p.Device < p.Budget && x-p.left() > width:
			label["align"] = "right"
			if near { // both names on the outer sides of their lines
				set(s, "left", "markLine", "label", "align")
				set(s, []float64{apart, 0}, "markLine", "label", "offset")
			}
		case near:
			set(s, "right", "markLine", "label", "align")
			away := math.Round(min(apart, p.Width-x-width)) // negative at the edge of the picture
			set(s, []float64{math.Round(min(x+away-p.X(p.Budget), 0)) - apart, 0}, "markLine", "label", "offset")
			label["offset"] = []float64{away, 0}
			if name := "plan: " + format.Bytes(p.Budget); p.X(p.Budget) < nameWidth(name) {
				set(s, "", "markLine", "label", "formatter") // it would be cut
			} else if p.X(p.Budget) < 1.4*markWidth {
				set(s, name, "markLine", "label", "formatter")
			}
		case p.Width-x < width:
			label["align"] = "right"
		}
		line["data"] = append(line["data"].([]any), node{"xAxis": float64(p.Memory(p.Device)) / unit, "label": label,
			"lineStyle": node{"color": look.Colours[display.Ink], "width": 2, "type": "solid"}})
		beyond := "" // unless the region is wide enough and has no other name
		if p.beyond() {
			beyond = "more than the card has"
		}
		areas = append(areas, []any{
			node{"name": beyond, "xAxis": float64(p.Memory(p.Device)) / unit,
				"itemStyle": node{"color": look.Colours[display.Grid], "opacity": 0.3}},
			node{"xAxis": float64(p.Memory(p.To)) / unit}})
	}
	if p.Bound > 0 {
		quiet := look.Colours[display.Muted]
		line["data"] = append(line["data"].([]any), node{"yAxis": p.onAxis(p.slowdown(p.Bound)),
			"label": node{"formatter": boundName, "position": "insideStartTop", "color": quiet,
				"show": p.Width >= roomForLabels},
			"lineStyle": node{"color": quiet, "width": 1, "type": "dotted"}})
	}
	if p.Budget == 0 {
		line["data"] = line["data"].([]any)[1:]
	}
	if len(areas) == 0 {
		delete(s, "markArea")
		return s
	}
	s["markArea"].(node)["data"] = areas
	return s
}

// boundName is the label of Plot.Bound.
const boundName = "no order of these passes is faster"

// Sizes in CSS pixels.
const (
	apart      = 3.0  // distance of names from their uprights if these are near to each other
	markWidth  = 96.0 // width of the budget's name
	unfitWidth = 70.0 // width of the name of the region in which nothing fits

	beyondWidth = 154.0 // width of the name of the region beyond the card
)

// unfit reports whether the region in which nothing fits is wide enough for its name.
func (p *Plot) unfit() bool { return p.Fits > p.From && p.X(p.Fits)-p.X(p.From) > unfitWidth }

// beyond reports whether the region beyond the device's memory is wide enough for its name, and has no other.
func (p *Plot) beyond() bool {
	return p.showsDevice() && p.X(p.To)-p.X(p.Device) >= beyondWidth && (p.Fits <= p.Device || !p.unfit())
}

// arrows sets arrows at the edge where lines leave the plot. It returns nil if none does.
func (p *Plot) arrows(s node, look Look, unit float64) node {
	var data []any
	for i := range p.Lines {
		l := &p.Lines[i]
		pts := p.inside(l)
		if n := len(pts); n == 0 || p.slowdown(l.Points[0].StepTime) <= p.Most {
			continue
		}
		turn, way := 0, 5 // pointing up, with the tip at the edge
		if p.Axis == tradeoff.Throughput {
			turn, way = 180, -5
		}
		data = append(data, node{"symbol": "triangle", "symbolSize": 8, "symbolRotate": turn,
			"symbolOffset": []int{0, way},
			"value":        p.value(pts[len(pts)-1], unit),
			"itemStyle":    node{"color": look.Colours[Role(l.Method.Strategy)]}})
	}
	if len(data) == 0 {
		return nil
	}
	s["name"], s["data"] = "goes on", data
	return s
}

// shownWords returns the step time of what is shown, in the unit of the axis.
func (p *Plot) shownWords() string {
	switch p.Axis {
	case tradeoff.Throughput:
		return format.Throughput(p.Batch, p.Unit, p.Now.StepTime)
	case tradeoff.StepTime:
		return format.Duration(p.Now.StepTime)
	}
	return format.Ratio(p.slowdown(p.Now.StepTime))
}

// shownLabel returns the label of the dot of what is shown. It is on the left of the dot if there
// is room, because the line continues on the right.
func (p *Plot) shownLabel(look Look) node {
	position := "left"
	if p.shownRight() {
		position = "right"
	}
	n := look.words(p.shownWords(), display.Ink, 13)
	n["position"], n["offset"], n["fontWeight"] = position, []int{0, p.shownAway()}, 600
	return n
}

// shownAway returns how far below the dot its label is, in CSS pixels. It is on the side from which the line goes away:
// above a label on the left if the axis points up to fast rates, because the line then falls to the left.
func (p *Plot) shownAway() int {
	y := p.Y(p.Now.StepTime)
	low, struck := y+20 > p.Height-bottom, p.Bound > 0 && math.Abs(p.Y(p.Bound)-y+12) < 9 // no room below, above
	if low || !struck && (p.Axis == tradeoff.Throughput) != p.shownRight() {
		return -12
	}
	return 12
}

// keepAllMark is the position of the name of keeping everything.
type keepAllMark struct {
	shown    bool
	box      rect
	position string
	align    string
	away     int
}

// keepAllPlace returns the position of the name of keeping everything. It is on the fast side of the
// square, where no lines are: below it, or above it if the axis points up to fast rates. It is aligned
// with the right or the left edge of the square, clear of the label of what is shown and of the uprights.
// It is not shown if neither place is free, or if what is shown is at the square, which has its own label.
func (p *Plot) keepAllPlace() (m keepAllMark) {
	x, y, width := p.X(p.KeepAll.Budget), p.Y(p.KeepAll.StepTime), nameWidth(keepAllName)
	if p.KeepAll.StepTime <= 0 || p.Now.StepTime > 0 && math.Abs(p.X(p.Now.Budget)-x) <= 20 &&
		math.Abs(p.Y(p.Now.StepTime)-y) <= 20 {
		return m
	}
	m.position = "bottom"
	from := y + 6
	if p.Axis == tradeoff.Throughput {
		m.position, from = "top", y-6-labelHeight
	}
	shown, _ := p.shownRect()
	for _, at := range []struct {
		align string
		away  int
		x0    float64
	}{{"right", 6, x + 6 - width}, {"left", -6, x - 6}} {
		m.align, m.away, m.box = at.align, at.away, rect{at.x0, from, at.x0 + width, from + labelHeight}
		crossed := slices.ContainsFunc(p.uprights(),
			func(b engine.Bytes) bool { return p.X(b) > m.box.x0 && p.X(b) < m.box.x1 })
		if m.shown = !crossed && !m.box.meets(shown) && m.box.x0 >= p.left() && m.box.x1 <= p.Width+2; m.shown {
			return m
		}
	}
	return m
}

// shownRect returns the rectangle of the label of what is shown; ok is false if it has none.
func (p *Plot) shownRect() (r rect, ok bool) {
	if p.Now.StepTime <= 0 || p.Letters[0] != "" {
		return r, false
	}
	x, y, width := p.X(p.Now.Budget)-9, p.Y(p.Now.StepTime)+float64(p.shownAway()), 1.15*nameWidth(p.shownWords())
	if p.shownRight() {
		x += 18 + width
	}
	return rect{x - width, y - 8, x, y + 8}, true
}

// shownRight reports whether the label of what is shown has no room on the left of its dot.
func (p *Plot) shownRight() bool {
	return p.X(p.Now.Budget)-9-1.15*nameWidth(p.shownWords()) < p.left()
}
