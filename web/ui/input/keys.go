package input

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"memtide/engine"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/lookup"
	"memtide/web/state"
)

// Chord is what a key does together with Ctrl or ⌘.
type Chord uint8

// The chords.
const (
	ChordNone Chord = iota
	ChordUndo       // or, with Shift, redo
	ChordSave
	ChordOpen
)

// ChordOf returns the chord of a key.
func ChordOf(k Key) Chord {
	switch letter := strings.ToLower(k.Key); {
	case letter == "z":
		return ChordUndo
	case letter == "s" && !k.Shift:
		return ChordSave
	case letter == "o" && !k.Shift:
		return ChordOpen
	}
	return ChordNone
}

// Action is what a key does: a message for the state, or a movement of the
// view that needs the pictures.
type Action struct {
	message state.Message
	zoom    float64 // factor of the visible length around the middle; 0: none
	pan     float64 // share of the visible length; 0: none
	step    int     // operations along the lane
	lane    int     // lanes down
	choose  string  // a strategy
	focus   bool    // zoom to the selection
	peak    bool    // go to the peak
	play    bool    // play the step or stop it: the browser knows what time it is
}

// KeyStrategies returns the strategies of the keys 1 to 6: those of the first ranks of a chain.
func KeyStrategies() []*engine.Strategy {
	list := engine.Ranked(false)
	return list[:min(6, len(list))]
}

// KeyRow are keys as they stand on a keyboard of the United States, and what they
// do. Keys that are known by their place have the names of the places, in the
// order of the first words.
type KeyRow struct {
	Keys, Does, places string
	// By place (KeyboardEvent.code) or by what is typed, a letter in lower case; after
	// "Shift " where Shift makes a difference.
	acts map[string]Action
}

// do has keys do the same.
func do(a Action, keys ...string) map[string]Action {
	out := map[string]Action{}
	for _, k := range keys {
		out[k] = a
	}
	return out
}

// says returns an action that is a message.
func says(m state.Message) Action { return Action{message: m} }

// budgetSteps returns the budget, moved by ten steps with Shift.
func budgetSteps(by int, keys ...string) map[string]Action {
	out := do(says(state.StepBudget{Steps: by}), keys...)
	for _, k := range keys {
		out["Shift "+k] = says(state.StepBudget{Steps: 10 * by})
	}
	return out
}

// both returns the keys of two rows in one.
func both(a, b map[string]Action) map[string]Action {
	maps.Copy(a, b)
	return a
}

// The factor by which a key zooms, and the share of what is visible by which one pans.
const (
	zoomBy = 0.7
	panBy  = 0.15
)

// KeyRows returns all keys, in the order in which the help lists them. What has no keys in acts
// is done in package app, with the browser.
func KeyRows() []KeyRow {
	return []KeyRow{
		{"W S or + −", "zoom in, out", "KeyW KeyS", both(
			do(Action{zoom: zoomBy}, "KeyW", "NumpadAdd", "+", "="),
			do(Action{zoom: 1 / zoomBy}, "KeyS", "NumpadSubtract", "-", "_"))},
		{"A D or Shift ← →", "pan", "KeyA KeyD", both(
			do(Action{pan: -panBy}, "KeyA", "Shift ArrowLeft"),
			do(Action{pan: panBy}, "KeyD", "Shift ArrowRight"))},
		{"0", "show the whole step", "", do(says(state.SetRange{}), "Digit0", "Numpad0")},
		{"← →", "operation before, after", "",
			both(do(Action{step: -1}, "ArrowLeft"), do(Action{step: 1}, "ArrowRight"))},
		{"↑ ↓", "lane above, below", "", both(do(Action{lane: -1}, "ArrowUp"), do(Action{lane: 1}, "ArrowDown"))},
		{"N P", "next, previous wait", "",
			both(do(says(state.StepWait{By: 1}), "n"), do(says(state.StepWait{By: -1}), "p"))},
		{"I", "jump to its cause", "", do(says(state.FollowCause{}), "i")},
		{"Backspace", "back along the causes", "", do(says(state.Retrace{}), "Backspace")},
		{"K", "show the critical chain", "", do(says(state.ToggleChain), "k")},
		{"Space", "play the step, or stop it", "", do(Action{play: true}, "Space")},
		{"[ ]", "budget down, up (Shift: ten steps)", "BracketLeft BracketRight", both(
			budgetSteps(-1, "BracketLeft", "[", "{"),
			budgetSteps(1, "BracketRight", "]", "}"))},
		{"F", "zoom to the selection", "", do(Action{focus: true}, "f")},
		{"G", "go to the peak", "", do(Action{peak: true}, "g")},
		{"T", "table", "", do(says(state.ToggleTable), "t")},
		{"M", "choose a network (model)", "", do(says(state.TogglePicker{}), "m")},
		{"C", "compare, or close", "", do(says(state.ToggleCompare{}), "c")},
		{"X", "swap A and B", "", do(says(state.SwapSides{}), "x")},
		{"1 … 6", "plan: " + keyTitles(), "", planKeys()},
		{"Ctrl Z, Ctrl Shift Z", "undo, redo a decision", "", nil},
		{"Y", "copy the link", "", do(says(state.CopyLink{}), "y")},
		{"Ctrl S", "save what is shown as a picture", "", nil},
		{"Ctrl O", "open a file", "", nil},
		{"?", "this help", "", do(says(state.ToggleHelp{}), "?")},
		{"Esc", "close, deselect", "", do(says(state.Dismiss{}), "Escape")},
	}
}

