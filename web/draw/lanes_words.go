package draw

import (
	"memtide/engine/sim"
	"memtide/web/format"
)

// waitWords say of a wait what stands beside it in the picture.
func (m *tellModel) waitWords(gap int) string {
	g := &m.trace.Gaps[gap]
	str := "waits " + format.Duration(g.End-g.Start)
	k := m.lit(Target{OnGap, gap})
	if k == 0 {
		return str
	}
	switch name := m.StageName(k); g.Reason {
	case sim.NeedsRoom:
		return str + " for " + name + " to leave"
	case sim.NeedsData:
		return str + " for " + name + " to arrive"
	case sim.CopyOut:
		return str + " for " + name + " to be copied"
	}
	return str
}
