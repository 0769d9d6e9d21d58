package draw

import (
	"time"

	"memtide/web/lookup"
)

// Hit returns what is painted at a point of a picture, in CSS pixels, and the
// moment there (of still pictures: 0).
func (m *Model) Hit(pic Picture, v View, x, y float64) (lookup.Target, time.Duration) {
	f := m.frame(pic, v)
	t, at := lookup.Target{}, time.Duration(0)
	if hit := timed[pic].hit; hit != nil {
		t = hit(m, &f, x, y)
	}
	if !pic.Still() {
		at = f.time(x)
	}
	return t, at
}
