package proto

import (
	"encoding/json"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/choice"
)

// Network says which profile a request is about: a preset, or a profile in
// native JSON, as Opened.Profile has it. Exactly one of the two is set.
type Network struct {
	Preset  string          `json:"preset,omitempty"` // "resnet101-b32"
	Profile json.RawMessage `json:"-"`
	Graph   bool            `json:"graph,omitempty"` // the operations, of a profile that has a chain too

	// Model and Options are set for the step of a language model under a policy that says what its blocks keep: the
	// model, or the text of its config.json, with all options of package ask. What a schedule is compared with stays
	// the network above.
	Model   string      `json:"model,omitempty"`
	Options engine.Args `json:"options,omitempty"`
}

// Setting is all of a problem except for its budget.
type Setting struct {
	Network   Network          `json:"network"`
	Device    engine.Device    `json:"device"` // only rates and duplex are used; the rest is for people
	Transfers engine.Transfers `json:"transfers"`
}

// The profile of a large network is megabytes of JSON and goes with every request. It is sent as
// raw bytes, so that it is decoded only by a worker that does not have the network yet.
func (s *Setting) columns(c *codec) { c.raw((*[]byte)(&s.Network.Profile)) }

// Method is a strategy with its arguments; missing ones take their defaults.
type Method struct {
	Strategy string      `json:"strategy"` // engine.Strategy.Name
	Args     engine.Args `json:"args,omitempty"`
}

// Solve asks for one schedule.
type Solve struct {
	brings[*Solved, *Solving]
	Setting
	Method
	Budget choice.Budget `json:"budget"`
	// Limit is how long the solver may take; 0 means no limit. When it has passed, the answer is a
	// failure of kind Deadline, with the best so far.
	Limit time.Duration `json:"limit,omitempty"`
}

// Solving is the progress of a solve, from time to time with the best so far.
type Solving struct {
	Progress
	Best *Solved `json:"best,omitempty"`
}

func (s *Solving) columns(c *codec) {
	if s.Best != nil {
		s.Best.columns(c)
	}
}

// Solved is a schedule with what its strategy claims and what was measured.
type Solved struct {
	Strategy string        `json:"strategy"`
	Budget   engine.Bytes  `json:"budget"` // in bytes
	Claim    Claim         `json:"claim"`
	Verdict  Check         `json:"verdict"`
	Bounds   []Bound       `json:"bounds,omitempty"`
	KeepAll  Reference     `json:"keep_all"`        // keeping everything, without any limit
	Chain    *engine.Chain `json:"chain,omitempty"` // with Network.Model: the blocks as they are under the policy
	// with Chain: the range of what PyTorch's allocator reserves for the step
	Reserved [2]engine.Bytes `json:"reserved,omitzero"`
	Host     engine.Bytes    `json:"host,omitzero"` // the most that waits in host memory
	Schedule engine.Schedule `json:"-"`
	Trace    *sim.Trace      `json:"-"` // nil if sim refused the schedule; then Verdict says why
	// Ghost is the device memory in use over time when everything is kept, without a limit. It is
	// for pictures: at most MostGhost points, each with the largest use of its time range.
	Ghost []sim.Point `json:"-"`
}

func (s *Solved) columns(c *codec) {
	c.schedule(&s.Schedule)
	if optional(c, &s.Trace) {
		c.trace(s.Trace)
	}
	rows(c, &s.Ghost)
}

// MostGhost is the largest number of points of Solved.Ghost.
const MostGhost = 1024

// Claim is what the strategy states about its schedule.
type Claim struct {
	StepTime time.Duration `json:"step_time"`
	Peak     engine.Bytes  `json:"peak"`
	Optimal  bool          `json:"optimal,omitempty"`
	Within   string        `json:"within,omitempty"`
	Bound    time.Duration `json:"bound,omitempty"`
	Notes    []string      `json:"notes,omitempty"`
	Stopped  bool          `json:"stopped,omitempty"` // the search stopped at limits of its own; a note says so
}

// Check is what the independent checker says about a schedule.
type Check struct {
	Verified bool   `json:"verified"`        // check agreed and the claims equal the measurement
	Problem  string `json:"error,omitempty"` // what is wrong, if not verified
}

