package state

import "memtide/wasm/proto"

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
	// Sweep asks workers for many points: of a curve, or of a parameter's values.
	Sweep struct {
		ID      int
		Request proto.Sweep
		Soon    bool
	}
	// Cancel gives a request up; its worker is replaced if it is at work.
	Cancel struct{ ID int }
	// UseThread has the page's own thread answer what workers are asked.
	UseThread struct{}
	// WriteURL puts the choice into the address bar.
	WriteURL struct{ History History }
	// CopyURL puts the link into the clipboard and answers Copied.
	CopyURL struct{}
	// SaveTheme remembers the theme, where the browser lets it.
	SaveTheme struct{ Theme string }
)

// Slot keeps the solves for the page, for previews, for the other side of a
// comparison and for the story apart.
type Slot uint8

// The slots.
const (
	ForPage Slot = iota
	ForPreview
	ForOther
	ForStory
	NumSlots
)

func (Open) effect()      {}
func (Solve) effect()     {}
func (Sweep) effect()     {}
func (Cancel) effect()    {}
func (UseThread) effect() {}
func (WriteURL) effect()  {}
func (CopyURL) effect()   {}
func (SaveTheme) effect() {}
