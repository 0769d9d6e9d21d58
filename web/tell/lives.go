package tell

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
)

// LifeWords returns the life of a value in words.
func (m *Index) LifeWords(v engine.ValueID) string { return Sentences(m.explainValue(v)) }

// explainValue returns which operations make and read a value, and for how long it is on the device.
func (m *Index) explainValue(v engine.ValueID) []Said {
	val := m.Value(v)
	if val == nil {
		return nil
	}
	made := Said{display.Forward, "", val.Name, ", " + format.Bytes(val.Size)}
	if st := m.Structure(); st != nil {
		if a := st.ArcOf(v); a != nil {
			made.Role = DecisionRole(st.Decisions[a.From])
			made.After += fmt.Sprintf(", is made by %s; the last forward reader, %s, runs %s operations later",
				bareName(&m.Problem.Graph.Ops[st.Ops[a.From]]),
				bareName(&m.Problem.Graph.Ops[st.Ops[a.To]]), format.Count(int(a.To-a.From)))
		}
	}
	made.After += "."
	readers, stays, again, copies := 0, 0, 0, 0
	var on time.Duration
	m.Reads(v, func(*sim.Span) { readers++ })
	m.Copies(v, func(*sim.Span) { copies++ })
	m.Stays(v, func(l *sim.Life) {
		on += l.End - l.Start
		if stays++; l.Category == sim.Recomputed {
			again++
		}
	})
	held := Said{made.Role, "It is read " + times(readers) + " and on the device for " + format.Duration(on) +
		" of " + format.Duration(m.Trace.Makespan), "", ""}
	if copies > 0 && stays > 1 {
		held.After += ", on the host in between"
	}
	if again > 0 {
		held.After += ", made again " + times(again)
	}
	if stays == 1 {
		held.After += ", without a break"
	}
	held.After += "."
	return []Said{made, held}
}

// times returns a number of times in words.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return format.Count(n) + " times"
}
