package lookup

import (
	"strconv"
	"strings"
	"time"

	"memtide/engine/sim"
)

// Suffixes of the names of copies, and prefixes of other names.
const (
	toHostMark = "@d2h"
	toDevMark  = "@h2d"
	layerMark  = "layer@"
	waitMark   = "wait@"
	valueMark  = "value@"
)

// Name returns the name of a target for links. It does not depend on indices, so that it means
// the same thing in another schedule.
//
//	B18        the run of an operation; F3@2 is its second run
//	s17@h2d    the copy of a value to the device, s17@d2h to the host
//	wait@412.5 the wait at a moment, in milliseconds
//	layer@18   a layer by its number
//	value@x7   a value of a graph; value@x7@2 is the second of that name
//
// Other targets have no name.
func (m *Index) Name(t Target) string {
	if !m.Valid(t) {
		return ""
	}
	switch t.Kind {
	case OnSpan:
		return numbered(m.baseName, t.Index)
	case OnStage:
		return layerMark + strconv.Itoa(t.Index)
	case OnGap:
		return waitMark + m.momentIn(t.Index)
	case OnValue:
		return valueMark + numbered(m.nameOfValue, t.Index)
	}
	return ""
}

// baseName returns the name of a span for links without its number; several spans may have it.
func (m *Index) baseName(i int) string {
	s := &m.Trace.Spans[i]
	switch s.Lane {
	case sim.ToHost:
		return m.SpanName(s) + toHostMark
	case sim.ToDev:
		return m.SpanName(s) + toDevMark
	}
	return m.SpanName(s)
}

// momentIn returns a moment within a gap in milliseconds, with as few decimals as possible.
func (m *Index) momentIn(gap int) string {
	g := &m.Trace.Gaps[gap]
	unit := time.Millisecond
	for decimals := range 6 {
		if at := (g.Start + unit - 1) / unit * unit; at < g.End {
			return strconv.FormatFloat(at.Seconds()*1e3, 'f', decimals, 64)
		}
		unit /= 10
	}
	return strconv.FormatFloat(g.Start.Seconds()*1e3, 'f', 6, 64)
}

// Named returns the target of a name, or Nothing if there is none. The name of a wait means the
// wait that is nearest to its moment.
func (m *Index) Named(name string) Target {
	if text, ok := strings.CutPrefix(name, waitMark); ok {
		ms, err := strconv.ParseFloat(text, 64)
		if err != nil || !(ms >= 0 && ms < 1e12) {
			return Target{}
		}
		return m.gapAt(time.Duration(ms*1e6 + 0.5))
	}
	if text, ok := strings.CutPrefix(name, valueMark); ok {
		return withName(OnValue, text, len(m.Problem.Graph.Values), m.nameOfValue)
	}
	if text, ok := strings.CutPrefix(name, layerMark); ok {
		k, err := strconv.Atoi(text)
		if t := (Target{OnStage, k}); err == nil && m.Valid(t) {
			return t
		}
		return Target{}
	}
	return withName(OnSpan, name, len(m.Trace.Spans), m.baseName)
}

// numbered returns the name of item i, followed by its number among items of the same name unless it is the first.
func numbered(nameOf func(i int) string, i int) string {
	name, n := nameOf(i), 1
	for k := range i {
		if nameOf(k) == name {
			n++
		}
	}
	if n > 1 {
		return name + "@" + strconv.Itoa(n)
	}
	return name
}

// withName returns the item among count to which numbered gives a name, as a target, or Nothing if there is none.
func withName(kind TargetKind, name string, count int, nameOf func(i int) string) Target {
	nth := func(name string, n int) Target {
		for i := range count {
			if nameOf(i) == name {
				if n--; n == 0 {
					return Target{kind, i}
				}
			}
		}
		return Target{}
	}
	if t := nth(name, 1); t.Kind != Nothing {
		return t
	}
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil && n > 1 {
			return nth(name[:i], n)
		}
	}
	return Target{}
}

// gapAt returns the gap that is nearest to a moment, or Nothing without gaps.
func (m *Index) gapAt(at time.Duration) Target {
	best, least := Target{}, time.Duration(0)
	for i := range m.Trace.Gaps {
		g := &m.Trace.Gaps[i]
		d := max(g.Start-at, at-g.End+1, 0)
		if best.Kind == Nothing || d < least {
			best, least = Target{OnGap, i}, d
		}
	}
	return best
}

func (m *Index) nameOfValue(i int) string { return m.Problem.Graph.Values[i].Name }
