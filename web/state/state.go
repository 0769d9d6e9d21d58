package state

import (
	"slices"

	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/question"
	"memtide/web/tradeoff"
	"memtide/web/view"
)

// State is everything the page knows. Only Update changes it. The types of its parts are below
// and in side.go; the messages that change a part are in the file of that part.
type State struct {
	Side             // the side that the controls change
	Compare *Compare // the other side of a comparison; nil if nothing is compared
	byBudget
	questions
	layout
	training
	frameworks

	Alert   *Alert   // an error, with what can be done; nil if there is no error
	Draft   Draft    // the text field that is being typed into
	Sharing *Sharing // the dialog that shares links and files; nil while it is closed
	View    view.View
	redraw

	pictures  recent[*known.Picture] // by known.Network.PictureKey
	next      *waiting               // side B, until A has been read
	unwritten bool                   // the address is written when the profile has been read, see holdAddress
	dragging  bool                   // the budget is being dragged: no picture changes its height
	before    Sentence               // the Sentence when dragging began
	copies    int                    // lanes of copies that the timeline has room for
	lastID    int                    // ID of the last request
}

// Sentence says which optional words the sentence about a plan has.
type Sentence struct {
	Plan   bool // the plan: keeping everything may not fit, or another plan was chosen
	Budget bool // the budget: a person chose it
}

// Dragging reports whether the budget is being dragged.
func (s *State) Dragging() bool { return s.dragging }

// New returns the state of a page on which nothing has been opened.
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

// Message is something that happened: a person did something or a worker answered. Its apply
// changes the state and returns the effects to carry out, in order.
type Message interface{ apply(*State) []Effect }

// newID returns the ID of a new request. IDs grow.
func (s *State) newID() int {
	s.lastID++
	return s.lastID
}

// redraw counts changes: DOM those that the components show, Paint those that the pictures show.
type redraw struct{ DOM, Paint int }

// touch makes the page draw components and pictures again. It returns no effects.
func (r *redraw) touch() []Effect {
	r.DOM++
	r.Paint++
	return nil
}

// touchDOM makes the page draw the components again, but not the pictures. It returns no effects.
func (r *redraw) touchDOM() []Effect {
	r.DOM++
	return nil
}

// viewChanged draws everything again and writes the changed View into the address.
func (r *redraw) viewChanged() []Effect {
	r.touch()
	return []Effect{WriteURL{Replace}}
}

// Alert is an error message for people, with at most one button.
type Alert struct {
	Text   string
	File   string   // the file that the error is about; empty if it is about no file
	Field  string   // the text field whose draft is refused; empty if the error is about no field
	Lines  []string // details, at most five
	Action string   // text of the button; empty if there is no button
	Do     Message  // what the button does
	Linked bool     // a link could not be followed, and Lines say what is shown instead
	Limit  bool     // the solver reached the time limit for choices that come from a link
}

// Draft is text in a text field that has not taken effect yet.
type Draft struct{ Field, Text string }

// Sharing is the open dialog that shares links and files.
type Sharing struct {
	Exact bool   // with the visible range and the selection
	Theme string // of pictures: "light" or "dark"
	Note  string // what a button did
}

// Compare is a comparison of two schedules, A and B. State.Side is the one that the controls
// change, Other the other one. They are swapped when the controls turn to Other.
type Compare struct {
	Other Side
	OnA   bool // the controls change A; Other is B

	aligned   [2]draw.Alignment // the layers of A aligned with those of B, and of B with those of A
	alignedOf [2]*known.Network // the networks that aligned was computed for
}

// waiting is a side B that is opened when A has been read: from a link, or the second of two files.
type waiting struct {
	choice Choice
	file   *File // if not nil, B is this file with A's choice, and choice is not used
}

// File is a file that was chosen, dropped or pasted.
type File struct {
	Name   string
	Title  string // shown instead of the network's own name; empty: the own name
	Bytes  []byte
	Handle any // instead of Bytes: a large file, which the worker reads itself (see proto.Open)
}

// byBudget is the part of the state about step time against budget.
type byBudget struct {
	Curve   *tradeoff.Curve // of the present setting; nil before the first
	Preview *known.Picture  // shown instead of Shown while the pointer is on the curve

	hover  string                  // PictureKey of the point under the pointer
	curves recent[*tradeoff.Curve] // by tradeoff.CurveKey
}

// layout is the part of the state about addresses.
type layout struct {
	Memory  *known.Memory // the open file about addresses; nil if a network or a step is open
	Placing *Placing      // the placement under way; nil if there is no such request
	Places  *known.Places // the addresses; nil while the address view is closed

	examining *examining // the request about a recording under way; nil if there is no such request
}

// Placing is a request for a placement under way.
type Placing struct {
	ID       int
	Progress proto.Progress
	of       known.Placeable
}

// examining is a request about a recording under way. There is one at a time, because the second
// program has one worker.
type examining struct {
	id     int
	memory *known.Memory
	part   proto.Part
	at     int
}

// recent is a small cache that removes the entry that was not used for longest.
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
	Step  *OpenStep              // nil if a network or a memory file is open
	steps recent[*proto.Stepped] // complete answers, by Choice.StepKey
}

// OpenStep is the whole training step of a language model that is open instead of a network.
// Choice.Step and Choice.StepArgs say which step.
type OpenStep struct {
	Shown  *proto.Stepped // the answer; that of the previous choice until the first part of the new one; nil before any
	Failed string         // why there is no answer to the choice, for people
	Ended  Ended          // why the answer is not complete

	rank int // 1 + the rank whose pictures are shown; 0: the fullest rank

	passes *draw.Passes // the passes of drawn, see State.Passes
	drawn  *proto.Stepped
	beside besideOrder // what they are compared with

	id     int    // ID of the request under way; 0 if there is no request
	of     string // StepKey of the choice that Shown answers
	slowly string // StepKey of the choice that got verdictLimit
}

