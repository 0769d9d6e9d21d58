package ui

import (
	"github.com/vugu/vugu/js"

	"memtide/web/state"
)

// Root is the whole page below the body.
type Root struct {
	S        *state.State
	Hosts    Hosts
	Starting bool // the program does not run yet: nothing can be changed
}

// Stale marks the pictures as not being what was asked for.
func (c *Root) Stale() string {
	if c.S.Stale() {
		return "true"
	}
	return "false"
}

// Hosts takes over the elements that are painted by hand, by name. It is called
// once for each, when it has been created; it may be nil.
type Hosts func(name string, element js.Value)

func (h Hosts) give(name string, element js.Value) {
	if h != nil {
		h(name, element)
	}
}
