package ui

import (
	"github.com/hack-pad/safejs"

	"memtide/web/state"
)

// layerScroll is the part of the table of layers that scrolls: where it is decides
// which rows there are.
type layerScroll struct {
	a       *app
	element safejs.Value
	follow  bool // bring the selected row on screen when it is there
}

// host takes over the element, which is another one each time the table is opened.
func (l *layerScroll) host(a *app, element safejs.Value) {
	if l.element.Type() == safejs.TypeObject && l.element.Equal(element) {
		return
	}
	l.a, l.element = a, element
	listen(element, "scroll", func(safejs.Value) {
		a.later(func() {
			a.do(state.ScrollLayers{Top: int(number(element, "scrollTop")) / layerRowHeight})
			a.tables.settle(a.s)
		})
	})
	listen(element, "keydown", func(e safejs.Value) {
		by, ok := map[string]int{"ArrowDown": 1, "ArrowUp": -1, "PageDown": 15, "PageUp": -15, "Home": -1 << 20, "End": 1 << 20}[text(e, "code")]
		if !ok || text(e, "target", "id") != "layer-scroll" || truth(e, "ctrlKey") || truth(e, "metaKey") || truth(e, "altKey") {
			return
		}
		call(e, "preventDefault")
		a.later(func() {
			a.do(state.StepLayer{By: by})
			a.say((&Selection{S: a.s}).Sentence())
			l.follow = true
			l.settle()
		})
	})
}

// settle brings the selected row on screen if keys have moved the selection.
func (l *layerScroll) settle() {
	if !l.follow {
		return
	}
	l.follow = false
	head := number(call(l.element, "querySelector", "thead"), "offsetHeight")
	if top := layerTop(l.a.s.LayerRow(), number(l.element, "scrollTop"), number(l.element, "clientHeight")-head); top >= 0 {
		set(l.element, "scrollTop", top)
	}
}

// saveLayers saves the table of layers as a file, as it is sorted and filtered.
func (a *app) saveLayers() {
	rows := a.s.LayerRows()
	if len(rows) == 0 {
		return
	}
	a.saveFile(tableFile(a.s, "layers.csv", a.page.Address(a.s, true), []tableSide{layerCells(sideOf(a.s), rows)}))
}
