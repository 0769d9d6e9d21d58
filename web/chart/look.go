package chart

import "strconv"

// Look is how a chart is dressed.
type Look struct {
	Colours []string // by display.Role
	Font    string
}

// node is an object of an option.
type node = map[string]any

func px(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
