package tradeoff

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
	ID      int    // of the sweep that is at work, 0 if none is
	Key     string // TuningKey of what it is about; empty: it was given up and is asked for again
	Budget  engine.Bytes
	Params  []Param
	Done    int
	Total   int
	Stopped bool   // a person gave it up
	Failed  string // why it ended early

	refined bool // it was looked at more closely where something fits
}

// Param is a parameter with the values that are tried, increasing, and what
// came out; nil: not known yet.
type Param struct {
	Name   string
	Unit   string // of the values, for people
	Values []int
	Points []*proto.Point
}

// tuned returns the parameters of a strategy whose values are tried.
func tuned(strategy string) (out []Param) {
	if st := engine.Lookup(strategy); st != nil {
		for _, p := range st.Params {
			if p.Tried != "" {
				out = append(out, Param{Name: p.Name, Unit: p.Tried})
			}
		}
	}
	return out
}

const (
	tuningSteps = 40                     // values of a parameter that are tried
	tuningLimit = 300 * time.Millisecond // for each
)

// Tunable reports whether a strategy has parameters whose values are tried.
func Tunable(strategy string) bool { return len(tuned(strategy)) > 0 }

// TuningKey identifies the tuning of a choice in a budget: its strategy has to be
// tunable. Arguments that the tried values replace do not matter.
func TuningKey(c choice.Choice, budget engine.Bytes) string {
	if params := tuned(c.Strategy); len(params) == 1 {
		c.Args = choice.WithArg(c.Strategy, c.Args, params[0].Name, "0")
	}
	return fmt.Sprintf("%s|%s|%d", c.SettingKey(), c.MethodKey(), budget)
}

// NewTuning returns the tuning of a choice in a budget, of which nothing has been asked.
func NewTuning(c choice.Choice, budget engine.Bytes, g *engine.Graph) *Tuning {
	t := &Tuning{Key: TuningKey(c, budget), Budget: budget}
	for _, p := range tuned(c.Strategy) {
		if p.Unit == "MiB" {
			p.sizes(int(sequence(g) >> 20))
		} else {
			p.counts(len(g.Ops))
		}
		t.Params = append(t.Params, p)
	}
	return t
}

// sequence returns the size of what all operations read and make, one after the other:
// a window that large covers the whole step. It may be far above what the step
// ever holds, because values that are used again are counted again.
func sequence(g *engine.Graph) (all engine.Bytes) {
	for i := range g.Ops {
		op := &g.Ops[i]
		for _, v := range slices.Concat(op.In, op.Out) {
			all += g.Values[v].Size
		}
	}
	return all
}

// sizes tries sizes, evenly up to most MiB.
func (p *Param) sizes(most int) {
	p.Values = nil
	steps := min(tuningSteps, max(most, 1))
	for i := 1; i <= steps; i++ {
		p.Values = append(p.Values, max(most*i/steps, 1))
	}
	p.Values = slices.Compact(p.Values)
}

// counts tries numbers of operations, more densely where they are small.
func (p *Param) counts(ops int) {
	for v := 1; v <= ops; v += 1 + v/6 {
		p.Values = append(p.Values, v)
	}
}

// Sweeps reports whether the values are tried under an ID.
func (t *Tuning) Sweeps(id int) bool { return t != nil && t.ID == id }

// Missing asks for all values, the other arguments being those of c. Who sends it sets ID.
func (t *Tuning) Missing(set proto.Setting, c choice.Choice) proto.Sweep {
	t.Done, t.Total, t.Stopped, t.Failed = 0, 0, false, ""
	req := proto.Sweep{Setting: set, Budgets: []choice.Budget{{Bytes: t.Budget}}, Limit: tuningLimit}
	for i := range t.Params {
		p := &t.Params[i]
		for _, v := range p.Values {
			req.Methods = append(req.Methods, proto.Method{Strategy: c.Strategy,
				Args: choice.WithArg(c.Strategy, c.Args, p.Name, strconv.Itoa(v))})
		}
		p.Points = make([]*proto.Point, len(p.Values))
		t.Total += len(p.Values)
	}
	return req
}

// Take puts what came out for a value where it belongs.
func (t *Tuning) Take(p proto.Point) {
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

// Refine replaces the sizes by closer ones where only the smaller half fits; false if
// there is nothing to refine. A larger window never needs less memory, so nothing fits
// above one that does not.
func (t *Tuning) Refine() bool {
	if t.refined || len(t.Params) != 1 || t.Params[0].Unit != "MiB" {
		return false
	}
	t.refined = true
	p := &t.Params[0]
	first := slices.IndexFunc(p.Points, func(q *proto.Point) bool { return q != nil && q.StepTime == 0 })
	if first < 0 || first > len(p.Points)/2 || p.Values[first] <= len(p.Values)/2 {
		return false
	}
	p.sizes(p.Values[first])
	return true
}

// Fastest returns the index of the value with the shortest step, -1 if none fits or
// none is known yet. Of equals it is the smallest, which needs the least memory.
func (p *Param) Fastest() int {
	best := -1
	for i, q := range p.Points {
		if q != nil && q.StepTime > 0 && (best < 0 || q.StepTime < p.Points[best].StepTime) {
			best = i
		}
	}
	return best
}
