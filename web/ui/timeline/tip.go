package timeline

import (
	"fmt"
	"time"

	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/lookup"
)

// TipLines say what is under the pointer: the thing itself, or over the memory
// what it holds at that moment.
func TipLines(m *draw.Model, target lookup.Target, at time.Duration) []string {
	switch target.Kind {
	case lookup.Nothing:
		return nil
	case lookup.OnBudget:
		return []string{"Drag to change what the plan may use"}
	case lookup.OnPlayhead:
		return nil
	case lookup.OnBand:
		held := m.HeldAt(at, tipValues)
		lines := []string{fmt.Sprintf("%s in use at %s", format.Bytes(held.Total), format.Moment(at, m.Makespan()))}
		for _, l := range held.Lives {
			line := l.Name + "  " + format.Bytes(l.Bytes)
			if l.Stage != "" {
				line += "  " + l.Stage
			}
			lines = append(lines, line)
		}
		if held.Others > 0 {
			lines = append(lines, fmt.Sprintf("and %d more, %s", held.Others, format.Bytes(held.Rest)))
		}
		return lines
	}
	return []string{m.Sentence(target)}
}

// tipValues is how many of the values in memory the tooltip lists.
const tipValues = 4

// TipOfPlaces says what is under the pointer in the pictures of addresses.
func TipOfPlaces(m *draw.Places, pic draw.Picture, target lookup.Target, at time.Duration) string {
	if s := m.Sentence(target); s != "" {
		return s
	}
	if pic == draw.AddressMap || at < 0 {
		return ""
	}
	return m.MapSentence(at)
}
