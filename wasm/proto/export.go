package proto

import "memtide/engine"

// Form is a format in which a schedule is exported.
type Form string

// The forms.
const (
	FormJSON Form = "json" // the documented list of steps (see package export)
	FormPlan Form = "plan" // a plan for the unmodified model, see package engine/play
)

// Export asks for a schedule as a file for other programs, or with FormPlan for a plan. A plan is
// made from a profile of kind operators as it was opened, and takes no Schedule. Only the second
// program answers it (see package serve).
type Export struct {
	brings[*Exported, *Nothing]
	Setting
	Method
	Budget   engine.Bytes    `json:"budget"` // for which the schedule was solved
	Form     Form            `json:"form"`
	Class    string          `json:"class,omitempty"` // FormPlan: the class of the model
	Schedule engine.Schedule `json:"-"`
}

// Op implements Request.
func (*Export) Op() string { return "export" }

func (e *Export) columns(c *codec) {
	e.Setting.columns(c)
	c.schedule(&e.Schedule)
}

// Exported is the result of Export: the content of the file.
type Exported struct {
	Text []byte `json:"-"`
}

func (e *Exported) columns(c *codec) { c.raw(&e.Text) }
