package input

import (
	"fmt"
	"strconv"

	"memtide/engine"
	"memtide/profiles/llm/ask"
	"memtide/web/format"
	"memtide/web/state"
)

// stepCommand is what a command about a training step means; nil for others.
func (c Command) stepCommand(s *state.State) state.Message {
	switch {
	case c.Do == "step-config" && s.Config() != "":
		return state.PickStep{Model: s.Config()}
	case c.Do == "step-rank":
		return state.PickRank{Rank: c.Index}
	case c.Do == "step-change":
		return state.UseChange{Index: c.Index, Of: rowLists[c.Arg]}
	case c.Do == "step-set" && !c.Settled:
		return state.Type{Field: StepField(c.Arg), Text: c.Value}
	case c.Do == "step-set":
		o := ask.Option(c.Arg)
		if o == nil {
			return nil
		}
		if _, err := engine.ParseArgs("", ask.Options, engine.Args{c.Arg: c.Value}); err != nil {
			return state.Refuse{Field: StepField(c.Arg), Text: fmt.Sprintf("%s: %q; %s to %s are possible.", format.Capital(o.Title), c.Value, strconv.Itoa(o.Min), strconv.Itoa(o.Max))}
		}
		return state.SetStep{Name: c.Arg, Value: c.Value}
	}
	return nil
}

// StepField is the field of an option while something is typed into it.
func StepField(name string) string { return "step:" + name }

// The lists that changes of a training step are of, as data-arg names them.
const (
	FixRow    = "fix"
	AloneRow  = "alone"
	PolicyRow = "policy"
)

var rowLists = map[string]state.ChangeList{FixRow: state.FixingChanges, PolicyRow: state.PolicyChanges}
