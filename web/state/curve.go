package state

import (
	"cmp"
	"slices"
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

	rows      []int // methods that the sweep at work asks for, in its order
	Improving int   // complete, but so many points are being given more time
	improved  int   // methods whose points were given more time
	method    int   // that is being improved
	at        []int // and its budgets; nil before
}

// tradeoff is the part of the state about step time against budget.
type tradeoff struct {
	Curve   *Curve   // of the present setting; nil before the first
	Preview *Picture // shown instead of Shown while the pointer is on the curve, while an answer is tried, or by the story

	hover  string // key of the point under the pointer
	curves recent[*Curve]
}

// CurvePoint is a place on the curve.
type CurvePoint struct {
	Strategy string
	Args     engine.Args
	Budget   engine.Bytes
}

// Complete says whether all points are known.
func (c *Curve) Complete() bool { return c.Total > 0 && c.Done >= c.Total }

// curveKey identifies the curve that a choice is on. Strategies with their default
// arguments share one.
func curveKey(c Choice) string {
	key := c.SettingKey() + "|"
	if len(c.Args) > 0 {
		key += c.MethodKey()
	}
	return key
}

// methods lists what a curve compares: every strategy that is drawn and applies,
// with its defaults, the chosen one first and with its arguments, then those that
// share work between budgets.
func (s *State) methods() []proto.Method {
	all := s.CurveStrategies()
	slices.SortStableFunc(all, func(a, b *engine.Strategy) int { return s.rank(a) - s.rank(b) })
	var out []proto.Method
	for _, st := range all {
		if !s.Drawn(st.Name) {
			continue
		}
		m := proto.Method{Strategy: st.Name}
		if st.Name == s.Choice.Strategy {
			m.Args = s.Choice.Args
		}
		out = append(out, m)
	}
	return out
}

// rank is where a strategy stands in the order of methods.
func (s *State) rank(st *engine.Strategy) int {
	switch {
	case st.Name == s.Choice.Strategy:
		return 0
	case st.Sweeper != nil:
		return 1
	}
	return 2
}

// followCurve makes Curve the one of the present choice. A new one is started
// only after a schedule is on screen, so that it never delays it, and only when
// the setting rests: a bandwidth that is dragged has no curve on the way.
func (s *State) followCurve() []Effect {
	key := curveKey(s.Choice)
	if c, ok := s.curves.get(key); ok {
		grown := s.grow(c)
		if c == s.Curve && !grown {
			return nil
		}
		out := s.cancelSweep()
		s.Curve = c
		s.touch()
		switch {
		case grown:
			out = append(out, s.sweep(c, true)...)
		case c.Stopped || c.Failed != "":
		case !c.Complete():
			out = append(out, s.sweep(c, true)...)
		default:
			out = append(out, s.improve(c)...)
		}
		return out
	}
	out := s.cancelSweep()
	if s.Solving != nil {
		return out
	}
	r := s.BudgetRange()
	c := &Curve{Budgets: r.sample(CurveBudgets)}
	if len(c.Budgets) == 0 || !s.grow(c) {
		return out
	}
	if s.Shown != nil && s.Shown.Network == s.Network {
		c.KeepAll = s.Shown.Solved.KeepAll
	}
	s.Curve = c
	s.curves.put(key, c)
	if c.Complete() { // of what is known already
		s.touch()
		return append(out, s.improve(c)...)
	}
	return append(out, s.sweep(c, true)...)
}

