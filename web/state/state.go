package state

import (
	"slices"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/question"
	"memtide/web/tradeoff"
	"memtide/web/view"
)

// State is everything the page knows. Only Update changes it. What its parts hold is said
// below and in side.go; what happens to a part, in its file.
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
	before    Sentence // what the sentence named when that began
	copies    int      // lanes of copies that the timeline has room for
	lastID    int      // of a request
}

// Sentence says which words the sentence of a plan has beside the case.
type Sentence struct {
	Plan   bool // what the plan is: where keeping everything does not fit, or something else was chosen
	Budget bool // what it may use: where somebody chose it
}

// Sentence returns what the sentence names. While the budget is dragged that does not change, since a
// word more may need a line more, which would move the picture under the pointer.
func (s *State) Sentence() Sentence {
	if s.dragging {
		return s.before
	}
	return Sentence{s.Choice.Strategy != engine.KeepAll || s.OverBudget != nil, !s.Choice.Roomy()}
}

// New returns the state of a page that has nothing yet.
func New() *State {
	return &State{
		pictures: recent[*known.Picture]{limit: 64},
		byBudget: byBudget{curves: recent[*tradeoff.Curve]{limit: 8}},
		training: training{steps: recent[*proto.Stepped]{limit: 32}},

		frameworks: frameworks{policed: recent[*proto.Stepped]{limit: 32}},
		questions: questions{complete: recent[*Answers]{limit: 32},
			results: recent[map[string]proto.Suggestion]{limit: 32}},
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

	aligned   [2]draw.Alignment // of the layers of A with B's, and of B with A's
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
	Curve   *tradeoff.Curve // of the present setting; nil before the first
	Preview *known.Picture  // shown instead of Shown while the pointer is on the curve

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

// recent is a small cache that forgets what was not used for longest.
type recent[V any] struct {
	limit int
	keys  []string // oldest first
	byKey map[string]V
}

func (r *recent[V]) get(key string) (v V, ok bool) {
	if v, ok = r.byKey[key]; ok {
		r.touch(key)
	}
	return v, ok
}

func (r *recent[V]) put(key string, v V) {
	if r.byKey == nil {
		r.byKey = map[string]V{}
	}
	if _, ok := r.byKey[key]; !ok && len(r.keys) >= r.limit {
		delete(r.byKey, r.keys[0])
		r.keys = r.keys[1:]
	}
	r.byKey[key] = v
	r.touch(key)
}

func (r *recent[V]) touch(key string) {
	r.keys = append(slices.DeleteFunc(r.keys, func(k string) bool { return k == key }), key)
}

// training is the part of the state about training steps.
type training struct {
	Step  *OpenStep              // nil: a network or a memory file is open
	steps recent[*proto.Stepped] // whole answers
}

// OpenStep is the whole training step of a language model that is open instead of a network;
// Choice.Step and Choice.StepArgs say which.
type OpenStep struct {
	Shown  *proto.Stepped // nil until there is an answer; of the step before while another one is looked for
	Failed string         // why there is no answer to the choice, for people
	Ended  Ended          // why less is known than could be

	rank int // of a pipeline that the pictures show, from 1 on; 0: the fullest

	passes *draw.Passes   // of drawn
	drawn  *proto.Stepped // see State.Passes

	id    int    // of the request under way; 0: none
	chain int    // of the request for the chain
	of    string // StepKey of what Shown answers
}

// Ended says what ended an answer before all of it was known.
type Ended uint8

// The ends of an answer: it is not ended, a person stopped it, or it reached the limit of what starts by itself.
const (
	NotEnded Ended = iota
	ByPerson
	ByLimit
)

// Busy reports whether an answer, or more of it, is on its way.
func (t *OpenStep) Busy() bool { return t != nil && t.id != 0 }

// Chaining reports whether the step is being made a chain.
func (t *OpenStep) Chaining() bool { return t != nil && t.chain != 0 }

// Passes returns those of the pipeline of the step that is open; nil without one.
func (s *State) Passes() *draw.Passes {
	t := s.Step
	if t == nil || t.Shown == nil {
		return nil
	}
	if t.drawn != t.Shown {
		t.drawn, t.passes = t.Shown, known.PassesOf(t.Shown)
	}
	return t.passes
}

// Rank returns the rank of a pipeline that the pictures show; -1 without a pipeline.
func (t *OpenStep) Rank() int {
	switch r := t.Shown; {
	case r == nil || len(r.Ranks) == 0:
		return -1
	case t.rank == 0 || t.rank > len(r.Ranks):
		return r.Full
	}
	return t.rank - 1
}

// cancel gives up what is under way.
func (t *OpenStep) cancel() []Effect { return append(cancel(&t.id), cancel(&t.chain)...) }

// frameworks is the part of the state about the policies of frameworks on the step of the language
// model that is open.
type frameworks struct {
	policies *proto.Stepped         // of the present case; nil if they are not known
	policed  recent[*proto.Stepped] // by policiesKey; one without policies: there is no answer
	asking   int                    // of the request under way; 0: none
	about    string                 // policiesKey of the request, or of what is known
}

// Answers say what would help, asked by a person or, once nothing else was
// to be done, by the page itself (see followIdle).
type Answers struct {
	question.Answers
	ID      int // of the request at work, 0 if none is
	Done    int
	Total   int // 0 if unknown
	Stopped bool
	Failed  string

	prior int // answers that were known before it was asked
	key   string
	found string // see State.foundKey, as it was asked
}

// Complete reports whether all answers have been given.
func (a *Answers) Complete() bool { return a.ID == 0 && !a.Stopped && a.Failed == "" }

// cancel stops the request of the question, if it is at work.
func (a *Answers) cancel() []Effect { return cancel(&a.ID) }

// questions is the part of the state about what would help.
type questions struct {
	answers  *Answers         // about the present choice; nil: it was not asked
	complete recent[*Answers] // complete ones, by their key

	results recent[map[string]proto.Suggestion] // of strategies with their defaults, by State.foundKey
}

// Answers returns those about the present choice, or nil if it was not asked.
func (p *questions) Answers() *Answers { return p.answers }

// Working reports whether the question is being answered.
func (p *questions) Working() bool { return p.answers != nil && p.answers.ID != 0 }

// answering returns what waits for answers under an ID, nil if nothing does:
// answers to older questions are dropped.
func (p *questions) answering(id int) *Answers {
	if p.Working() && p.answers.ID == id {
		return p.answers
	}
	return nil
}

// drop forgets the answers, and cancels their request if it is at work.
func (p *questions) drop() (out []Effect) {
	if p.answers != nil {
		out = p.answers.cancel()
	}
	p.answers = nil
	return out
}

// note keeps what an answer found, if it is about another strategy and nothing else.
func (p *questions) note(a *Answers, x proto.Suggestion) {
	if a.found == "" || x.Device != nil || x.Strategy == a.Strategy {
		return
	}
	all, _ := p.results.get(a.found)
	if all == nil {
		all = map[string]proto.Suggestion{}
	}
	all[x.Strategy] = x
	p.results.put(a.found, all)
}
