// Package chart makes the options of the charts that ECharts draws. It sets values in a JSON template that a test makes
// with go-echarts, because importing go-echarts would add a tenth to the program. A Plot also has the geometry of its
// chart, so that the page knows what the pointer is at without asking the browser.
//
// Options contain no functions, since the page's policy forbids evaluating them, but string
// templates. They contain colours, since a canvas has no style sheet.
package chart

import (
	"strconv"
	"time"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/state"
	"memtide/web/tradeoff"
)

// Plot is the trade-off curve, in a picture of Width times Height CSS pixels. Its horizontal axis is the budget. Its
// vertical axis is the rate, the slowdown relative to keeping everything, or the step time, see tradeoff.Axes.
type Plot struct {
	Width, Height float64
	Axis          string
	Batch         int    // how many units a step trains with; 0 if unknown
	Unit          string // samples or tokens

	Lines   []tradeoff.Line
	Spots   []Spot             // policies of frameworks, and orders of a pipeline's passes
	KeepAll tradeoff.LinePoint // zero if not known
	Chosen  string             // name of the chosen strategy
	Budget  engine.Bytes       // 0 for a step that opens by itself
	Bound   time.Duration      // no order of a pipeline's passes is faster; 0 if something else is, or it is not known
	Now     tradeoff.LinePoint // the schedule that is shown; zero if there is none
	Other   tradeoff.LinePoint // the other side of a comparison, as Beside.At; zero if it has no place
	Another bool               // Other is of another network
	Letters [2]string          // of Now and Other; empty without a comparison
	Card    bool               // the horizontal axis shows the memory that a card needs for a budget
	Context engine.Bytes       // of that memory what CUDA takes, see Choice.Context
	Device  engine.Bytes       // the largest budget for which the device's memory suffices; 0 if not known
	Name    string             // label of the device's line

	From, To    engine.Bytes // ends of the horizontal axis
	Low, Top    float64      // ends of the vertical axis, in its unit
	Least, Most float64      // the slowdowns at the ends of the vertical axis
	Fits        engine.Bytes // the smallest budget for which a schedule or a policy is known; 0 if unknown

	wide float64 // width of the labels of the vertical axis
}

// Spot is a policy of a framework on the curve: a circle, full if it fits. The order of a pipeline's passes is a
// diamond.
type Spot struct {
	Do    state.Message // opens the step with the policy or the order
	Name  string        // of the policy or the order
	Words string        // what frameworks call the policy, or what is said of the order
	At    tradeoff.LinePoint
	Needs engine.Bytes // memory of the card
	Fits  bool
	Order bool // it is an order of passes
}

// Beside is the other side of a comparison.
type Beside struct {
	Letter  string // A or B
	Another bool   // it is of another network, so that its own measure counts
	// At is its budget, and the step time that has its measure on this side's axis; zero if it has no place there.
	At    tradeoff.LinePoint
	Words string // its numbers
	Note  string // how to read its place, or why it has none; empty for a schedule of the same network
}

// named is the end of a line with the line's name.
type named struct {
	name   string
	x, y   float64
	chosen bool
	gone   bool // the whole line is outside of the plot
}

// nameWidth estimates the width of a name in CSS pixels.
func nameWidth(name string) float64 { return 8 + 6.3*float64(len(name)) }

// labelHeight is the least distance between two labels in CSS pixels.
const labelHeight = 13.0

// roomForLabels is the least width in CSS pixels at which lines have labels. On a
// telephone the table of plans is the key.
const roomForLabels = 420.0

// The names of single dots: keeping everything, what is shown, and the other side of a comparison.
const (
	keepAllName = "keep everything"
	shownName   = "shown"
	otherName   = "other side"
)

// Look is the colours and the font of a chart.
type Look struct {
	Colours []string // by display.Role
	Font    string
}

// node is an object of an option.
type node = map[string]any

// words returns the option of a label in the colour of a role, with a border that makes it legible on lines.
func (look Look) words(text string, r display.Role, size int) node {
	return node{"show": true, "formatter": text, "color": look.Colours[r], "fontSize": size, "fontFamily": look.Font,
		"textBorderColor": look.Colours[display.Surface], "textBorderWidth": 3}
}

// dress replaces the placeholders of colours and the font in an option, a tree of maps, slices
// and values, and returns it.
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

// roles are the placeholders of colours.
var roles = map[string]display.Role{"$grid": display.Grid, "$muted": display.Muted, "$ink": display.Ink,
	"$budget": display.Budget, "$surface": display.Surface}

// clone returns a deep copy of an option.
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

// set sets the value at a path of keys and indices. It panics if the template does not have
// the path: code and template have to be changed together.
func set(at any, value any, path ...string) {
	key, rest := path[0], path[1:]
	switch n := at.(type) {
	case []any:
		if k, err := strconv.Atoi(key); err == nil && k < len(n) && len(rest) > 0 {
			set(n[k], value, rest...)
			return
		}
	case node:
		if len(rest) > 0 {
			set(n[key], value, rest...)
		} else {
			n[key] = value
		}
		return
	}
	panic("chart: the template has no " + key)
}

// Dash returns the dash of a strategy's line as lengths of strokes and gaps in CSS pixels, or
// nil for a solid line. It depends only on the strategy.
func Dash(strategy string) []int {
	if s := engine.Lookup(strategy); s != nil {
		return dashes[s.Mark%len(dashes)]
	}
	return dashes[0]
}

// Role returns the colour of a strategy's line, which is that of its class.
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

// dashes are the dashes by Strategy.Mark. They distinguish strategies of a class, which have the same
// colour. Their order never changes; more may be appended.
var dashes = [engine.Marks][]int{nil, {7, 3}, {3, 3}, {10, 3, 3, 3}, {14, 4}, {10, 3, 3, 3, 3, 3}, {5, 2}, {12, 6},
	{16, 3, 6, 3}, {4, 7}, {8, 2, 2, 2}, {2, 2}, {20, 3}, {6, 2, 2, 2}, {18, 4, 2, 4}}

func px(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
