package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Param is a parameter of a strategy or an allocator: a whole number from Min to Max, or one of the words of Choices.
type Param struct {
	Name, Title, Doc string   // Name is written in links
	Default          string   // in the spelling of Args
	Min, Max         int      // of a whole number, both included
	Choices          []string // of a word; nil for a number
}

// Args holds the values of parameters by name, as people and links spell them; a parameter that is missing has its
// default. Args may come from any source: they are unchecked until ParseArgs has accepted them.
type Args map[string]string

// Parsed holds the values of all parameters that a strategy or an allocator declares. It is made by ParseArgs.
// Asking for a parameter that is not declared, or that has another kind, is a bug in the program and panics.
type Parsed struct {
	owner  string
	params []Param
	values []int // by parameter: the number, or the index of the word in Choices
}

// ParseArgs checks args against params and fills in the defaults. It returns an error with a message for users if a
// name is not declared or a value is out of range. owner names who declares the parameters, for messages. ParseArgs
// does not keep args; it keeps params, which must not change.
func ParseArgs(owner string, params []Param, args Args) (Parsed, error) {
	out := Parsed{owner: owner, params: params, values: make([]int, len(params))}
	for i := range params {
		v, ok := args[params[i].Name]
		if !ok {
			v = params[i].Default
		}
		var err error
		out.values[i], err = params[i].parse(v)
		if err != nil {
			return Parsed{}, err
		}
	}
	for name := range args {
		if !slices.ContainsFunc(params, func(p Param) bool { return p.Name == name }) {
			return Parsed{}, fmt.Errorf("%s has no parameter %q", owner, name)
		}
	}
	return out, nil
}

func (p *Param) parse(v string) (int, error) {
	if p.Choices != nil {
		i := slices.Index(p.Choices, v)
		if i < 0 {
			return 0, fmt.Errorf("%s is %q; expected one of %s", p.Name, v, strings.Join(p.Choices, ", "))
		}
		return i, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < p.Min || n > p.Max {
		return 0, fmt.Errorf("%s is %q; expected a whole number from %d to %d", p.Name, v, p.Min, p.Max)
	}
	return n, nil
}

// Int returns the value of the numeric parameter name. It is within the parameter's Min and Max.
func (a Parsed) Int(name string) int {
	p, v := a.get(name)
	if p.Choices != nil {
		panic(fmt.Sprintf("engine: parameter %q of %s is a word, not a number", name, a.owner))
	}
	return v
}

// Word returns the value of the parameter name, which must have Choices.
func (a Parsed) Word(name string) string {
	p, v := a.get(name)
	if p.Choices == nil {
		panic(fmt.Sprintf("engine: parameter %q of %s is a number, not a word", name, a.owner))
	}
	return p.Choices[v]
}

// Is reports whether the parameter name has the value word. It panics if word is not one of the parameter's Choices.
func (a Parsed) Is(name, word string) bool {
	p, _ := a.get(name)
	if !slices.Contains(p.Choices, word) {
		panic(fmt.Sprintf("engine: parameter %q of %s cannot be %q", name, a.owner, word))
	}
	return a.Word(name) == word
}

func (a Parsed) get(name string) (*Param, int) {
	for i := range a.params {
		if a.params[i].Name == name {
			return &a.params[i], a.values[i]
		}
	}
	panic(fmt.Sprintf("engine: %q has no parameter %q", a.owner, name))
}
