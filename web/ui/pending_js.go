package ui

import "strings"

// tellPending keeps body's data-pending, a list of what the page has begun and not
// ended: whoever drives the page from outside waits until it is empty, or until it
// does not name what he waits for.
//
//	answers     a worker reads, solves, sweeps, places or is asked something
//	components  they are to be drawn again
//	pictures    a frame is on its way that paints them
//	chart       a chart is to be drawn again, or its library is on its way
//	address     the address bar is to be rewritten
//
// An event is taken in at once: when its dispatch has returned, the list names what
// follows from it.
func (a *app) tellPending() {
	var names []string
	for _, p := range []struct {
		is   bool
		name string
	}{
		{len(a.jobs.give) > 0, "answers"},
		{a.held || a.waiting || a.drawn != a.s.DOM, "components"},
		{a.pictures.asked, "pictures"},
		{a.curve.loading || a.curve.drawing || a.replies.drawing(), "chart"},
		{a.address.timed, "address"},
	} {
		if p.is {
			names = append(names, p.name)
		}
	}
	if list := strings.Join(names, " "); !a.told || list != a.pending {
		a.told, a.pending = true, list
		set(get(global("document", "body"), "dataset"), "pending", list)
	}
}

// drawing says whether a chart is about to be drawn.
func (r *replies) drawing() bool {
	for _, c := range r.list {
		if c.drawing || c.asked && !c.ready && !c.failed {
			return true
		}
	}
	return false
}
