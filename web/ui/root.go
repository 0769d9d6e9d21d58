package ui

import (
	"strconv"
	"strings"

	"github.com/vugu/vugu/js"

	"memtide/web/link"
	"memtide/web/state"
)

// Root is the whole page below the body.
type Root struct {
	S        *state.State
	Hosts    Hosts
	Page     *Page
	Starting bool // the program does not run yet: nothing can be changed
}

// Stale marks the pictures as not being what was asked for.
func (c *Root) Stale() string {
	if c.S.Stale() {
		return "true"
	}
	return "false"
}

// Kind is "memory" if a file about addresses is open: then only the address view
// is of use.
func (c *Root) Kind() string {
	if c.S.Memory != nil {
		return "memory"
	}
	return "network"
}

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

// Order puts the parts of the page into the order of the link. The curve stands
// before the pictures or behind them.
func (c *Root) Order() string {
	var b strings.Builder
	for i, part := range c.S.View.Frame.Show {
		b.WriteString("--order-" + part + ":" + strconv.Itoa(i+1) + ";")
		if i == 0 && part == "curve" {
			b.WriteString("--order-first:-1;")
		}
	}
	return b.String()
}

// Hosts takes over the elements that are painted by hand, by name. It is called
// once for each, when it has been created; it may be nil.
type Hosts func(name string, element js.Value)

func (h Hosts) give(name string, element js.Value) {
	if h != nil {
		h(name, element)
	}
}
