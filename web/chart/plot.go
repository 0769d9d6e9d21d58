// Package chart makes the options of the charts that ECharts draws: plain JSON,
// filled into a template that a test makes with go-echarts, whose
// imports would add a tenth to the program. A Plot is also the geometry of its chart, so that
// pointing at it needs no question to the browser and is tested natively.
//
// Options contain no functions (the page's policy forbids to evaluate any, and
// string templates do); colours come in, because a canvas knows no style sheet.
package chart

import (
	"strconv"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/tradeoff"
)

// Plot is the trade-off curve: budgets to the right, slowdown against keeping
// everything upwards, or what Axis says, in a picture of Width times Height CSS
// pixels.
type Plot struct {
	Width, Height float64
	Axis          string
	Batch         int    // what a step trains with, in Unit; 0 if unknown
	Unit          string // samples or tokens

	Lines   []tradeoff.Line
	Spots   []Spot             // policies of frameworks
	KeepAll tradeoff.LinePoint // zero if it is not known
	Chosen  string             // name of the chosen strategy
	Budget  engine.Bytes
	Now     tradeoff.LinePoint // what is shown; zero if nothing is
	Other   tradeoff.LinePoint // the other side of a comparison, as Beside.At; zero if it has no place
	Another bool               // Other is of another network
	Letters [2]string          // of what is shown and of the other side; empty without a comparison
	Card    bool               // the horizontal axis is labelled by what a card has to have for a budget
	Device  engine.Bytes       // the budget for which the device has just enough; 0 if that is not known
	Name    string             // of the device, as it is written at its line

	From, To    engine.Bytes // of the horizontal axis
	Low, Top    float64      // of the vertical axis, in its unit
	Least, Most float64      // the slowdowns at its ends
	Fits        engine.Bytes // the smallest budget for which something was found; 0 if unknown

	wide float64 // the room that the labels of the vertical axis need
}

// Spot is a policy of a framework on the curve: a circle, full if it fits.
type Spot struct {
	Index int    // see state.OpenPolicy
	Name  string // of the policy
	Words string // what frameworks call it
	At    tradeoff.LinePoint
	Needs engine.Bytes // on the card
	Fits  bool
}

// Beside is the other side of a comparison, beside the curve of this one.
type Beside struct {
	Letter  string // A or B
	Another bool   // it is of another network, whose own measure counts
	// its place: its budget, and the step time that stands here for its measure; zero if it has none
	At    tradeoff.LinePoint
	Words string // its numbers
	Note  string // how to read its place, or why it has none; empty for a schedule of this network
}

// named is an end of a line with its name.
type named struct {
	name   string
	x, y   float64
	chosen bool
	gone   bool // the whole line lies beside the plot
}

// width is about how wide a name is, in CSS pixels.
func (n named) width() float64 { return 8 + 6.3*float64(len(n.name)) }

// labelHeight is the least distance between two labels.
const labelHeight = 13.0

// keepAllName stands at the square of keeping everything.
const keepAllName = "keep everything"

// Names of the dots of what is shown and of the other side of a comparison.
const (
	shownName = "shown"
	otherName = "other side"
)

// Look is how a chart is dressed.
type Look struct {
	Colours []string // by display.Role
	Font    string
}

// node is an object of an option.
type node = map[string]any

// words returns a label that is legible on lines: a text in the colour of a role.
func (look Look) words(text string, r display.Role, size int) node {
	return node{"show": true, "formatter": text, "color": look.Colours[r], "fontSize": size, "fontFamily": look.Font,
		"textBorderColor": look.Colours[display.Surface], "textBorderWidth": 3}
}

// What follows works on options as trees of maps, slices and values.

// dress puts colours and the font in place of the strings that stand for them.
func dress(at any, look Look) any {
	switch at := at.(type) {
	case node:
		for key, v := range at {
			at[key] = dress(v, look)
		}
	case []any:
		for i, v := range at {
			at[i] = dress(v, look)
		}
	case string:
		if role, ok := roles[at]; ok {
			return look.Colours[role]
		}
		if at == "$font" {
			return look.Font
		}
	}
	return at
}

// roles are the strings that stand for colours.
var roles = map[string]display.Role{"$grid": display.Grid, "$muted": display.Muted, "$ink": display.Ink,
	"$budget": display.Budget, "$surface": display.Surface}

func clone(at any) any {
	switch at := at.(type) {
	case node:
		out := make(node, len(at))
		for key, v := range at {
			out[key] = clone(v)
		}
		return out
	case []any:
		out := make([]any, len(at))
		for i, v := range at {
			out[i] = clone(v)
		}
		return out
	}
	return at
}

// set puts a value at a path of keys and indices. It panics if the template has
// no such path: the two have to be changed together.
func set(at any, value any, path ...string) {
	for i, key := range path {
		last := i == len(path)-1
		switch n := at.(type) {
		case []any:
			k, err := strconv.Atoi(key)
			if err != nil || k >= len(n) || last {
				panic("chart: the template has no " + key)
			}
			at = n[k]
		case node:
			if last {
				n[key] = value
				return
			}
			at = n[key]
		default:
			panic("chart: the template has no " + key)
		}
	}
}

// Dash returns the dash of a strategy's line, as lengths of strokes and spaces in CSS
// pixels: always the same, whatever else is drawn or registered. Nil is a solid line.
func Dash(strategy string) []int {
	if s := engine.Lookup(strategy); s != nil {
		return dashes[s.Mark%len(dashes)]
	}
	return dashes[0]
}

// Role returns the colour of a strategy's line: that of its class.
func Role(strategy string) display.Role {
	s := engine.Lookup(strategy)
	switch {
	case s == nil, s.Class == engine.MayRecompute|engine.MayOffload:
		return display.Forward
	case s.Class == engine.MayOffload:
		return display.Transfer
	case s.Class == engine.MayRecompute:
		return display.Recompute
	}
	return display.Fixed
}

// dashes tell the strategies of a class, which share a colour, apart: by Strategy.Mark.
// They never change places; more may follow.
var dashes = [engine.Marks][]int{nil, {7, 3}, {3, 3}, {10, 3, 3, 3}, {14, 4}, {10, 3, 3, 3, 3, 3}, {5, 2}, {12, 6},
	{16, 3, 6, 3}, {4, 7}, {8, 2, 2, 2}, {2, 2}, {20, 3}, {6, 2, 2, 2}, {18, 4, 2, 4}}

func px(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
