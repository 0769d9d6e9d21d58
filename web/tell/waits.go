package tell

import (
	"memtide/engine/sim"
	"memtide/web/format"
	"memtide/web/lookup"
)

// WaitWords say of a wait what stands beside it in the picture.
func (m *Model) WaitWords(gap int) string {
	g := &m.Trace.Gaps[gap]
	str := "waits " + format.Duration(g.End-g.Start)
	k := m.Lit(lookup.Target{Kind: lookup.OnGap, Index: gap})
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
