package proto

import (
	"encoding/json"
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/web/choice"
)

// Op is what a request asks for.
type Op string

// The requests.
const (
	OpOpen     Op = "open"
	OpSolve    Op = "solve"
	OpSweep    Op = "sweep"
	OpPlace    Op = "place"
	OpQuestion Op = "ask"
	OpExport   Op = "export"
	OpDoctor   Op = "doctor"
	OpStep     Op = "step"
)

// Request is what a worker is asked for. The field that Op names is
// set. A page that was started for self-tests may send other ops,
// which serve.Handle answers as bad requests (see package pool).
type Request struct {
	Op       Op        `json:"op"`
	Open     *Open     `json:"open,omitempty"`
	Solve    *Solve    `json:"solve,omitempty"`
	Sweep    *Sweep    `json:"sweep,omitempty"`
	Place    *Place    `json:"place,omitempty"`
	Question *Question `json:"ask,omitempty"`
	Export   *Export   `json:"export,omitempty"`
	Doctor   *Doctor   `json:"doctor,omitempty"`
	Step     *Step     `json:"step,omitempty"`
	Test     string    `json:"test,omitempty"`
}

// Open asks to read a file, or to look at a preset. The file is opened if
// Preset is empty.
type Open struct {
	File   string `json:"file,omitempty"` // name of the file, a hint for the message texts only
	Preset string `json:"preset,omitempty"`
	Bytes  []byte `json:"-"` // content of the file
	// Decoded is what Bytes hold, of a profile that is known already, in native JSON; nil
	// in another worker than the caller.
	Decoded *profiles.Profile `json:"-"`
	// Keep is a number of the page's own for a file whose recording is examined later:
	// the worker keeps it at hand. 0: it does not.
	Keep   int  `json:"keep,omitempty"`
	Device *int `json:"device,omitempty"` // of the file's devices; nil: the format chooses
	// Handle is a file that the worker reads itself, as the browser gives it: a
	// large one is not copied through the page. Bytes are then nil on the page.
	Handle any `json:"-"`
	// Content is that file in the worker.
	Content profiles.Content `json:"-"`
}

// Network says which profile a request is about: a preset, or a profile in
// native JSON, as Opened.Profile has it. Exactly one of the two is set.
type Network struct {
	Preset  string          `json:"preset,omitempty"` // "resnet101-b32"
	Profile json.RawMessage `json:"-"`
	Graph   bool            `json:"graph,omitempty"` // of a profile that has both, the operations instead of the chain
}

// Setting is all of a problem except for its budget.
type Setting struct {
	Network   Network          `json:"network"`
	Device    engine.Device    `json:"device"` // rates and duplex decide; the rest is for people
	Transfers engine.Transfers `json:"transfers"`
}

// Method is a strategy with its arguments; missing ones have their defaults.
type Method struct {
	Strategy string      `json:"strategy"` // engine.Strategy.Name
	Args     engine.Args `json:"args,omitempty"`
}

// Solve asks for one schedule.
type Solve struct {
	Setting
	Method
	Budget choice.Budget `json:"budget"`
	// Limit is how long the solver may take; 0 is as long as it needs. After
	// it the answer is a failure of kind Deadline, with the best so far.
	Limit time.Duration `json:"limit,omitempty"`
}

// Sweep asks for one point per method and budget, budgets inside methods.
type Sweep struct {
	Setting
	Methods []Method        `json:"methods"`
	Budgets []choice.Budget `json:"budgets"`
	Limit   time.Duration   `json:"limit,omitempty"` // per point; 0 is as long as it needs; where points share work, what earlier ones leave is for later ones
}

// Kind is the kind of a reply.
type Kind string

// The kinds of replies.
const (
	KindProgress Kind = "progress"
	KindResult   Kind = "result"
	KindFailure  Kind = "failure"
)

