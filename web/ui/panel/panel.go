// Package panel is what panels are made of: entries of lists, parameters, numbers with
// their labels, and pieces of bars.
package panel

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

// Selected is the title of the chosen option; empty if none is.
func Selected(options []Option) string {
	for _, o := range options {
		if o.Selected {
			return o.Title
		}
	}
	return ""
}

// Param is a parameter of a strategy or of an allocator with its present value.
type Param struct {
	Name, Title, Doc, Value string
	Min, Max                int
	Choices                 []Option // nil for a number
}

// Params are parameters with their arguments, or with what is being typed into the field
// of that name.
func Params(s *state.State, list []engine.Param, args engine.Args, field string) (out []Param) {
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

// Number is a result; ID is its data-testid.
type Number struct {
	ID, Value, Label, Title, Class string
}

// Fact is a value with what it is called.
type Fact struct{ Label, Value, Title string }
