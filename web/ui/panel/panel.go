// Package panel has the types that panels consist of: entries of lists, parameters, numbers with
// labels, and pieces of bars.
package panel

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/web/choice"
	"memtide/web/state"
)

// Option is an entry of a drop-down list.
type Option struct {
	ID, Title string
	Selected  bool
}

// Selected returns the title of the selected option, or "" if no option is selected.
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

// Params returns the parameters in list with their arguments. A parameter p has the draft instead if its field, field
// followed by the name of p, is being edited.
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

// choiceTitles are the titles of values of parameters, as "name=value". Other values are their own titles.
var choiceTitles = map[string]string{"order=any": "any order", "order=kept": "order kept"}

// Number is a result with its label; ID is its data-testid.
type Number struct {
	ID, Value, Label, Title, Class string
}

// Fact is a value with its label.
type Fact struct{ Label, Value, Title string }

// Badge says what was checked; Class is its colour.
type Badge struct{ Text, Class, Title string }

// Group is a part of a drop-down list under a heading.
type Group struct {
	Title   string
	Options []Option
}

// sizes are usual memory sizes of cards in GiB.
var sizes = []engine.Bytes{4, 8, 12, 16, 24, 32, 40, 48, 64, 80, 96, 128, 144, 192, 256, 288, 384, 512}

// size returns the smallest of sizes that is at least memory, or memory rounded up to GiB if it exceeds them.
func size(memory engine.Bytes) engine.Bytes {
	for _, n := range sizes {
		if memory <= n*engine.GiB {
			return n
		}
	}
	return (memory + engine.GiB - 1) / engine.GiB
}

// Cards lists the cards by memory, including the chosen one, and last a card of the reader's own.
func Cards(chosen string) (out []Group) {
	all := card.All()
	var list []*card.Card
	for i := range all {
		if c := &all[i]; c.Instead == "" || c.ID == chosen {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *card.Card) int { return cmp.Compare(size(a.Memory), size(b.Memory)) })
	for _, c := range list {
		title := fmt.Sprintf("up to %d GB", size(c.Memory))
		if len(out) == 0 || out[len(out)-1].Title != title {
			out = append(out, Group{Title: title})
		}
		g := &out[len(out)-1]
		g.Options = append(g.Options, Option{ID: c.ID, Title: c.Name, Selected: c.ID == chosen})
	}
	own := Option{ID: choice.OwnExample, Title: "another card…"}
	if c := card.Lookup(chosen); c != nil && c.Kind == card.OfTheirOwner {
		own = Option{ID: chosen, Title: "card", Selected: true} // its figures follow
	}
	return append(out, Group{Title: "not in the list", Options: []Option{own}})
}

// Piece is a piece of a bar, or a mark across the bar. Style contains its position as CSS.
type Piece struct {
	Class, Label, Title string
	Style               string
}

// Side adds " left" to the class of a mark at position at, if its label has to be to the left of the mark.
func Side(class string, at, whole engine.Bytes) string {
	if at > whole/2 {
		return class + " left"
	}
	return class
}

// Stretch returns the position of a piece as CSS.
func Stretch(from, to, whole engine.Bytes) string {
	return fmt.Sprintf("left:%s;width:%s", Percent(from, whole), Percent(to-from, whole))
}

// Place returns the position of a mark as CSS.
func Place(at, whole engine.Bytes) string { return "left:" + Percent(at, whole) }

// Percent returns part as a share of whole, as a CSS length of at most 100 %.
func Percent(part, whole engine.Bytes) string {
	return fmt.Sprintf("%.6g%%", math.Min(100*float64(part)/float64(whole), 100))
}
