package state

import (
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// Choice is everything that is chosen about the schedule of a side; Source is its network.
type (
	Choice = choice.Choice
	Source = choice.Source
)

// Effect is something that the browser side has to do.
type Effect interface{ effect() }

// History says how an address is written.
type History uint8

// Replace changes the present entry of the history, for values that are dragged. Push adds an entry, for
// decisions that Back undoes. Leave writes nothing, for choices that came from the address bar.
const (
	Replace History = iota
	Push
	Leave
)

// Slot says what a solve is for: the page, a preview, or the other side of a comparison.
type Slot uint8

// The slots.
const (
	ForPage Slot = iota
	ForPreview
	ForOther
	NumSlots
)

// The effects: first those that ask workers, then those that need the browser. The answers to an effect with
// an ID are messages with the same ID.
type (
	// Open asks a worker to read a profile.
	Open struct {
		ID      int
		Request proto.Open
	}
	// Solve asks a worker for a schedule. It replaces the previous solve in its slot.
	Solve struct {
		ID      int
		Choice  Choice
		Request proto.Solve
		Slot    Slot
		Soon    bool // a slider is being dragged: other solves may follow soon
	}
	// Sweep asks workers for the points of a curve.
	Sweep struct {
		ID      int
		Request proto.Sweep
		Soon    bool // as in Solve
	}
	// Place asks a worker for the addresses of buffers.
	Place struct {
		ID      int
		Request proto.Place
	}
	// Question asks a worker what would help.
	Question struct {
		ID      int
		Request proto.Question
		Idle    bool // the page asks by itself: no person waits for the answer
	}
	// Examine asks the second program about the open recording.
	Examine struct {
		ID      int
		Request proto.Doctor
	}
	// AskStep asks the second program about a training step, or for its chain.
	AskStep struct {
		ID      int
		Request proto.Step
	}
	// Export asks for the schedule on screen as a file for other programs.
	Export struct {
		Kind    string // ScheduleFile or PlanFile
		Request proto.Export
	}
	// Cancel cancels a request. If a worker is busy with it, the worker is replaced.
	Cancel struct{ ID int }
	// UseThread makes the page's own thread answer requests instead of workers.
	UseThread struct{}

	// WriteURL puts the choice into the address bar.
	WriteURL struct{ History History }
	// CopyURL puts the link into the clipboard and answers Copied.
	CopyURL struct{}
	// Copy copies the text of a field of the dialog that shares.
	Copy struct{ Field string }
	// Send shares the link through the device's own list of apps.
	Send struct{}
	// Save saves a file of a kind, see SaveFile.
	Save struct{ Kind string }
	// Remember stores a setting for the next visit, if the browser allows it: "theme", or "shortcuts" with the
	// value "on" or "off".
	Remember struct{ Name, Value string }
	// AskLabels asks for the labels of the keyboard's keys and answers SetLabels, if the browser knows them.
	AskLabels struct{}
)

func (Open) effect()      {}
func (Solve) effect()     {}
func (Sweep) effect()     {}
func (Place) effect()     {}
func (Question) effect()  {}
func (Examine) effect()   {}
func (AskStep) effect()   {}
func (Export) effect()    {}
func (Cancel) effect()    {}
func (UseThread) effect() {}
func (WriteURL) effect()  {}
func (CopyURL) effect()   {}
func (Copy) effect()      {}
func (Send) effect()      {}
func (Save) effect()      {}
func (Remember) effect()  {}
func (AskLabels) effect() {}

// cancel cancels the request *id and sets *id to 0. It does nothing if *id is 0.
func cancel(id *int) []Effect {
	if *id == 0 {
		return nil
	}
	out := []Effect{Cancel{*id}}
	*id = 0
	return out
}
