package ui

import (
	"memtide/web/permalink"
	"memtide/web/state"
)

// Header names the page, and offers what is about all of it.
type Header struct {
	S        *state.State
	Page     *permalink.Page
	Starting bool
}

// ThemeLabel says what the theme button does.
func (c *Header) ThemeLabel() string {
	switch c.S.View.Theme {
	case "light":
		return "Theme: light"
	case "dark":
		return "Theme: dark"
	}
	return "Theme: as the system"
}
