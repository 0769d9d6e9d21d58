package proto

import (
	"cmp"
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

// Op implements Request.
func (*Solve) Op() string { return "solve" }

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
	Strategy string          `json:"strategy"`
	Budget   engine.Bytes    `json:"budget"` // in bytes
	Claim    Claim           `json:"claim"`
	Verdict  Verdict         `json:"verdict"`
	Bounds   []Bound         `json:"bounds,omitempty"`
	KeepAll  Reference       `json:"keep_all"` // keeping everything, without any limit
	Schedule engine.Schedule `json:"-"`
	Trace    *sim.Trace      `json:"-"` // nil if sim refused the schedule; then Verdict says why
	// Ghost is the device memory in use over time when everything is kept, without a limit. It is
	// for pictures: at most MostGhost points, each with the largest use of its time range.
	Ghost []sim.Point `json:"-"`
}

func (s *Solved) columns(c *codec) {
	c.schedule(&s.Schedule)
	if c.optional(s.Trace != nil) {
		s.Trace = cmp.Or(s.Trace, new(sim.Trace))
		c.trace(s.Trace)
	}
	c.points(&s.Ghost)
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

// Verdict is what the independent checker says about a schedule.
type Verdict struct {
	Verified bool   `json:"verified"`        // check agreed and the claims equal the measurement
	Problem  string `json:"error,omitempty"` // what is wrong, if not verified
}

// Bound is a lower bound of the step time, with the name of its argument.
type Bound struct {
	Name     string        `json:"name"`
	StepTime time.Duration `json:"step_time"`
}

// Reference is a step time and a peak to compare with.
type Reference struct {
	StepTime time.Duration `json:"step_time"`
	Peak     engine.Bytes  `json:"peak"`
}
