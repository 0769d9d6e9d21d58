package input

import (
	"fmt"
	"strconv"

	"memtide/profiles/preset"
	"memtide/web/state"
)

// pickerFind returns what is typed into the search field of the list.
func pickerFind(c Command, s *state.State) state.Message {
	if c.Settled || !s.View.Picker.Open {
		return nil
	}
	return state.FilterPresets{Text: c.Value}
}

// variant returns a change of one option of the preset that is open.
func variant(c Command, _ *state.State) state.Message {
	switch {
	case !c.Settled && c.Arg == "efficiency":
		return state.Type{Field: c.Arg, Text: c.Value}
	case !c.Settled:
		return nil
	case c.Arg == "algorithms":
		return state.SetFast{On: c.Value == AlgorithmsBoth}
	case c.Arg == "functions":
		return state.SetSeparate{On: c.Value == FunctionsSeparate}
	}
	var o preset.Options
	switch n, _ := strconv.Atoi(c.Value); c.Arg {
	case "image":
		o.Image = n
	case "tokens":
		o.Tokens = n
	case "precision":
		o.Precision = c.Value
	case "efficiency":
		if o.Efficiency = n; c.Value == "" {
			o.Efficiency = -1
		} else if n < 1 || n > 100 {
			return state.Refuse{Field: "efficiency",
				Text: fmt.Sprintf("The efficiency is %q; 1 to 100 %% are possible.", c.Value)}
		}
	}
	if o == (preset.Options{}) {
		return nil
	}
	return state.SetVariant{Options: o}
}

// PickerKey returns what a key means in the search field; nil: what it means in any.
func PickerKey(s *state.State, k Key) state.Message {
	switch k.Key {
	case "ArrowDown":
		return state.StepPreset{By: 1}
	case "ArrowUp":
		return state.StepPreset{By: -1}
	case "PageDown":
		return state.StepPreset{By: PageStep}
	case "PageUp":
		return state.StepPreset{By: -PageStep}
	case "Escape":
		return state.TogglePicker{}
	case "Enter":
		if id := s.View.Picker.Active; id != "" {
			return state.PickNetwork{ID: id}
		}
	}
	return nil
}

// PageStep is how many rows Page Up and Page Down move in the list.
const PageStep = 8

// The values of the lists of algorithms of convolutions and of operators as functions.
const (
	AlgorithmsOne     = "m"
	AlgorithmsBoth    = "mp"
	FunctionsJoined   = "joined"
	FunctionsSeparate = "separate"
)

// OptionElement returns the ID of the element of an entry.
func OptionElement(id string) string { return "picker-" + id }
