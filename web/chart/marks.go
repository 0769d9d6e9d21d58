package chart

import (
	"math"

	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/tradeoff"
)

// marks fills in the budget, the region in which nothing fits, what the device has,
// and the region beyond that.
func (p *Plot) marks(s node, look Look, unit float64) node {
	set(s, p.axis(p.Budget)/unit, "markLine", "data", "0", "xAxis")
	set(s, 12, "markLine", "precision") // else the library rounds the place to two decimals
	set(s, "plan may use "+format.Bytes(p.Budget), "markLine", "label", "formatter")
	set(s, look.Font, "markLine", "label", "fontFamily")
	var areas []any
	if p.Fits > p.From {
		set(s, p.axis(p.From)/unit, "markArea", "data", "0", "0", "xAxis")
		set(s, p.axis(p.Fits)/unit, "markArea", "data", "0", "1", "xAxis")
		set(s, p.unfit(), "markArea", "label", "show")
		areas = s["markArea"].(node)["data"].([]any)
	}
	if p.showsDevice() {
		label := node{"formatter": p.Name, "align": "left"}
		width, x := named{name: p.Name}.width(), p.X(p.Device)
		near := math.Abs(x-p.X(p.Budget)) < markWidth
		switch {
		case p.Device < p.Budget && x-p.left() > width:
			label["align"] = "right"
			if near { // to their own sides of both lines
				set(s, "left", "markLine", "label", "align")
				set(s, []float64{apart, 0}, "markLine", "label", "offset")
			}
		case near:
			set(s, "right", "markLine", "label", "align")
			set(s, []float64{-apart, 0}, "markLine", "label", "offset")
			label["offset"] = []float64{math.Round(min(apart, p.Width-x-width)), 0}
		case p.Width-x < width:
			label["align"] = "right"
		}
		line := s["markLine"].(node)
		line["data"] = append(line["data"].([]any), node{"xAxis": p.axis(p.Device) / unit, "label": label,
			"lineStyle": node{"color": look.Colours[display.Ink], "width": 2, "type": "solid"}})
		areas = append(areas, []any{
			node{"name": p.beyondName(), "xAxis": p.axis(p.Device) / unit, "itemStyle": node{"color": look.Colours[display.Grid], "opacity": 0.3}},
			node{"xAxis": p.axis(p.To) / unit}})
	}
	if len(areas) == 0 {
		delete(s, "markArea")
		return s
	}
	s["markArea"].(node)["data"] = areas
	return s
}

// apart is how far names at uprights that are near to each other stand from their lines.
const apart = 3.0

// markWidth is the room that the name of the budget needs at its side.
const markWidth = 96.0

// beyondName stands in the region beyond the device, if it is wide enough.
func (p *Plot) beyondName() string {
	if p.X(p.To)-p.X(p.Device) < 1.6*markWidth {
		return ""
	}
	return "more than the card has"
}

// unfitWidth is the room that the name of the region in which nothing fits needs.
const unfitWidth = 70.0

// unfit says whether that region is wide enough for its name.
func (p *Plot) unfit() bool { return p.Fits > p.From && p.X(p.Fits)-p.X(p.From) > unfitWidth }

// arrows stand at the edge where lines leave the plot; nil if none does.
func (p *Plot) arrows(s node, look Look, unit float64) node {
	var data []any
	for i := range p.Lines {
		l := &p.Lines[i]
		pts := p.inside(l)
		if n := len(pts); n == 0 || p.slowdown(l.Points[0].StepTime) <= p.Most {
			continue
		}
		turn, way := 0, 5 // upwards, its tip at the edge
		if p.Axis == tradeoff.Throughput {
			turn, way = 180, -5
		}
		data = append(data, node{"symbol": "triangle", "symbolSize": 8, "symbolRotate": turn, "symbolOffset": []int{0, way},
			"value": p.value(pts[len(pts)-1], unit), "itemStyle": node{"color": look.Colours[Role(l.Method.Strategy)]}})
	}
	if len(data) == 0 {
		return nil
	}
	s["name"], s["data"] = "goes on", data
	return s
}

// shownWords are what is shown, in the unit of the axis.
func (p *Plot) shownWords() string {
	switch p.Axis {
	case tradeoff.Throughput:
		return format.Throughput(p.Batch, p.Unit, p.Now.StepTime)
	case tradeoff.StepTime:
		return format.Duration(p.Now.StepTime)
	}
	return format.Ratio(p.slowdown(p.Now.StepTime))
}

// shownLabel stands left of the dot of what is shown, where its line goes away from it, if there
// is room.
func (p *Plot) shownLabel(look Look) node {
	position := "left"
	if p.shownRight() {
		position = "right"
	}
	return node{"show": true, "position": position, "offset": []int{0, p.shownAway()}, "formatter": p.shownWords(), "color": look.Colours[display.Ink],
		"fontSize": 13, "fontWeight": 600, "fontFamily": look.Font, "textBorderColor": look.Colours[display.Surface], "textBorderWidth": 3}
}

// shownAway is how far below the dot its label stands, in CSS pixels: lines that go
// from fast to slow leave it room above, where fast is up.
func (p *Plot) shownAway() int {
	if p.Axis == tradeoff.Throughput {
		return -12
	}
	return 12
}
