// Package input is what a person does with buttons, fields and keys, and what that means
// as a message to the state. What an element does stands in its data-do, which package app
// makes a Command of; a key is an Action. Texts that cannot be read become refusals.
package input

import (
	"unicode/utf8"

	"memtide/web/state"
)

// Command is something done with an element: what its data-do says.
type Command struct {
	Do      string
	Value   string // of a control
	Arg     string // data-arg
	Kind    int    // data-kind and data-index of a table row
	Index   int
	Settled bool // false while a control is still being dragged or typed into
}

// Key is a key that was pressed: its place on the keyboard and what it types.
type Key struct {
	Code, Key string
	Shift     bool
}

// Typed reports whether the key types one character: what can be turned off.
func (k Key) Typed() bool { return utf8.RuneCountInString(k.Key) == 1 }

// field returns the name of a text field among drafts and refusals.
func (c Command) field() string {
	switch c.Do {
	case "step-set":
		return StepField(c.Arg)
	case "arg", "alloc-arg":
		return c.Do + ":" + c.Arg
	}
	return c.Do
}

// refuse says why the text of a field cannot be taken.
func (c Command) refuse(text string) state.Message { return state.Refuse{Field: c.field(), Text: text} }

// StepField returns the field of an option while something is typed into it.
func StepField(name string) string { return "step:" + name }
