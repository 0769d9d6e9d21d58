//go:build !js

package main

import (
	"fmt"

	"memtide/web/choice"
	"memtide/web/link"
)

// oneSide is the side of a link that a command is about. A link that compares has
// two; of which one is taken without being asked for is told on the standard error.
func (c *asked) oneSide(e *env, l link.Link) link.Link {
	b := l.B
	switch {
	case c.side == "b" && b == nil:
		fail("-side b: the link compares nothing; leave -side out")
	case c.side == "b" && b.From == choice.FromFile:
		fail("-side b: side B is a file that no link can hold; name the FILE itself")
	case c.side == "b":
		return sideB(l)
	case b == nil || c.side == "" && c.both:
		return l
	case c.side == "":
		fmt.Fprintln(e.stderr, "note: the link compares two; this is about A alone. -side b takes B, -side a says that A is meant.")
	}
	l.B = nil
	return l
}

// sideB is side B of a link as a link of its own: A with what differs from it.
func sideB(l link.Link) link.Link {
	b := l.B
	l.B = nil
	switch {
	case b.Profile != nil:
		l.Preset, l.Profile, l.Kind, l.Ops = "", b.Profile, "", ""
	case b.Preset != "":
		l.Preset, l.Profile, l.Ops = b.Preset, nil, ""
	}
	if b.Strategy != "" { // brings its parameters, those of the same strategy too
		l.Args = nil
	}
	l.Take(b)
	return l
}
