package state

import (
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/tradeoff"
	"memtide/web/view"
)

// State is everything the page knows. Only Update changes it. What its parts hold is said
// below, in side.go, answers.go and training.go; what happens to a part, in its file.
type State struct {
	Side             // what the page is about: the controls change it
	Compare *Compare // the other side of a comparison; nil if nothing is compared
	byBudget
	questions
	layout
	training
	frameworks

	Alert   *Alert   // something went wrong, and what can be done
	Draft   Draft    // a text field that is being typed into
	Sharing *Sharing // the dialog that gives away what is shown; nil while it is closed
	View    view.View
	redraw

	pictures  recent[*known.Picture]
	next      *waiting // side B, until A has been read
	unwritten bool     // the address waits for what it names, see holdAddress
	dragging  bool     // the budget is being dragged: no picture changes its height
	copies    int      // lanes of copies that the timeline has room for
	lastID    int      // of a request
}

// New returns the state of a page that has nothing yet.
func New() *State {
	return &State{
		pictures: recent[*known.Picture]{limit: 64},
		byBudget: byBudget{curves: recent[*tradeoff.Curve]{limit: 8}},
		training: training{steps: recent[*proto.Stepped]{limit: 32}},

		frameworks: frameworks{policed: recent[*proto.Stepped]{limit: 32}},
		questions: questions{complete: recent[*Answers]{limit: 32},
			results: recent[map[string]proto.Answer]{limit: 32}},
	}
}

// Message is something that happened: what a person did or what a worker
// answered. It changes the state itself and returns what has to be done, in
// order. Each is declared beside its apply, in the file of the part it is about.
type Message interface{ apply(*State) []Effect }

// newID returns the ID of a new request. Later ones have larger IDs.
func (s *State) newID() int {
	s.lastID++
	return s.lastID
}

// redraw counts the changes that need the components and the pictures drawn again.
type redraw struct{ DOM, Paint int }

// touch has both drawn again, which needs no effect.
func (r *redraw) touch() []Effect {
	r.DOM++
	r.Paint++
	return nil
}

// touchDOM has the components drawn again, and not the pictures.
func (r *redraw) touchDOM() []Effect {
	r.DOM++
	return nil
}

// looked has what is looked at drawn again, and the address say it.
func (r *redraw) looked() []Effect {
	r.touch()
	return []Effect{WriteURL{Replace}}
}

// Alert is an error for people, with at most one way on.
type Alert struct {
	Text   string
	File   string   // that it is about; empty: it is about no file
	Lines  []string // details, at most five
	Action string   // text of the button; empty if there is none
	Do     Message  // what the button does
	Limit  bool     // the limit of what an address asks for was reached
}

// Draft is text that is being typed and has not taken effect.
type Draft struct{ Field, Text string }

// Sharing is the dialog that gives away what is shown.
type Sharing struct {
	Exact bool   // with the visible range and the selection
	Theme string // of pictures: "light" or "dark"
	Note  string // what a button did
}

// Compare is a comparison of two schedules, A and B. One of the two is what the
// page is about, State.Side, which the controls change. Other is the other one,
// until the controls are turned to it: then the two change places.
type Compare struct {
	Other Side
	OnA   bool // the controls change A; Other is B

	aligned   [2]*draw.Alignment // of the layers of A with B's, and of B with A's
	alignedOf [2]*known.Network
}

// waiting is a side B that is opened when A has been read: from a link, or the
// second of two files.
type waiting struct {
	choice Choice
	file   *File // the rest is A's choice; nil: choice says it all
}

// File is a file that was chosen, dropped or pasted.
type File struct {
	Name   string
	Title  string // instead of the network's own name; empty: that
	Bytes  []byte
	Handle any // instead of Bytes: a large file, which the worker reads itself (see proto.Open)
}

// byBudget is the part of the state about step time against budget.
type byBudget struct {
	Curve *tradeoff.Curve // of the present setting; nil before the first
	// shown instead of Shown while the pointer is on the curve, while an answer is tried, or by the story
	Preview *known.Picture

	hover  string // key of the point under the pointer
	curves recent[*tradeoff.Curve]
}

// layout is the part of the state about addresses.
type layout struct {
	Memory  *known.Memory // a file about addresses is open, and no network
	Placing *Placing      // addresses are being looked for
	Places  *known.Places // where the bytes lie; nil while the address view is closed

	examining *examining // what is being asked about a recording; nil if nothing is
}

// Placing is a placement that is being looked for.
type Placing struct {
	ID       int
	Progress proto.Progress
	of       known.Placeable
}

// examining is a request under way: one at a time, because the second program has one worker.
type examining struct {
	id     int
	memory *known.Memory
	part   proto.Part
	at     int
}
