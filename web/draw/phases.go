package draw

import "memtide/web/display"

// drawPhases shades every second phase behind the rows of a picture, and names them
// at y if that is not 0.
func (m *Model) drawPhases(s *Scene, f *frame, top, bottom, y float64) {
	for i, p := range m.Phases {
		x0, x1 := f.clip(f.x(int64(p.From))), f.clip(f.x(int64(p.To)))
		if i%2 == 1 && x1 > x0 {
			s.Rect(display.FillOf(display.Phase), x0, top, x1-x0, bottom-top)
		}
	}
	if y == 0 {
		return
	}
	title := f.title(Timeline)
	end := max(f.left, title.Width()+6)
	for _, p := range m.Phases {
		x0, x1 := f.clip(f.x(int64(p.From))), f.clip(f.x(int64(p.To)))
		x := max(x0+2, end)
		if w := display.TextWidth(p.Name); x1 > x0 && x+w <= f.right && x+w/2 <= x1 {
			s.Text(display.Muted, x, y, display.Start, p.Name)
			end = x + w + 6
		}
	}
}
