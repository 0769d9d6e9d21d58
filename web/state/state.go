package state

import (
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/known"
	"memtide/web/tradeoff"
	"memtide/web/view"
)

// State is everything the page knows, in parts that stand in files of their own.
// Only Update changes it.
type State struct {
	Side             // what the page is about: the controls change it
	Compare *Compare // the other side of a comparison; nil if nothing is compared
	byBudget
	trials
	questions
	layout
	training
	story story

	Alert   *Alert   // something went wrong, and what can be done
	Draft   Draft    // a text field that is being typed into
	Sharing *Sharing // the dialog that gives away what is shown; nil while it is closed
	View    view.View
	redraw

	pictures  recent[*known.Picture]
	instead   choice.Budget // that was chosen because the default did not fit
	next      *waiting      // side B, until A has been read
	unwritten bool          // the address waits for what it names, see holdAddress
	dragging  bool          // the budget is being dragged: no picture changes its height
	copies    int           // lanes of copies that the timeline has room for
	lastID    int           // of a request
}

// newID is the ID of a new request. Later ones have larger IDs.
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

// New is the state of a page that has nothing yet.
func New() *State {
	return &State{
		pictures:  recent[*known.Picture]{limit: 64},
		byBudget:  byBudget{curves: recent[*tradeoff.Curve]{limit: 8}},
		training:  training{steps: recent[*proto.Stepped]{limit: 32}},
		trials:    trials{tunings: recent[*tradeoff.Tuning]{limit: 32}},
		questions: questions{known: recent[*Answers]{limit: 32}, results: recent[map[string]proto.Answer]{limit: 32}},
	}
}

// CopyLanes is for how many lanes of copies the timeline has room: as many as there are
// in the schedule that is shown, or was when the budget was taken hold of.
func (s *State) CopyLanes() int { return s.copies }

// Phase is the value of the body's data-state.
func (s *State) Phase() string {
	switch {
	case s.busy() || s.Compare.Awaits() || s.Step.Busy():
		return "solving"
	case s.Alert != nil || s.OverBudget != nil || s.Shown == nil && s.Memory == nil && (s.Step == nil || s.Step.Failed != ""):
		return "error"
	}
	return "ready"
}

// Visible is the picture on screen: the preview if there is one.
func (s *State) Visible() *known.Picture {
	if s.Preview != nil {
		return s.Preview
	}
	return s.Shown
}

// Awaits says that nothing is shown yet, but something is on its way.
func (s *State) Awaits() bool {
	return s.Shown == nil && (s.busy() || s.fallback != 0)
}

// Stale says that the picture is not the one that was asked for.
func (s *State) Stale() bool {
	return s.OverBudget != nil || s.Alert != nil && s.Shown != nil && !s.Shown.Choice.Equal(s.Choice)
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

func (r *recent[V]) clear() { r.keys, r.byKey = nil, nil }

func (r *recent[V]) touch(key string) {
	for i, k := range r.keys {
		if k == key {
			r.keys = append(r.keys[:i], r.keys[i+1:]...)
			break
		}
	}
	r.keys = append(r.keys, key)
}
