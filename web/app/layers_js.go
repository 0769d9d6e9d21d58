package app

import (
	"github.com/hack-pad/safejs"

	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/timeline"
	"memtide/web/view"
)

// layerScroll is the scrolling part of the table of layers. The scroll position decides which rows the table has.
type layerScroll struct {
	*core
	rows    func() // updates the rows
	element safejs.Value
	follow  bool // scroll to the selected row at the next sync
}

// host takes over the element. It is a new one each time the table is opened.
func (l *layerScroll) host(element safejs.Value) {
	if l.element.Type() == safejs.TypeObject && l.element.Equal(element) {
		return
	}
	l.element = element
	listen(element, "scroll", func(safejs.Value) {
		l.Later(func() {
			l.Do(state.ScrollLayers{Top: int(number(element, "scrollTop")) / timeline.LayerRowHeight})
			l.rows()
		})
	})
	listen(element, "keydown", func(e safejs.Value) {
		by, ok := map[string]int{"ArrowDown": 1, "ArrowUp": -1, "PageDown": 15, "PageUp": -15, "Home": -1 << 20,
			"End": 1 << 20}[text(e, "code")]
		if !ok || text(e, "target", "id") != "layer-scroll" || truth(e, "ctrlKey") || truth(e, "metaKey") ||
			truth(e, "altKey") {
			return
		}
		call(e, "preventDefault")
		l.Later(func() {
			l.Do(state.StepLayer{By: by})
			l.say((&timeline.Selection{S: l.s}).Sentence())
			l.follow = true
			l.sync()
		})
	})
}

// sync scrolls to the selected row if keys have moved the selection.
func (l *layerScroll) sync() {
	if !l.follow {
		return
	}
	l.follow = false
	head := number(call(l.element, "querySelector", "thead"), "offsetHeight")
	if top := timeline.LayerTop(l.s.LayerRow(), number(l.element, "scrollTop"),
		number(l.element, "clientHeight")-head); top >= 0 {
		set(l.element, "scrollTop", top)
	}
}

// layerTable has the rows of the table of layers. They are not a component and are written only when they change:
// writing them at every drawing would take longer than drawing everything else.
type layerTable struct {
	element safejs.Value
	key     tableKey // of the rows
	filled  bool
}

// tableKey is what the rows depend on.
type tableKey struct {
	picture *known.Picture
	layers  view.LayerTable
	row     int // the selected row
}

// host takes over the element. It is a new one each time the table is opened.
func (t *layerTable) host(element safejs.Value) {
	if t.element.Type() != safejs.TypeObject || !t.element.Equal(element) {
		*t = layerTable{element: element}
	}
}

// sync writes the rows if they have changed.
func (t *layerTable) sync(s *state.State) {
	k := tableKey{s.Visible(), s.View.Layers, s.LayerRow()}
	if t.element.Type() != safejs.TypeObject || t.filled && t.key == k {
		return
	}
	t.key, t.filled = k, true
	set(t.element, "innerHTML", string((&timeline.Layers{S: s}).HTML()))
}
