package app

import (
	"github.com/hack-pad/safejs"

	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/timeline"
	"memtide/web/view"
)

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
