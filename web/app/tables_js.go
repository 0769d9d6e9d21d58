package app

import (
	"github.com/hack-pad/safejs"

	"memtide/web/known"
	"memtide/web/question"
	"memtide/web/state"
	"memtide/web/ui/questions"
	"memtide/web/ui/timeline"
	"memtide/web/view"
)

// tables are the tables that are set by hand, and only when they have changed:
// to write them at every drawing would take longer than all the rest of it.
type tables map[string]*handTable

type handTable struct {
	question *question.Question // nil: it is the table of layers
	element  safejs.Value
	key      tableKey // of what it shows
	filled   bool
}

// tableKey is what the tables depend on.
type tableKey struct {
	answers *state.Answers
	given   int
	open    bool
	preset  string
	picture *known.Picture
	layers  view.LayerTable
	row     int
}

// host takes over an element, which is another one each time its part of the page
// is opened.
func (t tables) host(name string, q *question.Question, element safejs.Value) {
	if old := t[name]; old == nil || !old.element.Equal(element) {
		t[name] = &handTable{question: q, element: element}
	}
}

// sync brings the tables up to date.
func (t tables) sync(s *state.State) {
	for _, h := range t {
		var k tableKey
		if h.question == nil {
			k.picture, k.layers, k.row = s.Visible(), s.View.Layers, s.LayerRow()
		} else if k.answers, k.open, k.preset = s.Answers(h.question), s.OpenedQuestion() == h.question, s.Choice.Source.Preset; k.answers != nil {
			k.given = len(k.answers.List)
		}
		if h.filled && h.key == k {
			continue
		}
		h.key, h.filled = k, true
		html := (&timeline.Layers{S: s}).HTML
		if h.question != nil {
			html = (&questions.Question{S: s, Q: h.question}).HTML
		}
		set(h.element, "innerHTML", string(html()))
	}
}
