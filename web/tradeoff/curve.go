package tradeoff

import (
	"maps"
	"slices"
	"sort"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// CurveBudgets is the number of budgets of a curve.
const CurveBudgets = 40

// How long a solver may take for a point: at first, so that the whole curve is
// there soon, and again for points that were not finished in that time. What is
// only the best found is a point too, and the page says so.
const (
	pointLimit   = 20 * time.Millisecond
	improveLimit = 500 * time.Millisecond
)

// Curve is step time against budget for every strategy that was chosen to be
// drawn since the curve was begun.
type Curve struct {
	ID      int // of the sweep that is at work, 0 if none is
	Methods []proto.Method
	Budgets []engine.Bytes
	Points  [][]*proto.Point // by method and budget; nil: not known yet
	KeepAll proto.Reference  // zero until it is known
	Done    int
	Total   int
	Failed  string // why it ended early
	Stopped bool   // a person gave it up

	live      int   // the method whose point came last
	rows      []int // methods that the sweep at work asks for, in its order
	Improving int   // complete, but so many points are being given more time
	improved  int   // methods whose points were given more time
	at        []int // budgets of the one that is being given more; nil before
}

// NewCurve returns a curve over budgets of a range that has no strategies yet.
func NewCurve(r Range) *Curve { return &Curve{Budgets: r.sample(CurveBudgets)} }

// CurveKey identifies the curve that a choice is on. Strategies with their default
// arguments share one: that of the key without arguments.
func CurveKey(c choice.Choice) string {
	key := c.SettingKey() + "|"
	if len(c.Args) > 0 {
		key += c.MethodKey()
	}
	return key
}

// Complete reports whether all points are known.
func (c *Curve) Complete() bool { return c.Total > 0 && c.Done >= c.Total }

// Sweeps reports whether the curve waits for answers under an ID.
func (c *Curve) Sweeps(id int) bool { return c != nil && c.ID == id }

// Grow adds the methods that are not in the curve yet, with the points of another
// curve over the same budgets that has them; true if it has added any.
func (c *Curve) Grow(methods []proto.Method, known *Curve) bool {
	before := len(c.Methods)
	for _, m := range methods {
		if c.row(m) >= 0 {
			continue
		}
		row := make([]*proto.Point, len(c.Budgets))
		if known != nil && known != c {
			if at := known.row(m); at >= 0 && slices.Equal(known.Budgets, c.Budgets) {
				copy(row, known.Points[at])
			}
		}
		for _, p := range row {
			if p != nil {
				c.Done++
			}
		}
		c.Methods, c.Points = append(c.Methods, m), append(c.Points, row)
	}
	c.Total = len(c.Methods) * len(c.Budgets)
	return len(c.Methods) > before
}

// row returns where a method stands in the curve, -1 if it does not.
func (c *Curve) row(m proto.Method) int {
	return slices.IndexFunc(c.Methods, func(q proto.Method) bool {
		return q.Strategy == m.Strategy &&
			maps.Equal(q.Args, m.Args)
	})
}

// Missing asks for the points of all strategies of which some are not known, those of
// the strategy first before the others. Who sends it sets ID.
func (c *Curve) Missing(set proto.Setting, first string) proto.Sweep {
	c.Failed, c.Stopped = "", false
	c.Improving, c.at, c.rows, c.live = 0, nil, nil, -1
	req := proto.Sweep{Setting: set, Limit: pointLimit}
	for i, m := range c.Methods {
		if !slices.Contains(c.Points[i], nil) {
			continue
		}
		if m.Strategy == first {
			c.rows = slices.Insert(c.rows, 0, i)
		} else {
			c.rows = append(c.rows, i)
		}
	}
	for _, i := range c.rows {
		req.Methods = append(req.Methods, c.Methods[i])
	}
	for _, b := range c.Budgets {
		req.Budgets = append(req.Budgets, choice.Budget{Bytes: b})
	}
	return req
}

// Unfinished asks again, with more time, for the points of the next method that were
// not finished; ok is false if none is left. Who sends it sets ID.
func (c *Curve) Unfinished(set proto.Setting) (req proto.Sweep, ok bool) {
	c.Improving, c.at = 0, nil
	for ; c.improved < len(c.Methods); c.improved++ {
		req = proto.Sweep{Setting: set, Methods: c.Methods[c.improved : c.improved+1], Limit: improveLimit}
		for b, p := range c.Points[c.improved] {
			if p != nil && p.Failure != nil && p.Failure.Kind == proto.Deadline {
				c.at = append(c.at, b)
				req.Budgets = append(req.Budgets, choice.Budget{Bytes: c.Budgets[b]})
			}
		}
		if c.Improving = len(c.at); c.Improving > 0 {
			return req, true
		}
	}
	return req, false
}

// Take puts a point of the sweep at work into the curve. Of a point that was given
// more time the better answer counts.
func (c *Curve) Take(p proto.Point) {
	if c.at != nil {
		if p.Index >= len(c.at) {
			return
		}
		p.Method, p.Index = c.improved, c.at[p.Index]
		c.Improving = max(c.Improving-1, 1)
		if old := c.Points[p.Method][p.Index]; p.StepTime <= 0 && old.StepTime > 0 {
			return
		}
	} else {
		if p.Method >= len(c.rows) || p.Index >= len(c.Budgets) {
			return
		}
		p.Method = c.rows[p.Method]
		c.live = p.Method
		if c.Points[p.Method][p.Index] == nil {
			c.Done++
		}
	}
	c.Points[p.Method][p.Index] = &p
}

// End ends the sweep at work: all that it asked for has come.
func (c *Curve) End(keepAll proto.Reference) {
	if c.ID = 0; c.at != nil {
		c.improved++
		return
	}
	c.KeepAll, c.Done = keepAll, c.Total
}

// Found is what is known of a strategy in a budget.
type Found struct {
	StepTime time.Duration  // 0: no schedule is known
	Peak     engine.Bytes   // of it; 0 if that is not known
	AtMost   bool           // it is that of a smaller budget, or the best of a search that was stopped
	Failure  *proto.Failure // why there is no schedule; nil: there is one, or that is not known yet
}

// Found returns what the curve knows of a strategy with its default arguments: its best in
// the budget or a smaller one.
func (c *Curve) Found(strategy string, budget engine.Bytes) (f Found) {
	row := c.row(proto.Method{Strategy: strategy})
	if row < 0 {
		return f
	}
	infeasible := func() bool { return f.Failure != nil && f.Failure.Kind == proto.Infeasible }
	for i, p := range c.Points[row] {
		switch {
		case c.Budgets[i] > budget && p != nil && p.StepTime > 0 && infeasible() && f.Failure.Smallest == 0:
			f.Failure = &proto.Failure{Kind: proto.Infeasible, Smallest: p.Budget}
			return f
		case c.Budgets[i] > budget || p == nil:
		case p.StepTime > 0 && (f.StepTime == 0 || p.StepTime <= f.StepTime):
			f = Found{StepTime: p.StepTime, Peak: p.Peak, AtMost: p.Budget < budget || p.Partial()}
		case f.StepTime == 0 && p.Failure != nil:
			f.Failure = p.Failure
		}
	}
	if infeasible() && f.Failure.Smallest > 0 && f.Failure.Smallest <= budget {
		f.Failure = nil // it may do in this budget: the curve has been asked about smaller ones only
	}
	return f
}

// Point is a place on the curve.
type Point struct {
	Strategy string
	Args     engine.Args
	Budget   engine.Bytes
}

// Choice returns a choice moved to the point.
func (p Point) Choice(c choice.Choice) choice.Choice {
	c.Strategy, c.Args, c.Budget = p.Strategy, p.Args, choice.Budget{Bytes: p.Budget}
	return c
}

// Bound returns the step time that no schedule of a class can beat in a budget, as far as
// the methods of the curve have proven one, or 0 if they have not. What bounds a budget bounds
// every smaller one.
func (c *Curve) Bound(class engine.Class, budget engine.Bytes) (most time.Duration) {
	for i, m := range c.Methods {
		if st := engine.Lookup(m.Strategy); st == nil || st.Class != class {
			continue
		}
		for _, p := range c.Points[i] {
			if p != nil && p.Budget >= budget {
				most = max(most, p.Bound)
			}
		}
	}
	return most
}

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
