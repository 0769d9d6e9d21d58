// Package input turns what a person does with buttons, fields and keys into messages to the state. An element's data-do
// says what it does; package app makes a Command of it. A key is an Action. Texts that are not valid become refusals.
package input

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles/llm/ask"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/tradeoff"
)

func budgetSlider(c Command, s *state.State) state.Message {
	return numbered(c.Value, math.MaxInt32, func(position int) state.Message {
		return state.SetBudget{Bytes: s.KnobRange().At(position), Settled: c.Settled}
	})
}

func bandwidthSlider(c Command, _ *state.State) state.Message {
	return numbered(c.Value, math.MaxInt32, func(position int) state.Message {
		return state.SetBandwidth{Rate: tradeoff.BandwidthAt(position), Settled: c.Settled}
	})
}

// numbered returns of(n) for the number n in text, or nil if text is not a number from 0 up to end-1.
func numbered(text string, end int, of func(n int) state.Message) state.Message {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= end {
		return nil
	}
	return of(n)
}

// budget reads a budget as in links and on the command line: a size, or a share of the peak of keeping everything.
// It reads a number without a unit as GiB.
func budget(c Command, _ *state.State) state.Message {
	text := c.Value
	if n := strings.TrimSpace(text); n != "" && strings.Trim(n, "0123456789.") == "" {
		text = n + " GiB"
	}
	b, err := choice.ParseBudget(text)
	if err != nil {
		return state.Refuse{Text: "Budget: " + err.Error()}
	}
	return state.SetBudget{Bytes: b.Bytes, Share: b.Share, Settled: true}
}

func bandwidth(c Command, _ *state.State) state.Message {
	r, err := format.ParseRate(c.Value)
	if err != nil {
		return state.Refuse{Text: "Bandwidth: " + err.Error()}
	}
	return state.SetBandwidth{Rate: r, Settled: true}
}

// ownCard chooses a card that is not in the list, by its figures. A memory alone keeps the other figures of the card
// that the field had.
func ownCard(c Command, s *state.State) state.Message {
	if _, others, some := strings.Cut(choice.OwnText(s.Choice.Device), ","); some && !strings.Contains(c.Value, ",") {
		c.Value += "," + others
	}
	id, err := choice.OwnCard(c.Value)
	if err != nil {
		return state.Refuse{Text: "Card: " + err.Error()}
	}
	return state.SetGPU{ID: id}
}

func argument(c Command, s *state.State) state.Message {
	if st := engine.Lookup(s.Choice.Strategy); st != nil {
		return parsed(c, st.Parse, state.SetArg{Name: c.Arg, Value: c.Value})
	}
	return nil
}

func allocArgument(c Command, s *state.State) state.Message {
	if a := alloc.Lookup(s.Allocator()); a != nil {
		return parsed(c, a.Parse, state.SetAllocArg{Name: c.Arg, Value: c.Value})
	}
	return nil
}

// parsed returns m, a message about an argument, or a refusal if the argument is not valid.
func parsed(c Command, parse func(engine.Args) (engine.Parsed, error), m state.Message) state.Message {
	if _, err := parse(engine.Args{c.Arg: c.Value}); err != nil {
		return state.Refuse{Text: err.Error()}
	}
	return m
}

func stepOption(c Command, _ *state.State) state.Message {
	o := ask.Option(c.Arg)
	if o == nil {
		return nil
	}
	if _, err := engine.ParseArgs("", ask.Options, engine.Args{c.Arg: c.Value}); err != nil {
		return state.Refuse{Text: fmt.Sprintf("%s: %q is not possible; %s to %s are.", format.Capital(o.Title), c.Value,
			format.Count(o.Min), format.Count(o.Max))}
	}
	return state.SetOption{Name: c.Arg, Value: c.Value}
}

// The lists of changes of a training step, as data-arg names them.
const (
	FixRow    = "fix"
	AloneRow  = "alone"
	PolicyRow = "policy"
	OrderRow  = "order"
)

var rowLists = map[string]state.ChangeList{FixRow: state.FixingChanges, PolicyRow: state.PolicyChanges,
	OrderRow: state.OrderChanges}

func pickerFind(c Command, s *state.State) state.Message {
	if c.Settled || !s.View.Picker.Open {
		return nil
	}
	return state.FilterPresets{Text: c.Value}
}

// variant changes one option of the open preset.
func variant(c Command, s *state.State) state.Message {
	if !c.Settled {
		if c.Arg == "efficiency" {
			return state.Type{Field: c.Arg, Text: c.Value}
		}
		return nil
	}
	_, o := s.Choice.Source.Variant()
	switch n, err := strconv.Atoi(c.Value); c.Arg {
	case "algorithms":
		o.Fast = c.Value == AlgorithmsBoth
	case "functions":
		o.Separate = c.Value == FunctionsSeparate
	case "precision":
		o.Precision = c.Value
	case "efficiency":
		if o.Efficiency = n; c.Value != "" && (n < 1 || n > 100) {
			return state.Refuse{Text: fmt.Sprintf("The efficiency is %q; 1 to 100 %% are possible.", c.Value)}
		}
	case "image":
		if o.Image = n; err != nil {
			return nil
		}
	case "tokens":
		if o.Tokens = n; err != nil {
			return nil
		}
	}
	return state.SetVariant{Options: o}
}

// PickerKey returns the message of a key in the search field of the list of networks, or nil if the key edits the text.
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

// PageStep is the number of rows by which Page Up and Page Down move in the list.
const PageStep = 8

// The values of the lists of algorithms of convolutions and of operators as functions.
const (
	AlgorithmsOne     = "m"
	AlgorithmsBoth    = "mp"
	FunctionsJoined   = "joined"
	FunctionsSeparate = "separate"
)

// OptionElement returns the ID of the element of an entry of the list, given the ID of the entry.
func OptionElement(id string) string { return "picker-" + id }

// Command is something that was done with an element.
type Command struct {
	Do      string // data-do
	Value   string // value of a control
	Arg     string // data-arg
	Kind    int    // data-kind
	Index   int    // data-index
	Settled bool   // false while a control is being dragged or typed into
}

// Key is a key that was pressed: Code and Key of KeyboardEvent.
type Key struct {
	Code, Key string
	Shift     bool
}

// Typed reports whether the key types one character. Such shortcuts can be turned off.
func (k Key) Typed() bool { return utf8.RuneCountInString(k.Key) == 1 }

// field returns the name of a text field in state.Draft.
func (c Command) field() string {
	switch c.Do {
	case "arg", "alloc-arg":
		return c.Do + ":" + c.Arg
	}
	return c.Do
}

// NumberField is the name in state.Draft of the field for a number that the list of an option does not have. The entry
// of the list that shows the field is OtherNumber.
const (
	NumberField = "option-number"
	OtherNumber = "other"
)
