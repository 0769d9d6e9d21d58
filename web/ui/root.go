package ui

import (
	"strconv"
	"strings"

	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/mount"
	"memtide/web/ui/names"
)

// Root is the whole page below the body.
type Root struct {
	S        *state.State
	Hosts    mount.Hosts
	Page     *permalink.Page
	Starting bool // the program does not run yet: nothing can be changed
}

// Stale marks the pictures as not being what was asked for; of a comparison those
// of one side.
func (c *Root) Stale() string {
	switch {
	case !c.S.Stale():
		return "false"
	case c.S.Compare != nil:
		return names.Letter(c.S.Compare.OnA)
	}
	return "true"
}

// Kind is "memory" if a file about addresses is open: then only the address view
// is of use; and "step" if a training step is, which has a view of its own. It is "none" in a view in another page
// that has nothing to show.
func (c *Root) Kind() string {
	switch {
	case c.S.Step != nil:
		return "step"
	case c.S.Memory != nil:
		return "memory"
	case c.S.Network == nil && c.S.Alert != nil && c.S.View.Frame.Embed:
		return "none"
	}
	return "network"
}

// Refused reports whether the last file was not opened, which is said above the answer. What was assumed about a
// file that is open stands below it.
func (c *Root) Refused() bool { return (&Findings{S: c.S}).Refused() }

// Hidden lists the parts of the page that the link leaves out.
func (c *Root) Hidden() string {
	f := &c.S.View.Frame
	var out []string
	for _, part := range link.Panels {
		if !f.Shows(part) || f.Show == nil && f.Embed && (part == "curve" || part == "addr" || part == "table") {
			out = append(out, part)
		}
	}
	return strings.Join(out, " ")
}

// rowsOfPart is how many rows of the page's grid a part may take: what stands above
// it, itself, and B's.
const rowsOfPart = 3

// Order puts the parts of the page into the order of the link: for each the first
// of its rows, and those of the first and of the last picture on the time axis,
// which stand on one stage whatever is between them. The first row of all is free
// for the slider of a view in another page.
func (c *Root) Order() string {
	var b strings.Builder
	first, last := 0, 0
	for i, part := range c.S.View.Frame.Show {
		row := 2 + rowsOfPart*i
		b.WriteString("--row-" + part + ":" + strconv.Itoa(row) + ";")
		if part == "strip" || part == "time" || part == "mem" {
			if last = row; first == 0 {
				first = row
			}
		}
	}
	if first > 0 {
		b.WriteString("--row-first:" + strconv.Itoa(first) + ";--row-last:" + strconv.Itoa(last) + ";")
	}
	return b.String()
}
