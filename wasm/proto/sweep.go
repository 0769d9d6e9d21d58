package proto

import (
	"time"

	"memtide/engine"
	"memtide/web/choice"
)

// Sweep asks for one point per method and budget, budgets inside methods.
type Sweep struct {
	brings[*Swept, *Point]
	Setting
	Methods []Method        `json:"methods"`
	Budgets []choice.Budget `json:"budgets"`
	Limit   time.Duration   `json:"limit,omitempty"` // per point; 0: none. Points that share work share it
}

// Op implements Request.
func (*Sweep) Op() string { return "sweep" }

// Point is one strategy at one budget. If Failure is not nil there is no schedule (Failure.Kind
// says why: Infeasible, Unsupported, ...), unless StepTime is above 0: then the deadline has passed
// and this is the best so far.
type Point struct {
	Method   int           `json:"method"` // index into Sweep.Methods
	Index    int           `json:"index"`  // index into Sweep.Budgets
	Done     int           `json:"done"`   // points answered so far, this one included
	Total    int           `json:"total"`
	Strategy string        `json:"strategy"`
	Budget   engine.Bytes  `json:"budget"`
	StepTime time.Duration `json:"step_time,omitempty"` // measured
	Peak     engine.Bytes  `json:"peak,omitempty"`      // measured
	Optimal  bool          `json:"optimal,omitempty"`
	Bound    time.Duration `json:"bound,omitempty"` // lower bound of any schedule of the strategy's class
	Took     time.Duration `json:"took,omitempty"`  // time that was spent on it, by the worker's clock
	Verdict  Verdict       `json:"verdict"`
	Failure  *Failure      `json:"failure,omitempty"`
}

// Partial reports whether the point is the best so far of a solver that reached its limit.
func (p *Point) Partial() bool {
	return p.StepTime > 0 && p.Failure != nil && p.Failure.Kind == Deadline
}

// Swept ends a sweep.
type Swept struct {
	Points  int       `json:"points"`
	KeepAll Reference `json:"keep_all"`
}
