package ui

import (
	"strconv"
	"strings"

	"memtide/profiles"
	"memtide/profiles/preset"
	"memtide/web/permalink"
	"memtide/web/state"
)

// Header names the network and offers others.
type Header struct {
	S        *state.State
	Page     *permalink.Page
	Starting bool
}

// MaxBatch is the largest batch size of the preset.
func (c *Header) MaxBatch() int {
	if p, _, err := preset.Parse(source(c.S).Preset); err == nil {
		return p.Largest()
	}
	return preset.MaxBatch
}

// Batch is the batch size of the preset; empty if there is none to choose.
func (c *Header) Batch() string {
	src := source(c.S).Preset
	if d := c.S.Draft; d.Field == "batch" {
		return d.Text
	}
	if p, batch, err := preset.Parse(src); err == nil && p.Largest() > 1 {
		return strconv.Itoa(batch)
	}
	return ""
}

// Accept lists the usual endings of files that can be read.
func (c *Header) Accept() string { return strings.Join(profiles.Extensions(), ",") }

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

// Compares is for aria-pressed.
func (c *Header) Compares() string { return strconv.FormatBool(c.S.Compare != nil) }

// HelpOpen is for aria-expanded.
func (c *Header) HelpOpen() string { return strconv.FormatBool(c.S.View.Help) }
