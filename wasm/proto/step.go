package proto

import (
	"time"

	"memtide/engine"
)

// Step asks about a whole training step of a language model. Only the second program answers it
// (see package serve). Each progress value is a Stepped with more of its fields set.
type Step struct {
	brings[*Stepped, *Stepped]
	Model string      `json:"model"`           // a known one, or the text of its config.json
	Args  engine.Args `json:"args,omitempty"`  // see package ask
	Parts int         `json:"parts,omitempty"` // stages of the answer that are wanted, see Stepped.Done; 0: all
	// Policies asks for the step as it is and for Stepped.Policies of frameworks, without what
	// strategies find. With Parts 1 it asks for the step alone.
	Policies bool `json:"policies,omitempty"`
	// Limit is how long the answer may take; 0 is as long as it needs. After it there is a
	// failure of kind Deadline; what was known came as progress.
	Limit time.Duration `json:"limit,omitempty"`
}

// Fit is the verdict of a step.
type Fit string

// The verdicts. Unsure: the range is closer to the card's memory than the error of the prediction.
const (
	Fits    Fit = "fits"
	FitsNot Fit = "not"
	Unsure  Fit = "unsure"
)

// Stepped is the memory of a card in a training step, and the changes that would help. Every field is about one card.
type Stepped struct {
	Config  string `json:"config,omitempty"` // what was understood of a config.json
	Name    string `json:"name"`             // of the model
	Params  int64  `json:"params"`
	Experts bool   `json:"experts,omitempty"`
	Program string `json:"program"` // the source of the program's settings

	Fit  Fit    `json:"fit"`
	Card string `json:"card"`
	// on the card: whose times these are, what it cannot do, what no source confirms
	Notes     []string      `json:"notes,omitempty"`
	GPUs      int64         `json:"gpus"`
	Memory    engine.Bytes  `json:"memory"`  // of a card
	Context   engine.Bytes  `json:"context"` // of CUDA, in addition to reserved memory; assumed
	Low       engine.Bytes  `json:"low"`     // reserved
	High      engine.Bytes  `json:"high"`
	Allocated engine.Bytes  `json:"allocated"`
	States    engine.Bytes  `json:"states"` // weights, gradients, optimizer alone
	Time      time.Duration `json:"time"`   // an estimate; 0 if unknown
	// of the fastest order of a pipeline's passes by a rule, if the order is chosen, whether it fits or not
	Fastest time.Duration `json:"fastest,omitempty"`
	// with TimeHigh: where nine of ten published runs of its kind lie; 0: too few are known
	TimeLow  time.Duration `json:"time_low,omitempty"`
	TimeHigh time.Duration `json:"time_high,omitempty"`
	Unit     string        `json:"unit"`    // of what a step trains with: "tokens", "pictures" or "videos"
	Trained  int64         `json:"trained"` // how many on all cards
	Phase    int           `json:"phase"`   // of the peak: index into Phases
	Phases   []StepPhase   `json:"phases"`

	Ranks []StepRank `json:"ranks,omitempty"` // of a pipeline; the rest of the answer is about the fullest
	Full  int        `json:"full,omitempty"`  // the fullest rank: index into Ranks
	Idle  float64    `json:"idle,omitempty"`  // share of the passes' time that ranks wait
	Order string     `json:"order,omitempty"` // of the passes, with its source

	Stages []StepStage `json:"stages,omitempty"` // path by path
	Passes []StepPass  `json:"-"`                // rank by rank, in the order of time

	// indices into Passes: a chain that determines the step time, from its first
	Path []int  `json:"path,omitempty"`
	Made string `json:"made,omitempty"` // a sentence about the shares of that chain
	// lower bound of the step time for any order of these passes, with any memory
	Bound time.Duration `json:"bound,omitempty"`

	Changes []StepChange `json:"changes,omitempty"` // single ones, best first
	Fixes   []StepChange `json:"fixes,omitempty"`   // that make it fit

	Policies []StepChange  `json:"policies,omitempty"` // of frameworks, after what strategies find on the chain
	Nearest  *StepMeasured `json:"nearest,omitempty"`  // the published run that is most similar

	Orders  []StepChange `json:"orders,omitempty"`  // schedules of the pipeline, those that fit first; Words say more
	Taken   int          `json:"taken,omitempty"`   // index into Orders: the schedule of this answer
	Refused []string     `json:"refused,omitempty"` // schedules that the layout does not admit, with why

	Longest int64 `json:"longest,omitempty"` // longest sequence that fits, in tokens; 0 if no sequence fits
	Batch   int64 `json:"batch,omitempty"`   // most sequences at once
	Fewest  int64 `json:"fewest,omitempty"`  // fewest cards
	// Done counts the stages of the answer: this card, what makes it fit, the changes, the longest
	// sequence, the largest batch with the fewest cards, the policies, what strategies find.
	Done  int `json:"done"`
	Total int `json:"total"` // stages in all
}

