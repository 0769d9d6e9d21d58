package app

import (
	"github.com/hack-pad/safejs"

	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/timeline"
	"memtide/web/view"
)

// layerScroll is the part of the table of layers that scrolls: where it is decides
// which rows there are.
type layerScroll struct {
	*core
	rows    func() // brings the rows up to date
	element safejs.Value
	follow  bool // bring the selected row on screen when it is there
}

// host takes over the element, which is another one each time the table is opened.
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

// sync brings the selected row on screen if keys have moved the selection.
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

// layerTable is the table of layers. It is set by hand, and only when it has changed: to
// write it at every drawing would take longer than all the rest of it.
type layerTable struct {
	element safejs.Value
	key     tableKey // of what it shows
	filled  bool
}

// tableKey is what the table depends on.
type tableKey struct {
	picture *known.Picture
	layers  view.LayerTable
	row     int
}

// host takes over an element, which is another one each time the table is opened.
func (t *layerTable) host(element safejs.Value) {
	if t.element.Type() != safejs.TypeObject || !t.element.Equal(element) {
		*t = layerTable{element: element}
	}
}

// sync brings the table up to date.
func (t *layerTable) sync(s *state.State) {
	k := tableKey{s.Visible(), s.View.Layers, s.LayerRow()}
	if t.element.Type() != safejs.TypeObject || t.filled && t.key == k {
		return
	}
	t.key, t.filled = k, true
	set(t.element, "innerHTML", string((&timeline.Layers{S: s}).HTML()))
}
