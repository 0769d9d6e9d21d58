package tradeoff

import (
	"slices"
	"sort"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// AllLines is the name of all that the curve can draw, beside those of strategies.
const AllLines = "all"

// DefaultLines returns what the curve of a chain, or of a graph, draws unless a person says
// otherwise: the strategies of the first places (engine.DrawnRanks).
// Keeping everything, which is a point, and the chosen strategy are always drawn.
func DefaultLines(graph bool) []string {
	var lines []string
	for _, st := range engine.Ranked(graph) {
		if st.Class != 0 && st.Rank.Of(graph) <= engine.DrawnRanks {
			lines = append(lines, st.Name)
		}
	}
	slices.Sort(lines)
	return lines
}

// What the curve may show upwards, see link.Look.Axis: samples per second (steps per second
// where the batch size is unknown), step time against that of keeping everything, and step
// time itself.
const (
	Throughput = ""
	Slowdown   = "slowdown"
	StepTime   = "time"
)

// Axes are all of them.
var Axes = []string{Throughput, Slowdown, StepTime}

// AxisOf returns the axis of that name, and rates for any other.
func AxisOf(name string) string {
	if !slices.Contains(Axes, name) {
		return Throughput
	}
	return name
}

// Line is one strategy of the curve, its points in the order of budgets.
type Line struct {
	Method proto.Method
	Title  string
	Points []LinePoint
	Open   engine.Bytes // from this budget on it is not final: it may turn out faster there; 0: all of it is
}

// LinePoint is a budget and the step time at it.
type LinePoint struct {
	Budget   engine.Bytes
	StepTime time.Duration
	Partial  time.Duration // not 0: it is the best found in this time, and more time may find better
}

// Lines returns the strategies of the curve with the points that are known and
// feasible, by budget. What fits into a budget fits into every larger one: a point
// that is slower than one before it is left out, so that a line says what is the
// best that is known in so much memory: more points make it faster in places and slower in none.
// A strategy without any point is left out.
func (c *Curve) Lines() []Line {
	var out []Line
	for i, m := range c.Methods {
		l := Line{Method: m, Title: choice.PlanName(m.Strategy)}
		for k, p := range c.Points[i] {
			if l.Open == 0 && !c.final(i, k) {
				l.Open = c.Budgets[k]
			}
			if p != nil && p.StepTime > 0 {
				at := LinePoint{Budget: p.Budget, StepTime: p.StepTime}
				if p.Partial() {
					at.Partial = max(p.Took, time.Millisecond)
				}
				l.add(at)
			}
		}
		if len(l.Points) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// final reports whether the point of a method at a budget is known and will not be found better: it is
// not to be given more time, and the method has no other budgets under way that may improve it.
func (c *Curve) final(method, budget int) bool {
	p := c.Points[method][budget]
	if p == nil || p.Failure != nil && p.Failure.Kind == proto.Deadline && method >= c.improved {
		return false
	}
	st := engine.Lookup(c.Methods[method].Strategy)
	return c.ID == 0 || c.at != nil || method != c.live || st == nil || st.Sweeper == nil
}

// add adds a point behind those of smaller budgets, unless one of them is faster.
func (l *Line) add(p LinePoint) {
	if n := len(l.Points); n == 0 || p.StepTime <= l.Points[n-1].StepTime {
		l.Points = append(l.Points, p)
	}
}

// With returns a line with one more point, in its place: instead of the one of the same
// budget, if there is one.
func (l Line) With(p LinePoint) Line {
	points := append(slices.DeleteFunc(slices.Clone(l.Points),
		func(q LinePoint) bool { return q.Budget == p.Budget }), p)
	sort.Slice(points, func(i, j int) bool { return points[i].Budget < points[j].Budget })
	l.Points = nil
	for _, q := range points {
		l.add(q)
	}
	return l
}

// Smallest returns the smallest budget at which some strategy found a schedule; 0 if
// none is known yet.
func (c *Curve) Smallest() engine.Bytes {
	best := engine.Bytes(0)
	for _, l := range c.Lines() {
		if b := l.Points[0].Budget; best == 0 || b < best {
			best = b
		}
	}
	return best
}