// planKeys returns the keys of the first plans.
func planKeys() map[string]Action {
	out := map[string]Action{}
	for i, st := range KeyStrategies() {
		out["Digit"+strconv.Itoa(i+1)] = Action{choose: st.Name}
	}
	return out
}

// keyTitles returns the plans of the number keys.
func keyTitles() string {
	var out []string
	for _, st := range KeyStrategies() {
		title := st.Label()
		out = append(out, strings.ToLower(title[:1])+title[1:])
	}
	return strings.Join(out, ", ")
}

// KeyOf maps keys to actions. Places win over letters, so that W A S D are where
// the hand expects them on every layout; letters that name something never
// stand on those places of the layouts in wide use.
func KeyOf(k Key) (Action, bool) {
	rows := KeyRows()
	for _, name := range []string{k.Code, strings.ToLower(k.Key)} {
		for _, shift := range []string{"Shift ", ""} {
			if shift != "" && !k.Shift {
				continue
			}
			for _, r := range rows {
				if a, ok := r.acts[shift+name]; ok {
					return a, true
				}
			}
		}
	}
	return Action{}, false
}

// Looks reports whether an action only moves the view or the selection: all that keys do
// in a view in another page, which is to be read. With a slider for the budget they
// move that too.
func (a Action) Looks(f *link.Frame) bool {
	switch a.message.(type) {
	case nil:
		return a.choose == ""
	case state.SetRange, state.StepWait, state.FollowCause, state.Retrace, state.Dismiss:
		return true
	case state.StepBudget:
		return f.Control == "budget"
	}
	return false
}

// Walks reports whether an action moves along the pictures: what arrows and Space do while
// the pictures have the focus.
func (a Action) Walks() bool { return a.step != 0 || a.lane != 0 || a.play }

// ZoomToSelection shows what is selected with some of what is beside it.
func ZoomToSelection(s *state.State) state.Message { return Action{focus: true}.Act(s) }

// KeyPlaces returns the places of all keys that are known by their place.
func KeyPlaces() (out []string) {
	for _, r := range KeyRows() {
		out = append(out, strings.Fields(r.places)...)
	}
	return out
}

// Plays reports whether an action plays the step or stops it, see state.PlayStep.
func (a Action) Plays() bool { return a.play }

// Act returns the message of an action on the present state, or nil if it does nothing.
func (a Action) Act(s *state.State) state.Message {
	p := s.Visible()
	switch {
	case a.message != nil:
		return a.message
	case a.choose != "":
		st := engine.Lookup(a.choose)
		if st == nil || s.Network == nil || !s.Network.Applies(st) {
			return nil
		}
		return state.SetStrategy{Name: a.choose}
	case a.zoom != 0:
		return Zoomed(s, a.zoom, 0.5)
	case a.pan != 0:
		return panned(s, a.pan)
	case p == nil:
		return nil
	case a.step != 0 || a.lane != 0:
		return moved(s, p, a)
	case a.focus:
		from, to := p.Index().Interval(s.View.Selected)
		if to <= from {
			return nil
		}
		margin := (to - from) * 3 / 2
		return state.SetRange{From: from - margin, To: to + margin}
	case a.peak:
		at := p.Solved.Trace.PeakAt
		width := Visible(s).Length / 4
		return state.SetRange{From: at - width/2, To: at + width/2}
	}
	return nil
}

func moved(s *state.State, p *known.Picture, a Action) state.Message {
	m, at := p.Index(), s.View.Selected
	if at.Kind == lookup.Nothing {
		if len(p.Solved.Trace.Spans) == 0 {
			return nil
		}
		return state.Select{Target: lookup.Target{Kind: lookup.OnSpan}}
	}
	if a.lane != 0 {
		return state.Select{Target: m.OtherLane(at, a.lane)}
	}
	return state.Select{Target: m.Step(at, a.step)}
}

// Label returns what the keys of a row are called on the keyboard in use.
func (r KeyRow) Label(labels map[string]string) string {
	words := strings.Fields(r.Keys)
	for i, place := range strings.Fields(r.places) {
		if l := labels[place]; l != "" {
			words[i] = strings.ToUpper(l)
		}
	}
	return strings.Join(words, " ")
}

// Stretch is the part of the step that is visible.
type Stretch struct{ From, Length, Makespan time.Duration }

// Visible returns the part that is visible now.
func Visible(s *state.State) Stretch {
	end := s.End()
	if s.View.To <= s.View.From {
		return Stretch{0, end, end}
	}
	return Stretch{s.View.From, s.View.To - s.View.From, end}
}

// Whole reports whether all of the step is visible.
func (v Stretch) Whole() bool { return v.Length >= v.Makespan }

// Zoomed multiplies the visible length by factor; what is at share of it (0:
// left, 1: right) stays where it is.
func Zoomed(s *state.State, factor, share float64) state.Message {
	v := Visible(s)
	length := max(time.Duration(float64(v.Length)*factor), 1000)
	if length >= v.Makespan {
		return state.SetRange{}
	}
	from := v.From + time.Duration(share*float64(v.Length-length))
	return state.SetRange{From: from, To: from + length}
}

// panned moves the visible part by a share of its length.
func panned(s *state.State, share float64) state.Message {
	v := Visible(s)
	return MovedTo(s, v.From+time.Duration(share*float64(v.Length)))
}

// MovedTo moves the visible part so that it begins at from, or as near as the
// step allows.
func MovedTo(s *state.State, from time.Duration) state.Message {
	v := Visible(s)
	if v.Whole() {
		return nil
	}
	from = min(max(from, 0), v.Makespan-v.Length)
	return state.SetRange{From: from, To: from + v.Length}
}
