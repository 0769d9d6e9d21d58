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

// Limits of the time that a solver has for a point: first pointLimit, so that the whole
// curve is shown soon, then improveLimit for points that were not finished. The best schedule
// that a search has found when it reaches the limit counts as a point; the page marks it.
const (
	pointLimit   = 20 * time.Millisecond
	improveLimit = 500 * time.Millisecond
)

// Curve is step time against budget for every strategy that was chosen to be drawn since the curve was begun.
type Curve struct {
	ID      int // ID of the sweep under way, 0 if there is none
	Methods []proto.Method
	Budgets []engine.Bytes
	Points  [][]*proto.Point // by method and budget; nil if not known yet
	KeepAll proto.Reference  // zero until known
	Done    int              // number of points that are known
	Total   int              // number of points
	Failed  string           // why the sweep ended early
	Stopped bool             // a person stopped the sweep

	live      int   // index of the method of the last point that arrived
	rows      []int // indices of the methods of the sweep under way, in its order
	Improving int   // number of points for which more time is being spent; 0 before all are known
	improved  int   // number of methods whose unfinished points were given more time
	at        []int // indices of the budgets of such points of the method Methods[improved]; nil before
}

// NewCurve returns a curve without strategies over the budgets of a range. The budget usual, if it is in the range,
// stands in place of the nearest one between the ends, so that the curve has a plan for it.
func NewCurve(r Range, usual engine.Bytes) *Curve {
	budgets := r.sample(CurveBudgets)
	for i := 1; i < len(budgets)-1; i++ {
		if usual > budgets[0] && usual <= budgets[i]+(budgets[i+1]-budgets[i])/2 {
			budgets[i] = usual
			break
		}
	}
	return &Curve{Budgets: budgets}
}

// CurveKey identifies the curve that shows a choice. All strategies with default arguments share one curve.
func CurveKey(c choice.Choice) string {
	key := c.SettingKey() + "|"
	if len(c.Args) > 0 {
		key += c.MethodKey()
	}
	return key
}

// Complete reports whether all points are known.
func (c *Curve) Complete() bool { return c.Total > 0 && c.Done >= c.Total }

// Sweeps reports whether the sweep under way has the given ID. c may be nil.
func (c *Curve) Sweeps(id int) bool { return c != nil && c.ID == id }

// Grow adds the methods that the curve does not have yet, and copies their points from known,
// if that is not nil and has the same budgets. It reports whether it added any method.
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

// row returns the index of a method, or -1.
func (c *Curve) row(m proto.Method) int {
	return slices.IndexFunc(c.Methods, func(q proto.Method) bool {
		return q.Strategy == m.Strategy && maps.Equal(q.Args, m.Args)
	})
}

// Missing begins a sweep over the methods with unknown points and returns its request. The
// strategy named first comes first. The caller sends the request and sets ID.
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

