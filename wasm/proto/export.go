package proto

import "memtide/engine"

// Form is what a schedule is written as.
type Form string

// The forms (see package export).
const (
	FormPython Form = "python" // a program that runs the schedule with PyTorch
	FormJSON   Form = "json"   // the documented list of steps
	FormPlan   Form = "plan"   // a plan for the unmodified model, see package engine/planner
)

// Export asks for a schedule as a file for other programs, or for a plan: the profile
// is then a file of kind operators as it was opened, and there is no schedule. The page
// itself does not answer it, nor do its workers: the second program does, see serve.
type Export struct {
	brings[*Exported, *Nothing]
	Setting
	Method
	Budget   engine.Bytes    `json:"budget"` // that the schedule was solved for
	Form     Form            `json:"form"`
	Class    string          `json:"class,omitempty"` // of a plan
	Schedule engine.Schedule `json:"-"`
}

// Op implements Request.
func (*Export) Op() string { return "export" }

func (e *Export) columns(c *codec) {
	e.Setting.columns(c)
	c.schedule(&e.Schedule)
}

// Exported is the content of such a file.
type Exported struct {
	Text []byte `json:"-"`
}

func (e *Exported) columns(c *codec) { c.raw(&e.Text) }
