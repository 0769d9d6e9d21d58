package chart

import (
	"memtide/web/draw"
	"memtide/web/state"
)

// Names of the dots of what is shown and of the other side of a comparison.
const (
	shownName = "shown"
	otherName = "other side"
)

// compare takes the other side of a comparison over. Its point has a place in
// this curve only if it is a schedule of the same network.
func (p *Plot) compare(s *state.State) {
	if s.Compare == nil {
		return
	}
	p.Letters = [2]string{"B", "A"}
	if s.Compare.OnA {
		p.Letters = [2]string{"A", "B"}
	}
	if o := s.Compare.Other.Shown; o != nil && o.Network == s.Network {
		p.Other = state.LinePoint{Budget: o.Solved.Budget, StepTime: o.Solved.Trace.Makespan}
	}
}

// letterLabel is the letter beside the dot of a side; nil without a comparison.
// The two stand on different sides, since the dots may be at one place.
func (p *Plot) letterLabel(dot string, look Look) node {
	letter, position := p.Letters[0], "left"
	if dot == otherName {
		letter, position = p.Letters[1], "right"
	}
	if letter == "" {
		return nil
	}
	return node{"show": true, "position": position, "formatter": letter, "color": look.Colours[draw.Ink],
		"fontSize": 12, "fontWeight": 600, "fontFamily": look.Font,
		"textBorderColor": look.Colours[draw.Surface], "textBorderWidth": 3}
}