// Unfinished begins a sweep, with more time, over the unfinished points of the next method that has
// any, and returns its request; ok is false if none is left. The caller sends the request and sets ID.
func (c *Curve) Unfinished(set proto.Setting) (req proto.Sweep, ok bool) {
	c.Improving, c.at = 0, nil
	for ; c.improved < len(c.Methods); c.improved++ {
		req = proto.Sweep{Setting: set, Methods: c.Methods[c.improved : c.improved+1], Limit: improveLimit}
		for b, p := range c.Points[c.improved] {
			if p != nil && open(p) {
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

// Take stores a point of the sweep under way. A point that was given more time without a
// result does not replace one that has a step time.
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

// End ends the sweep under way, all of whose points have arrived.
func (c *Curve) End(keepAll proto.Reference) {
	if c.ID = 0; c.at != nil {
		c.improved++
		return
	}
	c.KeepAll, c.Done = keepAll, c.Total
}

// Found is the best known result of a strategy in a budget.
type Found struct {
	StepTime time.Duration  // 0 if no schedule is known
	Peak     engine.Bytes   // peak of the schedule; 0 if not known
	AtMost   bool           // StepTime is an upper bound: of a smaller budget, or of a search that was stopped
	Failure  *proto.Failure // why there is no schedule; nil if there is one, or if that is not known yet
}

// Found returns the best result of a strategy with its default arguments in the budget or a
// smaller one, as far as the curve knows. Budgets below the first of the curve are infeasible, see RangeOf.
func (c *Curve) Found(strategy string, budget engine.Bytes) (f Found) {
	if len(c.Budgets) > 0 && budget < c.Budgets[0] {
		f.Failure = &proto.Failure{Kind: proto.Infeasible}
	}
	row := c.row(proto.Method{Strategy: strategy})
	if row < 0 {
		return f
	}
	infeasible := func(f *proto.Failure) bool { return f != nil && f.Kind == proto.Infeasible }
points:
	for i := range c.Points[row] {
		p := c.point(row, i)
		switch beyond := c.Budgets[i] > budget; {
		case beyond && (p == nil || !infeasible(f.Failure) || f.Failure.Smallest > 0):
			break points
		case beyond && p.StepTime > 0:
			f.Failure = &proto.Failure{Kind: proto.Infeasible, Smallest: p.Budget}
		case beyond && infeasible(p.Failure):
			f.Failure = p.Failure
		case beyond || p == nil:
		case p.StepTime > 0 && (f.StepTime == 0 || p.StepTime <= f.StepTime):
			f = Found{StepTime: p.StepTime, Peak: p.Peak, AtMost: p.Budget < budget || p.Partial()}
		case f.StepTime == 0 && p.Failure != nil:
			f.Failure = p.Failure
		}
	}
	if infeasible(f.Failure) && f.Failure.Smallest > 0 && f.Failure.Smallest <= budget {
		f.Failure = nil // only smaller budgets were tried, and this one may suffice
	}
	return f
}

// Point identifies a point of the curve.
type Point struct {
	Strategy string
	Args     engine.Args
	Budget   engine.Bytes
}

// Choice returns c with the strategy, arguments and budget of the point.
func (p Point) Choice(c choice.Choice) choice.Choice {
	unplanned := c.Unplanned
	c = c.By(p.Strategy, p.Args)
	c.Budget, c.Unplanned = choice.Budget{Bytes: p.Budget}, unplanned
	return c
}

// Bound returns the largest lower bound that the methods of the curve have proven for the step
// times of schedules of a class in a budget, or 0. A bound for a budget holds for smaller budgets too.
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

// AllLines, in place of the name of a strategy, selects all lines of the curve.
const AllLines = "all"

// DefaultLines returns the names of the strategies that the curve of a chain, or of a graph,
// draws by default: those whose rank is at most engine.DrawnRanks. Keeping everything, which
// is a point, and the chosen strategy are always drawn.
func DefaultLines(graph bool) (lines []string) {
	for _, st := range engine.Strategies() {
		if rank := st.Rank.Of(graph); st.Class != 0 && rank > 0 && rank <= engine.DrawnRanks {
			lines = append(lines, st.Name)
		}
	}
	return lines
}

// The vertical axes of the curve, see link.Look.Axis.
const (
	Throughput = ""         // samples per second, or steps per second if the batch size is unknown
	Slowdown   = "slowdown" // step time relative to that of keeping everything
	StepTime   = "time"
)

// Axes lists the vertical axes.
var Axes = []string{Throughput, Slowdown, StepTime}

// AxisOf returns name if it is an axis, and Throughput otherwise.
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
	Open   engine.Bytes // the smallest budget whose step time may still become less; 0 if all are final
}

// LinePoint is a budget and its step time.
type LinePoint struct {
	Budget   engine.Bytes
	StepTime time.Duration
	Partial  time.Duration // if not 0, the time after which the search was stopped: more time may find better
}

// Lines returns a line for each strategy, with its known and feasible points in the order of
// budgets. A schedule that fits into a budget fits into every larger one, so a point that is
// slower than one before it is left out. Strategies without points are left out.
func (c *Curve) Lines() (out []Line) {
	for i, m := range c.Methods {
		l := Line{Method: m, Title: choice.PlanName(m.Strategy)}
		for k := range c.Points[i] {
			if l.Open == 0 && !c.final(i, k) {
				l.Open = c.Budgets[k]
			}
			if p := c.point(i, k); p != nil && p.StepTime > 0 {
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

// parts returns the indices of the best methods that only recompute or only offload, if method is the best that does
// both: it is never slower than they are, given the time.
func (c *Curve) parts(method int) (rows []int) {
	best, m := engine.Best(engine.MayRecompute|engine.MayOffload, false), c.Methods[method]
	if best == nil || m.Strategy != best.Name || len(m.Args) > 0 {
		return nil
	}
	for _, class := range []engine.Class{engine.MayRecompute, engine.MayOffload} {
		if part := engine.Best(class, false); part != nil {
			if row := c.row(proto.Method{Strategy: part.Name}); row >= 0 {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// open reports whether p is unknown yet or the best so far of a solver that reached its limit.
func open(p *proto.Point) bool {
	return p == nil || p.Failure != nil && p.Failure.Kind == proto.Deadline
}

// point returns what is known of a method at a budget, or nil. While it is searched for, that includes what is known
// of its parts.
func (c *Curve) point(method, budget int) *proto.Point {
	p := c.Points[method][budget]
	if !open(p) {
		return p
	}
	for _, row := range c.parts(method) {
		q := c.Points[row][budget]
		if q != nil && q.StepTime > 0 && (p == nil || p.StepTime <= 0 || q.StepTime < p.StepTime) {
			taken := *q
			taken.Strategy, taken.Failure = c.Methods[method].Strategy, &proto.Failure{Kind: proto.Deadline}
			p = &taken
		}
	}
	return p
}

// final reports whether the point of a method at a budget is known and cannot improve: it will not be given
// more time, and no other budget of the method is under way whose result may improve it.
func (c *Curve) final(method, budget int) bool {
	p := c.Points[method][budget]
	if p == nil || open(p) && (method >= c.improved ||
		slices.ContainsFunc(c.parts(method), func(row int) bool { return !c.final(row, budget) })) {
		return false
	}
	st := engine.Lookup(c.Methods[method].Strategy)
	return c.ID == 0 || c.at != nil || method != c.live || st == nil || st.Sweeper == nil
}

// add appends a point, whose budget is larger than those before, unless the last one is faster.
func (l *Line) add(p LinePoint) {
	if n := len(l.Points); n == 0 || p.StepTime <= l.Points[n-1].StepTime {
		l.Points = append(l.Points, p)
	}
}

// With returns the line with point p inserted by its budget. It replaces a point of the same budget.
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

// Smallest returns the smallest budget for which a schedule is known, or 0 if there is none.
func (c *Curve) Smallest() engine.Bytes {
	best := engine.Bytes(0)
	for _, l := range c.Lines() {
		if b := l.Points[0].Budget; best == 0 || b < best {
			best = b
		}
	}
	return best
}
