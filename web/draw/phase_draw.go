package draw

// drawPhases shades every second phase behind the rows of a picture, and names them
// at y if that is not 0.
func (m *Model) drawPhases(s *Scene, f *frame, top, bottom, y float64) {
	for i, p := range m.phases {
		x0, x1 := f.clip(f.x(int64(p.from))), f.clip(f.x(int64(p.to)))
		if i%2 == 1 && x1 > x0 {
			s.rect(fillOf(Phase), x0, top, x1-x0, bottom-top)
		}
	}
	if y == 0 {
		return
	}
	title := f.title(Timeline)
	end := max(f.left, title.width()+6)
	for _, p := range m.phases {
		x0, x1 := f.clip(f.x(int64(p.from))), f.clip(f.x(int64(p.to)))
		x := max(x0+2, end)
		if w := textWidth(p.name); x1 > x0 && x+w <= f.right && x+w/2 <= x1 {
			s.text(Muted, x, y, start, p.name)
			end = x + w + 6
		}
	}
}
