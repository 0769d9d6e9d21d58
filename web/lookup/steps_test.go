package lookup

import "testing"

func TestNavigation(t *testing.T) {
	m := smallModel()
	span := func(i int) Target { return Target{OnSpan, i} }
	gap := Target{OnGap, 0}
	for _, c := range []struct {
		name      string
		got, want Target
	}{
		{"first", m.Step(Target{}, 1), span(0)},
		{"next in lane", m.Step(span(0), 1), span(1)},
		{"over a run of no duration", m.Step(span(1), 1), span(3)},
		{"into the gap", m.Step(span(6), 1), gap},
		{"out of the gap", m.Step(gap, 1), span(8)},
		{"back", m.Step(gap, -1), span(6)},
		{"stops at the end", m.Step(span(8), 5), span(8)},
		{"stops at the start", m.Step(span(1), -9), span(0)},
		{"next stage", m.Step(Target{OnStage, 1}, 1), Target{OnStage, 2}},
		{"last stage", m.Step(Target{OnStage, 3}, 1), Target{OnStage, 3}},
		{"band", m.Step(Target{OnBand, 0}, 1), Target{OnBand, 1}},
		{"lane below", m.OtherLane(span(1), 1), span(2)},
		{"two lanes below", m.OtherLane(gap, 2), span(7)},
		{"nearest in lane", m.OtherLane(span(8), 1), span(2)},
		{"no lane above", m.OtherLane(span(0), -1), span(0)},
		{"cause of the gap", m.Cause(gap), span(7)},
		{"cause of the cause", m.Cause(span(7)), span(5)},
		{"no cause", m.Cause(span(0)), Target{}},
		{"unknown", m.Cause(Target{OnSpan, 99}), Target{}},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, c.got, c.want)
		}
	}
}
