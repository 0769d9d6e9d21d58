package proto

import (
	"encoding/json"
	"time"

	"memtide/engine"
)

// Step asks about a whole training step of a language model. The page itself does not
// answer it, nor do its workers: the second program does, see serve. What is known comes as
// progress, each time with more of Stepped.
type Step struct {
	brings[*Stepped, *Stepped]
	Model string      `json:"model"`          // a known one, or the text of its config.json
	Args  engine.Args `json:"args,omitempty"` // see package ask
	Chain bool        `json:"chain,omitempty"`
	Brief bool        `json:"brief,omitempty"` // the first stage of the answer alone, see Stepped.Done
	// Limit is how long the answer may take; 0 is as long as it needs. After it there is a
	// failure of kind Deadline; what was known came as progress.
	Limit time.Duration `json:"limit,omitempty"`
}

// Op implements Request.
func (*Step) Op() string { return "step" }

// Fit is the verdict of a step.
type Fit string

// The verdicts. Unsure: the range is nearer to what the card has than the model errs.
const (
	Fits    Fit = "fits"
	FitsNot Fit = "not"
	Unsure  Fit = "unsure"
)

// Stepped is what a card holds in a training step, and what would change it. All but the
// chain is of one card.
type Stepped struct {
	Profile json.RawMessage `json:"-"` // of Step.Chain: the step as a chain in native JSON; then nothing else is set

	Config  string `json:"config,omitempty"` // of a config.json: what of it was understood
	Name    string `json:"name"`             // of the model
	Params  int64  `json:"params"`
	Experts bool   `json:"experts,omitempty"`
	Program string `json:"program"` // where the choices of the program were read

	Fit       Fit           `json:"fit"`
	Card      string        `json:"card"`
	GPUs      int64         `json:"gpus"`
	Memory    engine.Bytes  `json:"memory"`  // of a card
	Context   engine.Bytes  `json:"context"` // beside what is reserved, assumed
	Low       engine.Bytes  `json:"low"`     // reserved
	High      engine.Bytes  `json:"high"`
	Allocated engine.Bytes  `json:"allocated"`
	States    engine.Bytes  `json:"states"` // weights, gradients, optimizer alone
	Time      time.Duration `json:"time"`   // an estimate; 0: not known
	Rate      float64       `json:"rate"`   // tokens a second
	Phase     int           `json:"phase"`  // of the peak: index into Phases
	Phases    []StepPhase   `json:"phases"`

	Ranks []StepRank `json:"ranks,omitempty"` // of a pipeline; the rest of the answer is about the fullest
	Full  int        `json:"full,omitempty"`  // that one: index into Ranks
	Idle  float64    `json:"idle,omitempty"`  // share of the passes' time that ranks wait
	Order string     `json:"order,omitempty"` // of the passes, with its source

	Changes []StepChange `json:"changes,omitempty"` // single ones, best first
	Fixes   []StepChange `json:"fixes,omitempty"`   // that make it fit

	Policies []StepChange  `json:"policies,omitempty"` // of frameworks, behind what strategies find on the chain
	Curve    string        `json:"curve,omitempty"`    // SVG: those strategies over memory, with the policies as dots
	Nearest  *StepMeasured `json:"nearest,omitempty"`  // the published run that is nearest

	Longest int64 `json:"longest,omitempty"` // tokens of a sequence that fit; 0: none
	Batch   int64 `json:"batch,omitempty"`   // sequences at once
	Fewest  int64 `json:"fewest,omitempty"`  // cards

	Done  int `json:"done"`  // stages of the answer: this much, what makes it fit, the changes, the longest, the most and the fewest, the policies, what strategies find
	Total int `json:"total"` // of them
}

func (s *Stepped) columns(c *codec) { c.raw((*[]byte)(&s.Profile)) }

// StepPhase is a phase of a step with what lies there at its peak.
type StepPhase struct {
	Name  string       `json:"name"`
	Bytes engine.Bytes `json:"bytes"`
	Parts []StepPart   `json:"parts"`
}

// StepRank is what one rank of a pipeline holds and does.
type StepRank struct {
	Layers    string       `json:"layers"` // "0-3", "0-1, 14-15"
	InFlight  int64        `json:"in_flight"`
	Allocated engine.Bytes `json:"allocated"`
	Low       engine.Bytes `json:"low"` // reserved
	High      engine.Bytes `json:"high"`
	Phase     int          `json:"phase"` // of the peak: index into Phases
	Phases    []StepPhase  `json:"phases"`
	Passes    []StepSpan   `json:"passes"`
}

// SpanScale is what a StepSpan counts the passes' time in.
const SpanScale = 1000

// StepSpan is passes of one kind, one after the other without a gap that could be seen:
// "f", "b" or "w", from and to in parts of the passes' time.
type StepSpan struct {
	Kind string `json:"k"`
	From int    `json:"a"`
	To   int    `json:"b"`
}

// StepPart is one use of memory.
type StepPart struct {
	Name   string       `json:"name"`
	Kind   PartKind     `json:"kind"`
	Bytes  engine.Bytes `json:"bytes"`
	Origin Origin       `json:"origin"`
	Why    string       `json:"why"` // where the number comes from
}

// PartKind is what pictures tell apart.
type PartKind string

// The kinds of parts.
const (
	PartStates  PartKind = "fix"
	PartKept    PartKind = "fwd"
	PartWorking PartKind = "rec"
	PartBack    PartKind = "bwd"
	PartMoved   PartKind = "xfer"
	PartScratch PartKind = "scratch"
)

// Origin says how far a number can be trusted.
type Origin string

// The origins.
const (
	Exact     Origin = "exact"
	CodeRead  Origin = "read in code"
	Replayed  Origin = "replayed"
	Estimated Origin = "estimated"
	Assumed   Origin = "assumed"
	Measured  Origin = "measured"
)

// StepMeasured is a run that somebody published, played.
type StepMeasured struct {
	Model   string       `json:"model"`
	Args    engine.Args  `json:"args"`
	Where   string       `json:"where"`
	URL     string       `json:"url"`
	Bytes   engine.Bytes `json:"bytes"` // reserved, as published
	Low     engine.Bytes `json:"low"`   // as played
	High    engine.Bytes `json:"high"`
	Percent float64      `json:"percent"`           // the middle of these against the figure
	Differs []string     `json:"differs,omitempty"` // options, and "model"
}

// StepChange is the same step with something changed.
type StepChange struct {
	Names []string      `json:"names"`
	Words string        `json:"words,omitempty"` // of a policy: what frameworks call it
	Args  engine.Args   `json:"args"`            // of the whole step
	Chain bool          `json:"chain,omitempty"` // it was found on the chain of the step, and no Args ask for it
	Fit   Fit           `json:"fit"`
	GPUs  int64         `json:"gpus"`
	Low   engine.Bytes  `json:"low"`
	High  engine.Bytes  `json:"high"`
	Time  time.Duration `json:"time"`
}
