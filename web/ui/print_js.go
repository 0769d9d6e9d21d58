package ui

import "github.com/hack-pad/safejs"

// listenPrint has the page in light colours while it is printed. The style sheet
// alone cannot do that: what is painted by hand has to be painted again, and at
// once, because no frame comes before the sheets are made.
func (a *app) listenPrint() {
	listen(safejs.Global(), "beforeprint", func(safejs.Value) { a.onPaper(true) })
	listen(safejs.Global(), "afterprint", func(safejs.Value) { a.onPaper(false) })
	if m := call(safejs.Global(), "matchMedia", "print"); exists(m) { // for browsers without these events
		listen(m, "change", func(e safejs.Value) { a.onPaper(truth(e, "matches")) })
	}
}

func (a *app) onPaper(paper bool) {
	if paper == a.paper {
		return
	}
	a.paper = paper
	theme := a.s.View.Theme
	if paper {
		theme = "light"
	}
	a.applyTheme(theme)
	a.pictures.recolour()
	a.pictures.frame()
	a.curve.flush()
	a.replies.flush()
}

// flush draws the chart at once.
func (c *curve) flush() {
	if c.ready {
		c.draw()
		call(call(c.chart, "getZr"), "flush")
	}
}

// flush draws the charts of the answers at once.
func (r *replies) flush() {
	for _, c := range r.list {
		if c.ready && c.plot != nil {
			c.draw()
			call(call(c.chart, "getZr"), "flush")
		}
	}
}
