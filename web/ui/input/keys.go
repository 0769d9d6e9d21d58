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

// Chord is what a key does when it is pressed with Ctrl or ⌘.
type Chord uint8

// The chords.
const (
	ChordNone Chord = iota
	ChordUndo       // or, with Shift, redo
	ChordSave
	ChordOpen
)

// ChordOf returns the chord of k, a key that was pressed with Ctrl or ⌘.
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

// Action is what a key does. One of the fields is set.
type Action struct {
	message state.Message
	zoom    float64 // multiplies the visible length, around the middle
	pan     float64 // moves the visible part by this share of its length
	step    int     // moves the selection by this many operations of its lane
	lane    int     // moves the selection down by this many lanes
	choose  string  // chooses the strategy with this name
	focus   bool    // zooms to the selection
	peak    bool    // shows the peak
	play    bool    // plays the step or stops playing, which needs the browser's clock
}

// KeyStrategies returns the strategies of the keys 1 to 6: the best ranks for chains.
func KeyStrategies() []*engine.Strategy {
	list := engine.Ranked(false)
	return list[:min(6, len(list))]
}

// KeyRow is a row of the help: keys, and what they do.
type KeyRow struct {
	Keys, Does string // keys are named as on a US keyboard
	places     string // KeyboardEvent.code of the first words of Keys, for other keyboards
	// acts are the actions by KeyboardEvent.code, or by KeyboardEvent.key in lower case, with the prefix "Shift "
	// if they need Shift.
	acts map[string]Action
}

// do returns acts in which all keys have the action a.
func do(a Action, keys ...string) map[string]Action {
	out := map[string]Action{}
	for _, k := range keys {
		out[k] = a
	}
	return out
}

func says(m state.Message) Action { return Action{message: m} }

// budgetSteps returns acts in which keys move the budget by by steps, with Shift by ten times as many.
func budgetSteps(by int, keys ...string) map[string]Action {
	out := do(says(state.StepBudget{Steps: by}), keys...)
	for _, k := range keys {
		out["Shift "+k] = says(state.StepBudget{Steps: 10 * by})
	}
	return out
}

// both returns the acts of a and b.
func both(a, b map[string]Action) map[string]Action {
	maps.Copy(a, b)
	return a
}

// The Action.zoom and Action.pan of keys.
const (
	zoomBy = 0.7
	panBy  = 0.15
)

// KeyRows returns all keys in the order of the help. Rows without acts are handled by package app.
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

// planKeys returns the acts of the number keys.
func planKeys() map[string]Action {
	out := map[string]Action{}
	for i, st := range KeyStrategies() {
		out["Digit"+strconv.Itoa(i+1)] = Action{choose: st.Name}
	}
	return out
}

// keyTitles returns the names of the plans of the number keys.
func keyTitles() string {
	var out []string
	for _, st := range KeyStrategies() {
		title := st.Label()
		out = append(out, strings.ToLower(title[:1])+title[1:])
	}
	return strings.Join(out, ", ")
}

// KeyOf returns the action of a key. The place of a key goes before its letter, so that W A S D are in the same
// places on every keyboard. Keys that are found by their letter are not on those places of common layouts.
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

// Looks reports whether the action is allowed in a view in another page, whose frame is f. Keys there only move the
// view and the selection, and the budget if the view has a slider for it.
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

// Walks reports whether the action needs the focus in the pictures, because its keys scroll the page otherwise.
func (a Action) Walks() bool { return a.step != 0 || a.lane != 0 || a.play }

// ZoomToSelection returns the message that shows the selection with a margin, or nil if nothing is selected.
func ZoomToSelection(s *state.State) state.Message { return Action{focus: true}.Act(s) }

// KeyPlaces returns the KeyboardEvent.code of all keys in KeyRow.places.
func KeyPlaces() (out []string) {
	for _, r := range KeyRows() {
		out = append(out, strings.Fields(r.places)...)
	}
	return out
}

// Plays reports whether the action plays the step or stops playing, see state.PlayStep.
func (a Action) Plays() bool { return a.play }

// Act returns the message of the action in the present state, or nil if the action does nothing.
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

// Label returns Keys with the labels of the keyboard in use, which are by KeyboardEvent.code.
func (r KeyRow) Label(labels map[string]string) string {
	words := strings.Fields(r.Keys)
	for i, place := range strings.Fields(r.places) {
		if l := labels[place]; l != "" {
			words[i] = strings.ToUpper(l)
		}
	}
	return strings.Join(words, " ")
}

// Stretch is the visible part of the step.
type Stretch struct{ From, Length, Makespan time.Duration }

// Visible returns the visible part of the step.
func Visible(s *state.State) Stretch {
	end := s.End()
	if s.View.To <= s.View.From {
		return Stretch{0, end, end}
	}
	return Stretch{s.View.From, s.View.To - s.View.From, end}
}

// Whole reports whether all of the step is visible.
func (v Stretch) Whole() bool { return v.Length >= v.Makespan }

// Zoomed returns the message that multiplies the visible length by factor. The time at share of the visible part (0:
// left, 1: right) stays in place.
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

// MovedTo returns the message that moves the visible part so that it begins at from, or as near as the
// step allows. It returns nil if the whole step is visible.
func MovedTo(s *state.State, from time.Duration) state.Message {
	v := Visible(s)
	if v.Whole() {
		return nil
	}
	from = min(max(from, 0), v.Makespan-v.Length)
	return state.SetRange{From: from, To: from + v.Length}
}
