package ui

import (
	"cmp"
	"memtide/engine"
	"memtide/web/state"
)

// Option is an entry of a drop-down list.
type Option struct {
	ID, Title string
	Selected  bool
}

// selected is the title of the chosen option; empty if none is.
func selected(options []Option) string {
	for _, o := range options {
		if o.Selected {
			return o.Title
		}
	}
	return ""
}

// Param is a parameter of the strategy with its present value.
type Param struct {
	Name, Title, Doc, Value string
	Min, Max                int
	Choices                 []Option // nil for a number
}

// params are parameters with their arguments, or with what is being typed into the field
// of that name.
func params(s *state.State, list []engine.Param, args engine.Args, field string) (out []Param) {
	for _, p := range list {
		v, ok := args[p.Name]
		if !ok {
			v = p.Default
		}
		if s.Draft.Field == field+p.Name {
			v = s.Draft.Text
		}
		f := Param{Name: p.Name, Title: p.Title, Doc: p.Doc, Value: v, Min: p.Min, Max: p.Max}
		for _, w := range p.Choices {
			f.Choices = append(f.Choices, Option{w, cmp.Or(choiceTitles[p.Name+"="+w], w), w == v})
		}
		out = append(out, f)
	}
	return out
}

// choiceTitles say for people what a word of a parameter does not.
var choiceTitles = map[string]string{"order=any": "any order", "order=kept": "order kept"}

// Number is one of the numbers.
type Number struct {
	ID, Value, Label, Title, Class string
}

// Fact is a sum over the network.
type Fact struct{ Label, Value, Title string }
