package draw

import (
	"math"
	"sort"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
	"memtide/web/tell"
)

// The strip of a graph has a mark for each forward operation, in the order in which they
// run, and above them arcs from values to their last forward readers. It replaces the strip
// of layers, except in a comparison, where there is no room for arcs.

// Sizes in CSS pixels, from the bottom up.
const (
	graphWords  = 16.0 // labels of the ends of an arc
	graphLetter = 12.0 // letters of decisions
	graphMark   = 14.0
	graphArcs   = 90.0 // height of the highest arc
	graphTop    = 24.0 // line with the number of arcs
	arcReach    = 5.0  // the largest distance at which a point hits an arc
	arcSteps    = 20   // number of lines of an arc
)

// arcGeometry is the geometry of the marks and the arcs of a frame.
type arcGeometry struct {
	base    float64 // y of the upper edge of the marks
	left    float64
	step    float64 // distance between operations
	longest float64 // width of the arc with the full height
}

func geometry(st *lookup.Structure, f *frame) arcGeometry {
	step := (f.right - f.left) / float64(max(len(st.Ops), 1))
	return arcGeometry{f.Height - graphWords - graphLetter - graphMark, f.left, step, step * longestArc(st)}
}

// longestArc returns the length of the longest arc that is not folded, in operations, or 1.
func longestArc(st *lookup.Structure) float64 {
	longest := int32(1)
	for i := range st.Arcs {
		if a := &st.Arcs[i]; a.Block == 0 {
			longest = max(longest, a.To-a.From)
		}
	}
	return float64(longest)
}

// GraphHeight returns the height of the strip of a graph with a width: as much as its longest arc needs.
func (m *Index) GraphHeight(width float64) float64 {
	st := m.Structure()
	wide := (width - SlimGutter) / float64(max(len(st.Ops), 1)) * longestArc(st)
	return graphTop + rise(wide, graphArcs) + graphMark + graphLetter + graphWords
}

// rise returns the height of an arc by its width and the room for it.
func rise(wide, room float64) float64 { return math.Min(math.Max(1.1*wide, 16), room) }

// x returns the middle of the mark of a place.
func (g *arcGeometry) x(place int32) float64 { return g.left + (float64(place)+0.5)*g.step }

// outline outlines the mark of a place.
func (g *arcGeometry) outline(s *Scene, place int32, st display.Style) {
	s.Outline(st, g.x(place)-math.Max(g.step/2, 2)+1, g.base-1.5, math.Max(g.step, 4)-2, graphMark+3)
}

// curve returns the points of an arc, a cubic curve whose height grows with its length.
func (g *arcGeometry) curve(a *lookup.Arc) (xy []float64) {
	x0, x1, y := g.x(a.From), g.x(a.To), g.base-1
	room := (g.base - graphTop) * (0.2 + 0.8*math.Sqrt(math.Min((x1-x0)/g.longest, 1)))
	rise := rise(x1-x0, room) * 4 / 3
	for i := 0; i <= arcSteps; i++ {
		u := (1 - math.Cos(math.Pi*float64(i)/arcSteps)) / 2 // denser at the ends, where the curve bends most
		v := 1 - u
		xy = append(xy, x0*v*v*(v+3*u)+x1*u*u*(u+3*v), y-3*u*v*rise)
	}
	return xy
}

// showsGraph reports whether the strip of a frame is the strip of a graph.
func (m *Index) showsGraph(f *frame) bool { return f.Beside == nil && m.Structure() != nil }

// openBlock returns the block of the selection, which is not folded, or 0.
func (m *Index) openBlock(f *frame) int32 {
	if v := m.ValueOf(f.Selected); v != engine.NoValue {
		return int32(m.Problem.Graph.Values[v].Stage)
	}
	return 0
}

