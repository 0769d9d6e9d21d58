package chart

import (
	"strconv"

	"memtide/engine"
	"memtide/web/display"
)

// This file works on options as trees of maps, slices and values.

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
