package app

import "strings"

// pending is body's data-pending, a list of what the page has begun and not ended:
// whoever drives the page from outside waits until it is empty, or until it does
// not name what he waits for.
//
//	answers     a worker reads, solves, sweeps, places or is asked something
//	components  they are to be drawn again
//	pictures    a frame is on its way that paints them
//	chart       a chart is to be drawn again, or its library is on its way
//	address     the address bar is to be rewritten
//
// An event is taken in at once: when its dispatch has returned, the list names what
// follows from it.
type pending struct {
	list string // as told last
	told bool
}

// work is an entry of the list, and whether there is any of it now.
type work struct {
	name string
	is   bool
}

// tell tells the list if it has changed.
func (p *pending) tell(all ...work) {
	var names []string
	for _, w := range all {
		if w.is {
			names = append(names, w.name)
		}
	}
	if list := strings.Join(names, " "); !p.told || list != p.list {
		p.told, p.list = true, list
		set(get(global("document", "body"), "dataset"), "pending", list)
	}
}