func (m *Index) drawGraph(s *Scene, f *frame) {
	st := m.Structure()
	geo := geometry(st, f)
	s.Title = "Graph of the network: operations in the order in which they run, values that wait long for a reader as arcs"
	s.Desc = m.GraphDesc()
	s.AddText(display.Ink, 0, geo.base-14, display.Text{S: "Graph", Bold: true, Large: true})
	if words := "in order of"; display.TextWidth(words) < f.left {
		s.Text(display.Muted, 0, geo.base+3, display.Start, words)
		s.Text(display.Muted, 0, geo.base+17, display.Start, "execution")
	}
	if len(st.Ops) == 0 {
		s.Text(display.Muted, f.left, geo.base+10, display.Start, "This graph has no forward operations.")
		return
	}
	selected, open := m.ValueOf(f.Selected), m.openBlock(f)
	arcs, more, folded := drawnArcs(st, f, selected, open)
	drawBlocks(s, st, &geo, open)
	for i := range arcs {
		a, style := &arcs[i], display.StrokeOf(display.Muted, 1)
		style.Width += float32(math.Round(6*float64(a.Bytes)/math.Max(float64(st.Largest), 1))) / 4
		if a.Value == selected {
			style.Stroke, style.Width = tell.DecisionRole(st.Decisions[a.From]), style.Width+1
		}
		s.Path(display.OpLine, style, geo.curve(a))
	}
	m.drawMarks(s, f, &geo)
	m.markSelected(s, f, &geo)
	role, words := display.Muted, tell.ArcWords(len(st.Arcs), more, folded, len(st.Blocks))
	if a := st.ArcOf(selected); a != nil {
		role, words = display.Ink, m.ArcSentence(a)
	}
	s.Text(role, f.right, 12, display.End, display.Fit(words, f.right-f.left))
}

// drawBlocks draws a bracket over each folded block that is wide enough.
func drawBlocks(s *Scene, st *lookup.Structure, g *arcGeometry, open int32) {
	y := g.base - 1
	for _, b := range st.Blocks {
		x0, x1 := g.x(b.First), g.x(b.Last)
		if b.Stage != open && x1-x0 >= 4 {
			s.Line(display.StrokeOf(display.Muted, 1), x0, y, x0+1, y-5, x1-1, y-5, x1, y)
		}
	}
}

func (m *Index) graphBars(f *frame) []bar {
	bars := barsOf(f, len(m.Structure().Ops), 7)
	for i := range bars {
		bars[i].at = bars[i].largest(m.made)
	}
	return bars
}

// made returns the total size of the outputs of the operation at a place.
func (m *Index) made(place int) (sum engine.Bytes) {
	for _, v := range m.Problem.Graph.Ops[m.Structure().Ops[place]].Out {
		sum += m.Problem.Graph.Values[v].Size
	}
	return sum
}

func (m *Index) drawMarks(s *Scene, f *frame, g *arcGeometry) {
	bars := m.graphBars(f)
	s.clearSlices()
	for _, b := range bars {
		s.collectBar(m.Structure().Decisions[b.at], b.x, g.base, b.w, graphMark)
	}
	s.flushSlices()
	for _, b := range bars {
		d := m.Structure().Decisions[b.at]
		if d != sim.Keep && b.last == b.first && display.TextWidth(letters(d)) <= b.w+2 {
			s.Text(display.Ink, b.x+b.w/2, g.base+graphMark+10, display.Middle, letters(d))
		}
	}
}

// markSelected outlines the selected operations, and outlines and labels the ends of the selected value's arc.
func (m *Index) markSelected(s *Scene, f *frame, g *arcGeometry) {
	m.outlinePlaces(s, f, f.Selected, display.StrokeOf(display.Ink, 2))
	a := m.Structure().ArcOf(m.ValueOf(f.Selected))
	if a == nil {
		return
	}
	below := g.base + graphMark + graphLetter + 11
	for _, word := range [...]struct {
		place int32
		s     string
	}{{a.From, "made here"}, {a.To, "last forward reader"}} {
		x, half := g.x(word.place), display.TextWidth(word.s)/2
		g.outline(s, word.place, display.StrokeOf(display.Ink, 2))
		if g.x(a.To)-g.x(a.From) > 2*half+40 || word.place == a.From {
			s.Text(display.Ink, math.Min(math.Max(x, f.left+half), f.right-half), below, display.Middle, word.s)
		}
	}
}

