package proto

import (
	"time"

	"memtide/engine"
	"memtide/web/choice"
)

// Question asks what would help about a problem, which takes several schedules to answer.
type Question struct {
	brings[*Answered, *Answer]
	Setting
	Method
	Budget  choice.Budget `json:"budget"`
	Methods []Method      `json:"others,omitempty"` // that are solved besides
	Limit   time.Duration `json:"limit,omitempty"`  // per schedule; 0: no limit
}

// Op implements Request.
func (*Question) Op() string { return "ask" }

// Answer is one answer to a Question. It names only what the question varies; the rest is as in the
// Question. A schedule was computed for it.
type Answer struct {
	Index    int            `json:"index"`
	Name     string         `json:"name,omitempty"`   // for people
	Strategy string         `json:"strategy"`         // the method
	Budget   engine.Bytes   `json:"budget"`           // for which the schedule was solved
	Preset   string         `json:"preset,omitempty"` // the network, if the question changes it
	Device   *engine.Device `json:"device,omitempty"` // the link, if the question changes it
	// of the network, if the step does more work than that of the Question
	Batch    int           `json:"batch,omitempty"`
	StepTime time.Duration `json:"step_time,omitempty"` // measured; 0 if there is no schedule
	Peak     engine.Bytes  `json:"peak,omitempty"`
	Partial  bool          `json:"partial,omitempty"` // best so far when Limit passed
	Failure  *Failure      `json:"failure,omitempty"` // why there is no schedule
	Done     int           `json:"done"`              // answers given so far, this one included
	Total    int           `json:"total"`             // 0 if unknown
}

// Answered ends a Question.
type Answered struct {
	Answers int `json:"answers"`
}
