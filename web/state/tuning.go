package state

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// Tuning is step time against the values of the chosen strategy's parameters, at
// the present budget: each parameter by itself, the others as they are chosen.
type Tuning struct {
	ID      int // of the sweep that is at work, 0 if none is
	Budget  engine.Bytes
	Params  []TunedParam
	Done    int
	Total   int
	Stopped bool   // a person gave it up
	Failed  string // why it ended early

	key     string
	refined bool // it was looked at more closely where something fits
}

// trials is the part of the state about the values of parameters that are tried.
type trials struct {
	Tuning  *Tuning // of the present choice; nil if there is nothing to try
	tunings recent[*Tuning]
}

// TunedParam is a parameter with the values that are tried, increasing, and what
// came out; nil: not known yet.
type TunedParam struct {
	Name   string
	Unit   string // of the values, for people
	Values []int
	Points []*proto.Point
}

// tuned are the parameters of strategies whose values are tried.
var tuned = map[string][]TunedParam{
	"window": {{Name: "window", Unit: "MiB"}},
	"lms":    {{Name: "threshold", Unit: "operations"}, {Name: "ahead", Unit: "operations"}},
}

const (
	tuningSteps = 40                     // values of a parameter that are tried
	tuningLimit = 300 * time.Millisecond // for each
)

// followTuning makes Tuning the one of the present choice. Like a curve it is
// begun only when a schedule is on screen.
func (s *State) followTuning() []Effect {
	params := tuned[s.Choice.Strategy]
	if len(params) == 0 || s.Network == nil {
		out := s.cancelTuning()
		s.Tuning = nil
		return out
	}
	key := fmt.Sprintf("%s|%s|%d", s.Choice.SettingKey(), tuningMethods(s.Choice), s.Budget())
	if s.Tuning != nil && s.Tuning.key == key {
		return nil
	}
	out := s.cancelTuning()
	if t, ok := s.tunings.get(key); ok {
		s.Tuning = t
		s.DOM++
		return out
	}
	if s.Solving != nil || s.OverBudget != nil { // the picture first
		return out
	}
	t := &Tuning{key: key, Budget: s.Budget()}
	for _, p := range params {
		p.Values = s.Network.tuningValues(p, int(s.Network.sequence()>>20))
		p.Points = make([]*proto.Point, len(p.Values))
		t.Params = append(t.Params, p)
	}
	s.Tuning = t
	return append(out, s.sweepTuning(t)...)
}

// tuningMethods identifies the strategy and those of its arguments that the
// tried values do not replace.
func tuningMethods(c Choice) string {
	if params := tuned[c.Strategy]; len(params) == 1 {
		c.Args = choice.WithArg(c.Strategy, c.Args, params[0].Name, "0")
	}
	return c.MethodKey()
}

// sequence is the size of what all operations read and make, one after the other:
// a window that large covers the whole step. It may be far above what the step
// ever holds, because values that are used again are counted again.
func (n *Network) sequence() (all engine.Bytes) {
	for i := range n.Graph.Ops {
		op := &n.Graph.Ops[i]
		for _, v := range slices.Concat(op.In, op.Out) {
			all += n.Graph.Values[v].Size
		}
	}
	return all
}

// tuningValues are the values of a parameter: sizes evenly up to most MiB,
// numbers of operations more densely where they are small.
func (n *Network) tuningValues(p TunedParam, most int) []int {
	var out []int
	if p.Unit == "MiB" {
		steps := min(tuningSteps, max(most, 1))
		for i := 1; i <= steps; i++ {
			out = append(out, max(most*i/steps, 1))
		}
		return slices.Compact(out)
	}
	for v := 1; v <= len(n.Graph.Ops); v += 1 + v/6 {
		out = append(out, v)
	}
	return out
}

// sweepTuning asks for all values.
func (s *State) sweepTuning(t *Tuning) []Effect {
	t.ID, t.Done, t.Total, t.Stopped, t.Failed = s.newID(), 0, 0, false, ""
	req := proto.Sweep{Setting: s.Network.setting(s.Choice), Budgets: []choice.Budget{{Bytes: t.Budget}}, Limit: tuningLimit}
	for _, p := range t.Params {
		for _, v := range p.Values {
			req.Methods = append(req.Methods, proto.Method{Strategy: s.Choice.Strategy,
				Args: choice.WithArg(s.Choice.Strategy, s.Choice.Args, p.Name, strconv.Itoa(v))})
		}
		clear(p.Points)
		t.Total += len(p.Values)
	}
	s.DOM++
	return []Effect{Sweep{ID: t.ID, Request: req, Soon: true}}
}

func (s *State) cancelTuning() []Effect {
	t := s.Tuning
	if t == nil || t.ID == 0 {
		return nil
	}
	id := t.ID
	t.ID, t.key = 0, "" // it is not complete: asked again, it begins again
	s.DOM++
	return []Effect{Cancel{id}}
}

// StartTuning tries the values of the strategy's parameters again.
type StartTuning struct{}

func (StartTuning) apply(s *State) []Effect {
	if t := s.Tuning; t != nil && t.ID == 0 {
		t.key = ""
		return s.followTuning()
	}
	return nil
}

// StopTuning gives that up.
type StopTuning struct{}

func (StopTuning) apply(s *State) []Effect {
	t := s.Tuning
	if t == nil {
		return nil
	}
	key := t.key
	out := s.cancelTuning()
	t.Stopped, t.key = true, key // until something else is chosen
	return out
}

// sweeps says whether the values are tried under an ID.
func (t *Tuning) sweeps(id int) bool { return t != nil && t.ID == id }

// take puts what came out for a value where it belongs.
func (t *Tuning) take(p proto.Point) {
	at := p.Method
	for i := range t.Params {
		if at < len(t.Params[i].Points) {
			t.Params[i].Points[at] = &p
			break
		}
		at -= len(t.Params[i].Points)
	}
	t.Done++
}

// tuned ends the trying of values, or begins with closer ones.
func (s *State) tuned() []Effect {
	t := s.Tuning
	t.ID = 0
	s.DOM++
	if t.refine(s.Network) {
		return s.sweepTuning(t)
	}
	s.tunings.put(t.key, t)
	return nil
}

// refine replaces the sizes by closer ones where only the smaller half fits. A
// larger window never needs less memory, so nothing fits above one that does not.
func (t *Tuning) refine(n *Network) bool {
	if t.refined || len(t.Params) != 1 || t.Params[0].Unit != "MiB" {
		return false
	}
	t.refined = true
	p := &t.Params[0]
	first := slices.IndexFunc(p.Points, func(q *proto.Point) bool { return q != nil && q.StepTime == 0 })
	if first < 0 || first > len(p.Points)/2 || p.Values[first] <= len(p.Values)/2 {
		return false
	}
	p.Values = n.tuningValues(*p, p.Values[first])
	p.Points = make([]*proto.Point, len(p.Values))
	return true
}

// Fastest is the index of the value with the shortest step, -1 if none fits or
// none is known yet. Of equals it is the smallest, which needs the least memory.
func (p *TunedParam) Fastest() int {
	best := -1
	for i, q := range p.Points {
		if q != nil && q.StepTime > 0 && (best < 0 || q.StepTime < p.Points[best].StepTime) {
			best = i
		}
	}
	return best
}
