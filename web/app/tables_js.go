package app

import (
	"strings"

	"github.com/hack-pad/safejs"

	"memtide/wasm/proto"
	"memtide/web/state"
	"memtide/web/ui"
)

// tables are the tables that are set by hand, and only when they have changed:
// to write them at every drawing would take longer than all the rest of it.
type tables map[string]*handTable

type handTable struct {
	element safejs.Value
	key     tableKey // of what it shows
	filled  bool
}

// tableKey is what the tables depend on.
type tableKey struct {
	asked   *state.Asked
	answers int
	open    bool
	preset  string
	picture *state.Picture
	layers  state.LayerTable
	row     int
}

// host takes over an element, which is another one each time its part of the page
// is opened.
func (t tables) host(name string, element safejs.Value) {
	if old := t[name]; old == nil || !old.element.Equal(element) {
		t[name] = &handTable{element: element}
	}
}

// sync brings the tables up to date.
func (t tables) sync(s *state.State) {
	for name, h := range t {
		q := strings.TrimPrefix(name, "answers-")
		var k tableKey
		if name == "layer-rows" {
			k.picture, k.layers, k.row = s.Visible(), s.View.Layers, s.LayerRow()
		} else if k.asked, k.open, k.preset = s.Asked(proto.Question(q)), s.View.Questions, s.Choice.Source.Preset; k.asked != nil {
			k.answers = len(k.asked.Answers)
		}
		if h.filled && h.key == k {
			continue
		}
		h.key, h.filled = k, true
		html := (&ui.Inquiry{S: s, Name: q}).HTML()
		if name == "layer-rows" {
			html = (&ui.Layers{S: s}).HTML()
		}
		set(h.element, "innerHTML", string(html))
	}
}