// grow adds the strategies that are drawn and are not in a curve yet, with the
// points that are known from the curve of the default arguments; true if it has
// added any.
func (s *State) grow(c *Curve) bool {
	known, _ := s.curves.byKey[s.Choice.SettingKey()+"|"]
	before := len(c.Methods)
	for _, m := range s.methods() {
		same := func(q proto.Method) bool {
			return choice.MethodKey(q.Strategy, q.Args) == choice.MethodKey(m.Strategy, m.Args)
		}
		if slices.ContainsFunc(c.Methods, same) {
			continue
		}
		row := make([]*proto.Point, len(c.Budgets))
		if known != nil && known != c {
			if at := slices.IndexFunc(known.Methods, same); at >= 0 && slices.Equal(known.Budgets, c.Budgets) {
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

// sweep asks for the points of all strategies of which some are not known, the
// chosen one's first.
func (s *State) sweep(c *Curve, soon bool) []Effect {
	c.ID, c.Failed, c.Stopped = s.newID(), "", false
	c.Improving, c.at, c.rows = 0, nil, nil
	req := proto.Sweep{Setting: s.Network.setting(s.Choice), Limit: pointLimit}
	for i, m := range c.Methods {
		if !slices.Contains(c.Points[i], nil) {
			continue
		}
		if m.Strategy == s.Choice.Strategy {
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
	return []Effect{Sweep{ID: c.ID, Request: req, Soon: soon}}
}

// improve asks again for the points of the next method that were not finished,
// with more time.
func (s *State) improve(c *Curve) []Effect {
	c.Improving, c.at = 0, nil
	for ; c.improved < len(c.Methods); c.improved++ {
		req := proto.Sweep{Setting: s.Network.setting(s.Choice), Methods: c.Methods[c.improved : c.improved+1], Limit: improveLimit}
		for b, p := range c.Points[c.improved] {
			if p != nil && p.Failure != nil && p.Failure.Kind == proto.Deadline {
				c.at = append(c.at, b)
				req.Budgets = append(req.Budgets, choice.Budget{Bytes: c.Budgets[b]})
			}
		}
		if len(c.at) > 0 {
			c.ID, c.method, c.Improving = s.newID(), c.improved, len(c.at)
			return []Effect{Sweep{ID: c.ID, Request: req, Soon: true}}
		}
	}
	return nil
}

// take puts a point into the curve. Of a point that was given more time the
// better answer counts.
func (c *Curve) take(p proto.Point) {
	if c.at != nil {
		if p.Index >= len(c.at) {
			return
		}
		p.Method, p.Index = c.method, c.at[p.Index]
		c.Improving = max(c.Improving-1, 1)
		if old := c.Points[p.Method][p.Index]; p.StepTime <= 0 && old.StepTime > 0 {
			return
		}
	} else {
		if p.Method >= len(c.rows) {
			return
		}
		if p.Method = c.rows[p.Method]; c.Points[p.Method][p.Index] == nil {
			c.Done++
		}
	}
	c.Points[p.Method][p.Index] = &p
}

func (t *tradeoff) cancelSweep() []Effect {
	c := t.Curve
	if c == nil || c.ID == 0 {
		return nil
	}
	id := c.ID
	c.ID, c.Improving = 0, 0
	return []Effect{Cancel{id}}
}

// StartSweep computes the curve.
type StartSweep struct{}

func (StartSweep) apply(s *State) []Effect {
	if c := s.Curve; c != nil && c.ID == 0 && !c.Complete() {
		s.DOM++
		return s.sweep(c, false)
	}
	return nil
}

// StopSweep gives it up.
type StopSweep struct{}

func (StopSweep) apply(s *State) []Effect {
	if c := s.Curve; c != nil && c.ID != 0 {
		c.Stopped = true
		s.DOM++
		return s.cancelSweep()
	}
	return nil
}

// SweptPoint is one point of a curve, or of the values of a parameter.
type SweptPoint struct {
	ID    int
	Point proto.Point
}

func (m SweptPoint) apply(s *State) []Effect {
	if s.Tuning.sweeps(m.ID) {
		s.Tuning.take(m.Point)
		s.DOM++
	} else if c := s.Curve; c.sweeps(m.ID) && m.Point.Method < len(c.Points) && m.Point.Index < len(c.Budgets) {
		c.take(m.Point)
	}
	return nil
}

// Swept ends a curve, or the values of a parameter.
type Swept struct {
	ID      int
	KeepAll proto.Reference
}

func (m Swept) apply(s *State) []Effect {
	c := s.Curve
	switch {
	case s.Tuning.sweeps(m.ID):
		return s.tuned()
	case !c.sweeps(m.ID):
		return nil
	case c.at != nil:
		c.improved++
	default:
		c.KeepAll, c.Done = m.KeepAll, c.Total
	}
	c.ID = 0
	s.DOM++
	return s.improve(c)
}

// SweepFailed ends it early.
type SweepFailed struct {
	ID   int
	Text string
}

func (m SweepFailed) apply(s *State) []Effect {
	switch c := s.Curve; {
	case s.Tuning.sweeps(m.ID):
		s.Tuning.ID, s.Tuning.Failed = 0, headline(m.Text)
	case c.sweeps(m.ID):
		c.ID, c.Failed, c.Improving = 0, headline(m.Text), 0
	default:
		return nil
	}
	s.DOM++
	return nil
}

// sweeps says whether the curve waits for answers under an ID.
func (c *Curve) sweeps(id int) bool { return c != nil && c.ID == id }

// Hover previews a point of the curve.
type Hover struct{ Point CurvePoint }

func (m Hover) apply(s *State) []Effect {
	if s.Network == nil {
		return nil
	}
	return s.preview(at(s.Choice, m.Point), true)
}

// preview shows the picture of a choice instead, as soon as there is one.
func (s *State) preview(c Choice, soon bool) []Effect {
	key := s.Network.pictureKey(c)
	if key == s.hover {
		return nil
	}
	s.hover = key
	if pic, ok := s.pictures.get(key); ok {
		s.Preview = pic
		s.touch()
		return nil
	}
	return []Effect{Solve{ID: s.newID(), Choice: c, Request: s.Network.request(c), Slot: ForPreview, Soon: soon}}
}

// Unhover ends that.
type Unhover struct{}

func (Unhover) apply(s *State) []Effect { return s.unpreview() }

func (s *State) unpreview() []Effect {
	s.hover = ""
	if told := s.told(); s.Preview != told {
		s.Preview = told
		s.touch()
	}
	return nil
}

// Adopt makes a point of the curve the choice.
type Adopt struct{ Point CurvePoint }

func (m Adopt) apply(s *State) []Effect {
	s.unpreview()
	return s.choose(at(s.Choice, m.Point), Push, false)
}

// at is a choice moved to a point of the curve.
func at(c Choice, p CurvePoint) Choice {
	c.Strategy, c.Args, c.Budget = p.Strategy, p.Args, choice.Budget{Bytes: p.Budget}
	return c
}

// Line is one strategy of the curve, its points in the order of budgets.
type Line struct {
	Method proto.Method
	Title  string
	Points []LinePoint
}

// LinePoint is a budget and the step time at it.
type LinePoint struct {
	Budget   engine.Bytes
	StepTime time.Duration
	Partial  time.Duration // not 0: it is the best found in this time, and more time may find better
}

// Lines are the strategies of the curve with the points that are known and
// feasible, by budget. What fits into a budget fits into every larger one: a point
// that is slower than one before it is left out, so that a line says what is the
// best that is known in so much memory. A strategy without any point is left out.
func (c *Curve) Lines() []Line {
	var out []Line
	for i, m := range c.Methods {
		l := Line{Method: m, Title: choice.PlanName(m.Strategy)}
		for _, p := range c.Points[i] {
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

// add adds a point behind those of smaller budgets, unless one of them is faster.
func (l *Line) add(p LinePoint) {
	if n := len(l.Points); n == 0 || p.StepTime <= l.Points[n-1].StepTime {
		l.Points = append(l.Points, p)
	}
}

// With is a line with one more point, in its place: instead of the one of the same
// budget, if there is one.
func (l Line) With(p LinePoint) Line {
	points := append(slices.DeleteFunc(slices.Clone(l.Points), func(q LinePoint) bool { return q.Budget == p.Budget }), p)
	slices.SortFunc(points, func(a, b LinePoint) int { return cmp.Compare(a.Budget, b.Budget) })
	l.Points = nil
	for _, q := range points {
		l.add(q)
	}
	return l
}

// Smallest is the smallest budget at which some strategy found a schedule; 0 if
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