func (s *Stepped) columns(c *codec) {
	rows(c, &s.Passes)
}

// StepPhase is a phase of a step with what is allocated at its peak.
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
	High      engine.Bytes `json:"high"`  // reserved, at worst
	Phase     int          `json:"phase"` // of the peak: index into Phases
	Phases    []StepPhase  `json:"phases"`
	Held      engine.Bytes `json:"held"` // the most that its passes hold at once, part of Allocated
}

// StepStage is a stage of a path through a pipeline.
type StepStage struct {
	First bool         `json:"first,omitempty"` // of its path
	Last  bool         `json:"last,omitempty"`
	Act   engine.Bytes `json:"act"`  // memory of a micro batch from its forward to its backward
	Rest  engine.Bytes `json:"rest"` // memory of a micro batch from the backward of inputs to that of weights
}

// StepPass is a pass of a micro batch at a stage, as it ran on a rank. Kind is its letter in package
// pipeline: F, A, B or W.
type StepPass struct {
	Kind               byte
	Rank, Stage, Micro int
	Start, End         time.Duration
}

// StepPart is one use of memory.
type StepPart struct {
	Name   string       `json:"name"`
	Kind   PartKind     `json:"kind"`
	Bytes  engine.Bytes `json:"bytes"`
	Origin Origin       `json:"origin"`
	Why    string       `json:"why"` // where the number comes from
}

// PartKind is the kind of a StepPart, which decides its colour in pictures.
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

// StepMeasured is a published run, with what memtide predicts for it.
type StepMeasured struct {
	Model   string       `json:"model"`
	Args    engine.Args  `json:"args"`
	Where   string       `json:"where"`
	URL     string       `json:"url"`
	Bytes   engine.Bytes `json:"bytes"` // reserved, as published
	Low     engine.Bytes `json:"low"`   // as predicted
	High    engine.Bytes `json:"high"`
	Percent float64      `json:"percent"`           // the middle of Low and High relative to Bytes
	Differs []string     `json:"differs,omitempty"` // options that differ from the step, and "model"
}

// StepChange is the same step with some options changed.
type StepChange struct {
	Names []string `json:"names"`
	Words string   `json:"words,omitempty"` // of a policy: its name in frameworks
	// of a schedule: SVG of when its ranks work, on the axis of all schedules
	Lanes string        `json:"lanes,omitempty"`
	Args  engine.Args   `json:"args"`            // of the whole step
	Chain bool          `json:"chain,omitempty"` // it was found on the chain of the step; Args do not describe it
	Card  bool          `json:"card,omitempty"`  // of a card that has more than Args say: nothing that can be chosen
	Fit   Fit           `json:"fit"`
	GPUs  int64         `json:"gpus"`
	Low   engine.Bytes  `json:"low"`
	High  engine.Bytes  `json:"high"`
	Time  time.Duration `json:"time"`

	Allocated engine.Bytes `json:"allocated"`
}
