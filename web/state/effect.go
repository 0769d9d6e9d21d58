package state

import (
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// Choice is what is chosen about the schedule of a side, Source its network.
type (
	Choice = choice.Choice
	Source = choice.Source
)

// Effect is something that the browser side has to do.
type Effect interface{ effect() }

// History says how an address is written.
type History uint8

// Replace is for values that are dragged, Push for decisions that Back undoes,
// Leave for choices that came from the address bar.
const (
	Replace History = iota
	Push
	Leave
)

// Slot keeps the solves for the page, for previews and for the other side of a
// comparison apart.
type Slot uint8

// The slots.
const (
	ForPage Slot = iota
	ForPreview
	ForOther
	NumSlots
)

// The effects, those first that ask workers. What has an ID is answered by messages with it.
type (
	// Open asks a worker to read a profile.
	Open struct {
		ID      int
		Request proto.Open
	}
	// Solve asks a worker for a schedule. It replaces the solve before it of
	// the same slot. Soon: it may be followed by others, because a slider is
	// being dragged.
	Solve struct {
		ID      int
		Choice  Choice
		Request proto.Solve
		Slot    Slot
		Soon    bool
	}
	// Sweep asks workers for the points of a curve.
	Sweep struct {
		ID      int
		Request proto.Sweep
		Soon    bool
	}
	// Place asks a worker where buffers lie.
	Place struct {
		ID      int
		Request proto.Place
	}
	// Question asks a worker a question.
	Question struct {
		ID      int
		Request proto.Question
		Idle    bool // no answer is waited for
	}
	// Examine asks the second program about the recording that is open.
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
		Kind    string // of SaveFile
		Request proto.Export
	}
	// Cancel gives a request up; its worker is replaced if it is at work.
	Cancel struct{ ID int }
	// UseThread has the page's own thread answer what workers are asked.
	UseThread struct{}

	// WriteURL puts the choice into the address bar.
	WriteURL struct{ History History }
	// CopyURL puts the link into the clipboard and answers Copied.
	CopyURL struct{}
	// Copy copies the text of a field of the dialog that shares.
	Copy struct{ Field string }
	// Send passes the link on.
	Send struct{}
	// Save saves a file of a kind, see SaveFile.
	Save struct{ Kind string }
	// Remember keeps something that was chosen for the next visit, where the browser lets it: theme, or
	// whether shortcuts are "on" or "off".
	Remember struct{ Name, Value string }
	// AskLabels asks what stands on the keys and answers SetLabels, where the
	// browser knows it.
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

// cancel gives up the request of an ID, which is 0 then; nothing if it is 0 already.
func cancel(id *int) []Effect {
	if *id == 0 {
		return nil
	}
	out := []Effect{Cancel{*id}}
	*id = 0
	return out
}