// Bound is a lower bound of the step time, with the name of its argument.
type Bound struct {
	Name     string        `json:"name"`
	StepTime time.Duration `json:"step_time_ns"`
}

// Reference is a step time and a peak to compare with.
type Reference struct {
	StepTime time.Duration `json:"step_time_ns"`
	Peak     engine.Bytes  `json:"peak_bytes"`
}

// Sweep asks for one point per method and budget, budgets inside methods.
type Sweep struct {
	brings[*Swept, *Point]
	Setting
	Methods []Method        `json:"methods"`
	Budgets []choice.Budget `json:"budgets"`
	Limit   time.Duration   `json:"limit,omitempty"` // per point; 0: no limit. Points that share work share it
}

// Point is one strategy at one budget. If Failure is not nil there is no schedule (Failure.Kind says why: Infeasible,
// Unsupported, ...), unless StepTime is above 0: then the deadline has passed and this is the best so far.
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
	Verdict  Check         `json:"verdict"`
	Failure  *Failure      `json:"failure,omitempty"`
}

// Partial reports whether the point is the best so far of a solver that reached its limit.
func (p *Point) Partial() bool {
	return p.StepTime > 0 && p.Failure != nil && p.Failure.Kind == Deadline
}

// Swept ends a sweep.
type Swept struct {
	KeepAll Reference `json:"keep_all"`
}

// Question asks what would help about a problem, which takes several schedules to answer.
type Question struct {
	brings[*Nothing, *Suggestion]
	Setting
	Method
	Budget  choice.Budget `json:"budget"`
	Methods []Method      `json:"others,omitempty"` // that are solved besides
	Limit   time.Duration `json:"limit,omitempty"`  // per schedule; 0: no limit
	// if the network is the step of a config.json: the text of that, and its options of package ask
	Model   string      `json:"model,omitempty"`
	Options engine.Args `json:"options,omitempty"`
}

// Suggestion is one answer to a Question. It names only what the question varies; the rest is as in the
// Question. A schedule was computed for it.
type Suggestion struct {
	Name     string         `json:"name,omitempty"`    // for people
	Strategy string         `json:"strategy"`          // the method
	Budget   engine.Bytes   `json:"budget"`            // for which the schedule was solved
	Preset   string         `json:"preset,omitempty"`  // the network, if the question changes it
	Options  engine.Args    `json:"options,omitempty"` // of Question.Model, if the question changes them
	Device   *engine.Device `json:"device,omitempty"`  // the link, if the question changes it
	// batch size of Preset, if its step does more work than that of the Question
	Batch    int           `json:"batch,omitempty"`
	StepTime time.Duration `json:"step_time,omitempty"` // measured; 0 if there is no schedule
	Peak     engine.Bytes  `json:"peak,omitempty"`
	Partial  bool          `json:"partial,omitempty"` // best so far when Limit passed
	Failure  *Failure      `json:"failure,omitempty"` // why there is no schedule
	Done     int           `json:"done"`              // answers given so far, this one included
	Total    int           `json:"total"`             // 0 if unknown
}

// Form is a format in which a schedule is exported.
type Form string

// The forms.
const (
	FormJSON Form = "json" // the documented list of steps (see package export)
	FormPlan Form = "plan" // a plan for the unmodified model, see package engine/play
)

// Export asks for a schedule as a file for other programs, or with FormPlan for a plan. A plan is made from a profile
// of kind operators as it was opened, and takes no Schedule. Only the second program answers it (see package serve).
type Export struct {
	brings[*Exported, *Nothing]
	Setting
	Method
	Budget   engine.Bytes    `json:"budget"` // for which the schedule was solved
	Form     Form            `json:"form"`
	Class    string          `json:"class,omitempty"` // FormPlan: the class of the model
	Schedule engine.Schedule `json:"-"`
}

func (e *Export) columns(c *codec) {
	e.Setting.columns(c)
	c.schedule(&e.Schedule)
}

// Exported is the result of Export: the content of the file.
type Exported struct {
	Text []byte `json:"-"`
}

func (e *Exported) columns(c *codec) { c.raw(&e.Text) }
