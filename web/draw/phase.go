package draw

import (
	"time"

	"memtide/engine/sim"
)

// phase is a part of the step that has a name.
type phase struct {
	name     string
	from, to time.Duration
}

// findPhases tells the forward pass, the loss where the network ends in one, and the
// backward pass; nothing where the step has no two of them. What is computed again
// is within the backward pass.
func (m *Model) findPhases() []phase {
	end, turn := m.trace.Makespan, time.Duration(-1)
	lossFrom, lossTo := time.Duration(-1), time.Duration(-1)
	for i := range m.trace.Spans {
		s := &m.trace.Spans[i]
		if s.Lane != sim.Compute {
			continue
		}
		loss := m.count < len(m.sizes) && m.stageOf(s) == len(m.sizes)
		switch {
		case loss && s.Kind == sim.SpanForward && lossFrom < 0:
			lossFrom = s.Start
		case loss && s.Kind == sim.SpanBackward:
			lossTo = max(lossTo, s.End)
		}
		if s.Kind == sim.SpanBackward && turn < 0 {
			turn = s.Start
		}
	}
	switch {
	case turn <= 0 || turn >= end:
		return nil
	case lossFrom > 0 && lossTo > lossFrom && lossTo < end:
		return []phase{{"forward", 0, lossFrom}, {"loss", lossFrom, lossTo}, {"backward", lossTo, end}}
	}
	return []phase{{"forward", 0, turn}, {"backward", turn, end}}
}

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
