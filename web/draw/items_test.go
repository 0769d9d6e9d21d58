package draw

import "memtide/web/display"

// Items returns the total number of rectangles, corners and texts in the scene.
func (s *Scene) Items() int {
	n := 0
	for _, g := range s.Groups {
		n += (g.To - g.From) / 2
		if g.Op == display.OpRects {
			n -= (g.To - g.From) / 4
		}
	}
	return n
}