// Reply is an answer of a worker.
//
//	progress  Progress (of a solve with Solved, if Progress.Best), or Point of a sweep, or Answer of a question, or Stepped
//	result    Opened, Solved, Swept, Placed, Answered, Exported, Examined or Stepped, according to the request
//	failure   Failure (and Solved or Placed, if the deadline passed and there is a best so far)
type Reply struct {
	Kind     Kind      `json:"kind"`
	Opened   *Opened   `json:"opened,omitempty"`
	Solved   *Solved   `json:"solved,omitempty"`
	Swept    *Swept    `json:"swept,omitempty"`
	Placed   *Placed   `json:"placed,omitempty"`
	Answered *Answered `json:"asked,omitempty"`
	Exported *Exported `json:"exported,omitempty"`
	Examined *Examined `json:"examined,omitempty"`
	Stepped  *Stepped  `json:"stepped,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
	Point    *Point    `json:"point,omitempty"`
	Answer   *Answer   `json:"answer,omitempty"`
	Failure  *Failure  `json:"failure,omitempty"`
}

// Opened is a profile that was read. Everything the page draws without a
// solver follows from Profile.
type Opened struct {
	Profile json.RawMessage   `json:"-"` // native JSON, canonical
	Decoded *profiles.Profile `json:"-"` // the same, where no worker is between
	// GraphTotals are the sums of the operations of a profile that has both a
	// chain and operations, for Network.Graph.
	GraphTotals Totals   `json:"graph_totals,omitzero"`
	Preset      string   `json:"preset,omitempty"`
	Format      string   `json:"format"`             // what it was read from
	Lint        []string `json:"lint,omitempty"`     // findings, for people
	Totals      Totals   `json:"totals"`             // of the chain, or of the operations if there is none
	NoChain     string   `json:"no_chain,omitempty"` // why it is none; empty if it is one
	Packed      string   `json:"packed,omitempty"`   // as profiles.Profile has it
	Memory      *Memory  `json:"memory,omitempty"`   // of files about addresses; then all of the above but Format and Lint is empty
}

// Totals are sums over a chain or a graph: what shows a wrong unit at a glance.
type Totals struct {
	Stages      int           `json:"stages"`        // of a chain, the loss not included
	Ops         int           `json:"ops,omitempty"` // of a graph
	Forward     time.Duration `json:"forward"`
	Back        time.Duration `json:"back"`
	Saved       engine.Bytes  `json:"saved"` // sum of abar
	Out         engine.Bytes  `json:"out"`   // sum of a
	Resident    engine.Bytes  `json:"resident"`
	KeepAllPeak engine.Bytes  `json:"keep_all_peak"` // 100 % of keep-everything
	Batch       int           `json:"batch,omitempty"`
}

// Solved is a schedule with what is claimed and what was measured.
type Solved struct {
	Strategy string          `json:"strategy"`
	Budget   engine.Bytes    `json:"budget"` // in bytes, resolved
	Claim    Claim           `json:"claim"`
	Verdict  Verdict         `json:"verdict"`
	Bounds   []Bound         `json:"bounds,omitempty"`
	KeepAll  Reference       `json:"keep_all"` // keeping everything, without any limit
	Schedule engine.Schedule `json:"-"`
	Trace    *sim.Trace      `json:"-"` // nil if sim refused the schedule; then Verdict says why
	// Ghost is the device memory in use over time if everything is kept, without any
	// limit, for pictures: at most MostGhost points, each with the most of its stretch.
	Ghost []sim.Point `json:"-"`
}

// MostGhost is the number of points of Solved.Ghost at most.
const MostGhost = 1024

// Claim is what the strategy says of its schedule.
type Claim struct {
	StepTime time.Duration `json:"step_time"`
	Peak     engine.Bytes  `json:"peak"`
	Optimal  bool          `json:"optimal,omitempty"`
	Within   string        `json:"within,omitempty"`
	Bound    time.Duration `json:"bound,omitempty"`
	Notes    []string      `json:"notes,omitempty"`
	Stopped  bool          `json:"stopped,omitempty"` // limits of its own ended the search before it was done; a note says so
}

// Verdict is what the second opinion says about a schedule.
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

// Progress is how far a solve is, in units of the solver's own.
type Progress struct {
	Done  int  `json:"done"`
	Total int  `json:"total,omitempty"` // 0 if unknown
	Best  bool `json:"best,omitempty"`  // Reply.Solved is the best so far
}

// Point is one strategy at one budget. If Failure is not nil there is no
// schedule (Failure.Kind says why: Infeasible, Unsupported, ...), unless
// StepTime is above 0: then the deadline passed and it is the best so far.
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
	Took     time.Duration `json:"took,omitempty"`  // time that was spent on it, by the clock of the worker
	Verdict  Verdict       `json:"verdict"`
	Failure  *Failure      `json:"failure,omitempty"`
}

// Partial says that the point is the best so far of a solver whose time was over.
func (p *Point) Partial() bool {
	return p.StepTime > 0 && p.Failure != nil && p.Failure.Kind == Deadline
}

// Swept ends a sweep.
type Swept struct {
	Points  int       `json:"points"`
	KeepAll Reference `json:"keep_all"`
}

// FailureKind keeps the ways to fail apart.
type FailureKind string

// The ways to fail.
const (
	Infeasible  FailureKind = "infeasible"  // no schedule of the strategy fits; Smallest would do, if known
	Unsupported FailureKind = "unsupported" // the strategy cannot work on this problem at all
	Deadline    FailureKind = "deadline"    // Limit passed
	BadRequest  FailureKind = "bad-request" // the profile, an argument or the request is wrong; Text says what and where
	Crash       FailureKind = "crash"       // the program failed: a panic, the stack, memory, or the worker died
	Elsewhere   FailureKind = "elsewhere"   // only the other program can do it, see web/jobs
	NoWorker    FailureKind = "no-worker"   // the browser starts no worker for this page
)

// Failure is why there is no result. It is an error.
type Failure struct {
	Kind     FailureKind  `json:"kind"`
	Text     string       `json:"text"`               // for people
	Detail   string       `json:"detail,omitempty"`   // of a crash: the last lines that the program wrote
	Budget   engine.Bytes `json:"budget,omitempty"`   // of Infeasible: the budget in bytes, resolved
	Smallest engine.Bytes `json:"smallest,omitempty"` // of Infeasible; 0 if unknown
}

func (f *Failure) Error() string { return f.Text }

// Fail is a failure with a formatted text.
func Fail(kind FailureKind, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Text: fmt.Sprintf(format, args...)}
}
