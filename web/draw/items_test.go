package draw

// Items is how many rectangles, corners and texts the scene has.
func (s *Scene) Items() int {
	n := 0
	for _, g := range s.groups {
		n += (g.to - g.from) / 2
		if g.op == opRects {
			n -= (g.to - g.from) / 4
		}
	}
	return n
}
