package chart

import (
	"strconv"

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
var roles = map[string]display.Role{"$grid": display.Grid, "$muted": display.Muted, "$ink": display.Ink, "$budget": display.Budget, "$surface": display.Surface}

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