// besideOrder is the open pipeline in the order View.Beside of its passes, which is compared with the chosen order.
type besideOrder struct {
	of     string         // StepKey of what is asked or answered; "" if nothing is compared
	shown  *proto.Stepped // nil until it is there
	failed string         // why there is no answer, for people
	passes *draw.Passes   // of shown

	id int // ID of the request under way; 0 if there is no request
}

// Ended says what ended an answer before it was complete.
type Ended uint8

// The ends of an answer: it was not ended, a person stopped it, or it reached the time limit for
// choices that come from a link.
const (
	NotEnded Ended = iota
	ByPerson
	ByLimit
)

// Busy reports whether an answer, or more of it, is on its way.
func (t *OpenStep) Busy() bool { return t != nil && t.id != 0 }

// Late reports whether the shown answer is that of another choice.
func (s *State) Late() bool { return s.Step != nil && s.Step.of != s.Choice.StepKey() }

// Passes returns the passes of the pipeline of the open step, or nil if there is no pipeline.
func (s *State) Passes() *draw.Passes {
	t := s.Step
	if t == nil || t.Shown == nil {
		return nil
	}
	if t.drawn != t.Shown {
		if t.drawn, t.passes = t.Shown, known.PassesOf(t.Shown); t.passes != nil {
			t.passes.Pick(t.Rank())
			s.letter()
		}
	}
	return t.passes
}

// letter calls the chosen order of passes A and the one beside it B, and gives their pictures one axis of time and one
// of memory. Without another order the picture is as it was.
func (s *State) letter() {
	switch x, b := s.Step.passes, s.Step.beside.passes; {
	case x == nil:
	case b == nil:
		x.Title = draw.PassLanes.Title()
		x.Alone()
	default:
		x.Title, b.Title = "A: "+ask.Words("schedule", s.Order()), "B: "+ask.Words("schedule", s.View.Beside)
		x.Share(b)
	}
}

// Order returns the name of the order of the open pipeline's passes in options, or "" if it is not known.
func (s *State) Order() string {
	if s.Step == nil || s.Step.Shown == nil || len(s.Step.Shown.Ranks) == 0 {
		return ""
	}
	name := ask.Value(s.Choice.StepArgs, "schedule")
	if r := s.Step.Shown; name == ask.Auto && len(r.Orders) > r.Taken {
		return ask.Value(r.Orders[r.Taken].Args, "schedule")
	}
	return name
}

// Rank returns the rank whose pictures are shown, or -1 if there is no pipeline.
func (t *OpenStep) Rank() int {
	switch r := t.Shown; {
	case r == nil || len(r.Ranks) == 0:
		return -1
	case t.rank == 0 || t.rank > len(r.Ranks):
		return r.Full
	}
	return t.rank - 1
}

// cancel cancels the requests of the step.
func (t *OpenStep) cancel() []Effect { return append(cancel(&t.id), cancel(&t.beside.id)...) }

// frameworks is the part of the state about the policies of frameworks on the training step of the open language model.
type frameworks struct {
	policies *proto.Stepped         // of the present case; nil if they are not known
	policed  recent[*proto.Stepped] // by choice.MethodKey; a value without policies if the request failed
	asking   int                    // ID of the request under way; 0 if there is no request

	alone     *proto.Stepped // the range of the step, if it was asked for before the policies; nil if not known
	asksAlone bool           // the request under way is for that
	about     string         // choice.MethodKey of the request, or of policies
}

// Answers are the answers to the question what would help. A person asks it, or the page itself when
// nothing else is under way (see followIdle).
type Answers struct {
	question.Answers
	ID      int // of the request under way; 0 if there is no request
	Done    int
	Total   int // 0 if unknown
	Stopped bool
	Failed  string // why the request failed; empty if it did not

	prior int    // answers that were known before the request
	key   string // answersKey of the question
	found string // foundKey of the question
}

// Complete reports whether all answers have been given.
func (a *Answers) Complete() bool { return a.ID == 0 && !a.Stopped && a.Failed == "" }

// questions is the part of the state about what would help.
type questions struct {
	answers  *Answers         // about the present choice; nil if it was not asked
	complete recent[*Answers] // complete answers, by Answers.key

	// results are the answers about strategies with default arguments: by State.foundKey, then by strategy.
	results recent[map[string]proto.Suggestion]
}

// Answers returns the answers about the present choice, or nil if it was not asked.
func (p *questions) Answers() *Answers { return p.answers }

// Working reports whether the question is being answered.
func (p *questions) Working() bool { return p.answers != nil && p.answers.ID != 0 }

// answering returns the answers that the request with this ID adds to, or nil if that request has been replaced.
func (p *questions) answering(id int) *Answers {
	if p.Working() && p.answers.ID == id {
		return p.answers
	}
	return nil
}

// drop removes the answers and cancels their request.
func (p *questions) drop() (out []Effect) {
	if p.answers != nil {
		out = cancel(&p.answers.ID)
	}
	p.answers = nil
	return out
}

// note keeps the answer x in results if it varies the strategy and nothing else.
func (p *questions) note(a *Answers, x proto.Suggestion) {
	if a.found == "" || x.Preset != "" || x.Options != nil || x.Device != nil || x.Strategy == a.Strategy {
		return
	}
	all, _ := p.results.get(a.found)
	if all == nil {
		all = map[string]proto.Suggestion{}
	}
	all[x.Strategy] = x
	p.results.put(a.found, all)
}
