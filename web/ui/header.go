package ui

import (
	"slices"
	"strconv"
	"strings"

	"memtide/profiles"
	"memtide/profiles/preset"
	"memtide/web/state"
)

// Header names the network and offers others.
type Header struct {
	S        *state.State
	Starting bool
}

// Option is an entry of a drop-down list.
type Option struct {
	ID, Title string
	Selected  bool
}

// source is what is open, or being opened before anything is.
func (c *Header) source() state.Source {
	if c.S.Network == nil && c.S.Opening != nil {
		return c.S.Opening.Choice.Source
	}
	return c.S.Choice.Source
}

// File is the name of the open file; empty if a preset is open.
func (c *Header) File() string {
	if src := c.source(); src.Preset == "" {
		return src.File
	}
	return ""
}

// Group is entries of a drop-down list under a heading.
type Group struct {
	Title   string
	Options []Option
}

// Presets lists the presets by group.
func (c *Header) Presets() (out []Group) {
	chosen, _, _ := preset.Parse(c.source().Preset)
	for _, p := range preset.All() {
		if n := len(out); n == 0 || out[n-1].Title != p.Group {
			out = append(out, Group{Title: p.Group})
		}
		g := &out[len(out)-1]
		g.Options = append(g.Options, Option{p.ID, p.Title, chosen != nil && p.ID == chosen.ID})
	}
	return out
}

// MaxBatch is the largest batch size of the preset.
func (c *Header) MaxBatch() int {
	if p, _, err := preset.Parse(c.source().Preset); err == nil {
		return p.Largest()
	}
	return preset.MaxBatch
}

// Batch is the batch size of the preset; empty if a file is open.
func (c *Header) Batch() string {
	src := c.source().Preset
	if d := c.S.Draft; d.Field == "batch" {
		return d.Text
	}
	if p, batch, err := preset.Parse(src); err == nil && p != nil {
		return strconv.Itoa(batch)
	}
	return ""
}

// SourceTitle says more about the network than its name.
func (c *Header) SourceTitle() string {
	if p, _, err := preset.Parse(c.source().Preset); err == nil && p != nil {
		return p.Doc
	}
	return c.source().File
}

// Accept lists the usual endings of files that can be read.
func (c *Header) Accept() string {
	var out []string
	for _, f := range profiles.Formats() {
		out = append(out, f.Extensions...)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return strings.Join(out, ",")
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

// HelpOpen is for aria-expanded.
func (c *Header) HelpOpen() string { return strconv.FormatBool(c.S.View.Help) }
