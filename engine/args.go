package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Param is a parameter of a strategy or an allocator: a whole number from Min to
// Max, or one of the words of Choices.
type Param struct {
	Name, Title, Doc string   // Name stands in links
	Default          string   // in the spelling of Args
	Min, Max         int      // of a whole number, both included
	Choices          []string // of a word; nil for a number
	Tried            string   // unit of a number whose values the page tries and shows, MiB or operations; or empty
}

// Args are values of parameters by name, as people and links spell them; a
// parameter that is missing has its default. They may come from anywhere: nothing
// is known of them until ParseArgs has accepted them.
type Args map[string]string

// Parsed are the values of all parameters that a strategy or an allocator declares.
// Only ParseArgs makes one. Asking for a parameter that is not declared, or not of
// that kind, is a mistake of the program and panics.
type Parsed struct {
	owner  string
	params []Param
	values []int // by parameter: the number, or the place of the word in Choices
}

// ParseArgs checks args against params and fills in the defaults. Names that are not
// declared, and values out of range, are an error for people. owner is who declares
// them, for messages. args is not kept; params is, and must not change.
func ParseArgs(owner string, params []Param, args Args) (Parsed, error) {
	out := Parsed{owner: owner, params: params, values: make([]int, len(params))}
	for i := range params {
		v, ok := args[params[i].Name]
		if !ok {
			v = params[i].Default
		}
		var err error
		if out.values[i], err = params[i].parse(v); err != nil {
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

// Int is the value of a number, within its Min and Max.
func (a Parsed) Int(name string) int {
	p, v := a.get(name)
	if p.Choices != nil {
		panic(fmt.Sprintf("engine: parameter %q of %s is a word, not a number", name, a.owner))
	}
	return v
}

// Word is the value of a word.
func (a Parsed) Word(name string) string {
	p, v := a.get(name)
	if p.Choices == nil {
		panic(fmt.Sprintf("engine: parameter %q of %s is a number, not a word", name, a.owner))
	}
	return p.Choices[v]
}

// Is says whether the value of a word is this one. It panics if that is no choice of
// the parameter.
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
