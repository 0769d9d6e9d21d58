package app

import "github.com/hack-pad/safejs"

// meter writes down in the browser's timeline how long the parts of a drawing
// take, if a measurement has asked for it before the page was opened.
type meter struct {
	on bool
	at float64
}

func (m *meter) init() { m.on = truth(safejs.Global(), "memtideMeasure") }

// begin is the beginning of the first part.
func (m *meter) begin() {
	if m.on {
		m.at = now()
	}
}

// end is the end of a part and the beginning of the next.
func (m *meter) end(part string) {
	if !m.on {
		return
	}
	at := now()
	call(global("performance"), "measure", "memtide:"+part, map[string]any{"start": m.at, "end": at})
	m.at = now()
}