// outlinePlaces outlines the marks of the operations of a run or a layer.
func (m *Index) outlinePlaces(s *Scene, f *frame, t lookup.Target, st display.Style) {
	var at []int32
	switch graph := m.Structure(); {
	case !m.Valid(t):
	case t.Kind == lookup.OnSpan && m.Trace.Spans[t.Index].Op != engine.NoOp:
		at = append(at, graph.Places[m.Trace.Spans[t.Index].Op])
	case t.Kind == lookup.OnStage:
		for place, op := range graph.Ops {
			if int(m.OfOp[op]) == t.Index {
				at = append(at, int32(place))
			}
		}
	}
	g := geometry(m.Structure(), f)
	for i, place := range at {
		if place >= 0 && (i == 0 || i == len(at)-1 || g.step >= 2) {
			g.outline(s, place, st)
		}
	}
}

// overGraph highlights the arc or the mark under the pointer.
func (m *Index) overGraph(s *Scene, f *frame) {
	st := m.Structure()
	geo := geometry(st, f)
	m.outlinePlaces(s, f, f.Hover, display.StrokeOf(display.Ink, 1.5))
	if a := st.ArcOf(m.ValueOf(f.Hover)); a != nil && m.Valid(f.Hover) {
		style := display.StrokeOf(tell.DecisionRole(st.Decisions[a.From]), 2.5)
		s.Path(display.OpLine, style, geo.curve(a))
	}
}

// hitGraph returns the arc at a point, or the first run of the operation there.
func (m *Index) hitGraph(f *frame, x, y float64) lookup.Target {
	st := m.Structure()
	geo := geometry(st, f)
	if x < f.left-arcReach || x > f.right+arcReach || y > f.Height {
		return lookup.Target{}
	}
	if y >= geo.base-2 {
		for _, b := range m.graphBars(f) {
			if x < b.x+b.w+4 {
				return lookup.Target{Kind: lookup.OnSpan, Index: int(st.Runs[b.at])}
			}
		}
		return lookup.Target{}
	}
	arcs, _, _ := drawnArcs(st, f, m.ValueOf(f.Selected), m.openBlock(f))
	best, least := lookup.Target{}, arcReach
	for i := range arcs {
		xy := geo.curve(&arcs[i])
		for j := 0; j+3 < len(xy); j += 2 {
			if d := distance(x, y, xy[j:j+4]); d <= least {
				best, least = lookup.Target{Kind: lookup.OnValue, Index: int(arcs[i].Value)}, d
			}
		}
	}
	return best
}

// distance returns the distance of a point from a line from (line[0], line[1]) to (line[2], line[3]).
func distance(x, y float64, line []float64) float64 {
	x0, y0 := line[0], line[1]
	dx, dy := line[2]-x0, line[3]-y0
	u := 0.0
	if l := dx*dx + dy*dy; l > 0 {
		u = math.Min(math.Max(((x-x0)*dx+(y-y0)*dy)/l, 0), 1)
	}
	return math.Hypot(x-x0-u*dx, y-y0-u*dy)
}

// fewArcs is the number of arcs in narrow pictures, instead of lookup.MostArcs.
const fewArcs = 3

// drawnArcs returns the arcs that a frame shows, the selected one last, and the numbers of
// hidden arcs: more outside of folded blocks, folded within them.
func drawnArcs(st *lookup.Structure, f *frame, selected engine.ValueID, open int32) (arcs []lookup.Arc, more,
	folded int) {
	var on []lookup.Arc
	for i := range st.Arcs {
		switch a := &st.Arcs[i]; {
		case a.Value == selected:
			on = append(on, *a)
		case a.Block != 0 && a.Block != open:
			folded++
		default:
			arcs = append(arcs, *a)
		}
	}
	most := lookup.MostArcs
	if f.Width <= slimWidth {
		most = fewArcs
		sort.SliceStable(arcs, func(i, j int) bool { return arcs[i].To-arcs[i].From > arcs[j].To-arcs[j].From })
	}
	most = min(most, len(arcs))
	return append(arcs[:most:most], on...), len(arcs) - most, folded
}
