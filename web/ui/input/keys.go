package input

import (
	"strings"

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

// ChordOf is the chord of a key.
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
type KeyRow struct{ Keys, Does, places string }

// KeyRows are all keys, in the order in which the help lists them.
func KeyRows() []KeyRow {
	return []KeyRow{
		{"W S or + −", "zoom in, out", "KeyW KeyS"},
		{"A D or Shift ← →", "pan", "KeyA KeyD"},
		{"0", "show the whole step", ""},
		{"← →", "operation before, after", ""},
		{"↑ ↓", "lane above, below", ""},
		{"N P", "next, previous wait", ""},
		{"I", "jump to its cause", ""},
		{"Backspace", "back along the causes", ""},
		{"K", "show the critical chain", ""},
		{"Space", "play the step, or stop it", ""},
		{"[ ]", "budget down, up (Shift: ten steps)", "BracketLeft BracketRight"},
		{"F", "zoom to the selection", ""},
		{"G", "go to the peak", ""},
		{"T", "table", ""},
		{"M", "choose a network (model)", ""},
		{"/", "find a layer", ""},
		{"C", "compare, or close", ""},
		{"X", "swap A and B", ""},
		{"1 … 6", "plan: " + keyTitles(), ""},
		{"Ctrl Z, Ctrl Shift Z", "undo, redo a decision", ""},
		{"Y", "copy the link", ""},
		{"Ctrl S", "save what is shown as a picture", ""},
		{"Ctrl O", "open a file", ""},
		{"?", "this help", ""},
		{"Esc", "close, deselect", ""},
	}
}

// keyTitles are the plans of the number keys.
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
	steps := 1
	if k.Shift {
		steps = 10
	}
	switch k.Code {
	case "KeyW", "NumpadAdd":
		return Action{zoom: 0.7}, true
	case "KeyS", "NumpadSubtract":
		return Action{zoom: 1 / 0.7}, true
	case "KeyA":
		return Action{pan: -0.15}, true
	case "KeyD":
		return Action{pan: 0.15}, true
	case "ArrowLeft", "ArrowRight":
		sign := map[string]int{"ArrowLeft": -1, "ArrowRight": 1}[k.Code]
		if k.Shift {
			return Action{pan: 0.15 * float64(sign)}, true
		}
		return Action{step: sign}, true
	case "ArrowUp":
		return Action{lane: -1}, true
	case "ArrowDown":
		return Action{lane: 1}, true
	case "Backspace":
		return Action{message: state.Retrace{}}, true
	case "Escape":
		return Action{message: state.Dismiss{}}, true
	case "BracketLeft":
		return Action{message: state.StepBudget{Steps: -steps}}, true
	case "BracketRight":
		return Action{message: state.StepBudget{Steps: steps}}, true
	case "Space":
		return Action{play: true}, true
	case "Digit0", "Numpad0":
		return Action{message: state.SetRange{}}, true
	}
	if n := strings.Index("123456", strings.TrimPrefix(k.Code, "Digit")); n >= 0 && len(k.Code) == len("Digit1") {
		if list := KeyStrategies(); n < len(list) {
			return Action{choose: list[n].Name}, true
		}
	}
	return letterOf(k, steps)
}

// letterOf maps what a key types to an action.
func letterOf(k Key, steps int) (Action, bool) {
	switch k.Key {
	case "+", "=":
		return Action{zoom: 0.7}, true
	case "-", "_":
		return Action{zoom: 1 / 0.7}, true
	case "[", "{":
		return Action{message: state.StepBudget{Steps: -steps}}, true
	case "]", "}":
		return Action{message: state.StepBudget{Steps: steps}}, true
	case "n", "N":
		return Action{message: state.StepWait{By: 1}}, true
	case "p", "P":
		return Action{message: state.StepWait{By: -1}}, true
	case "i", "I":
		return Action{message: state.FollowCause{}}, true
	case "m", "M":
		return Action{message: state.TogglePicker{}}, true
	case "c", "C":
		return Action{message: state.ToggleCompare{}}, true
	case "x", "X":
		return Action{message: state.SwapSides{}}, true
	case "k", "K":
		return Action{message: state.ToggleChain{}}, true
	case "t", "T":
		return Action{message: state.ToggleTable{}}, true
	case "f", "F":
		return Action{focus: true}, true
	case "g", "G":
		return Action{peak: true}, true
	case "y", "Y":
		return Action{message: state.CopyLink{}}, true
	case "?":
		return Action{message: state.ToggleHelp{}}, true
	}
	return Action{}, false
}

// Looks says that an action only moves the view or the selection: all that keys do
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

// Walks says that an action moves along the pictures: what arrows and Space do while
// the pictures have the focus.
func (a Action) Walks() bool { return a.step != 0 || a.lane != 0 || a.play }

// ZoomToSelection shows what is selected with some of what is beside it.
func ZoomToSelection(s *state.State) state.Message { return Action{focus: true}.Act(s) }

// KeyPlaces are the places of all keys that are known by their place.
func KeyPlaces() (out []string) {
	for _, r := range KeyRows() {
		out = append(out, strings.Fields(r.places)...)
	}
	return out
}

// Plays says that an action plays the step or stops it, see state.PlayStep.
func (a Action) Plays() bool { return a.play }

// Act is the message of an action on the present state; nil if it does nothing.
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
		from, to := p.Model().Interval(s.View.Selected)
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
	m, at := p.Model(), s.View.Selected
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

// Label is what the keys of a row are called on the keyboard in use.
func (r KeyRow) Label(labels map[string]string) string {
	words := strings.Fields(r.Keys)
	for i, place := range strings.Fields(r.places) {
		if l := labels[place]; l != "" {
			words[i] = strings.ToUpper(l)
		}
	}
	return strings.Join(words, " ")
}
