package check

import (
	"cmp"
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/engine/sim"
)

// hostUse is the pinned memory that the transfers need: a value takes its room
// on the host when its first offload starts, and gives it back when its last
// transfer ends, if that is a fetch. What is on the host when the step begins
// is the caller's.
func (c *checker) hostUse() (points []sim.Point) {
	first, last := make([]sim.SpanID, len(c.g.Values)), make([]sim.SpanID, len(c.g.Values))
	for v := range first {
		first[v], last[v] = sim.NoSpan, sim.NoSpan
	}
	for i, st := range c.s {
		if st.Kind == engine.StepOffload && first[st.Value] == sim.NoSpan && c.g.Values[st.Value].Initial&engine.OnHost == 0 {
			first[st.Value] = c.spanOf[i]
		}
		if st.Kind == engine.StepOffload || st.Kind == engine.StepFetch {
			last[st.Value] = c.spanOf[i]
		}
	}
	for v, id := range first {
		if id == sim.NoSpan {
			continue
		}
		size := c.g.Values[v].Size
		points = append(points, sim.Point{At: c.span(id).Start, Used: size})
		if end := c.span(last[v]); end.Kind == sim.SpanFetch {
			points = append(points, sim.Point{At: end.End, Used: -size})
		}
	}
	slices.SortFunc(points, func(a, b sim.Point) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Used, b.Used)) })
	var sum engine.Bytes
	for i := range points {
		sum += points[i].Used
		points[i].Used = sum
	}
	return points
}

// checkHost compares host memory with what the transfers need.
func (c *checker) checkHost() *Refutation {
	got, want := steps(c.t.Host), steps(c.hostUse())
	for k := range max(len(got), len(want)) {
		if k < len(got) && k < len(want) && got[k] == want[k] {
			continue
		}
		at, f, w := c.t.Makespan, "no change", "no change"
		if k < len(want) {
			at, w = want[k].At, fmt.Sprintf("%s from %v on", count(want[k].Used), want[k].At)
		}
		if k < len(got) {
			at, f = got[k].At, fmt.Sprintf("%s from %v on", count(got[k].Used), got[k].At)
		}
		return c.refute(WrongHost, -1, sim.NoSpan, at, f, w)
	}
	var most engine.Bytes
	for _, p := range want {
		most = max(most, p.Used)
	}
	if most != c.t.HostPeak {
		return c.refute(WrongHostPeak, -1, sim.NoSpan, 0, count(c.t.HostPeak), count(most))
	}
	for _, p := range c.t.Host {
		if p.Used < 0 || p.Used > c.t.HostPeak {
			return c.refute(WrongHostPeak, -1, sim.NoSpan, p.At, count(p.Used), "at most the peak, "+count(c.t.HostPeak))
		}
	}
	return nil
}

// steps is the shortest list of points with the same amounts at all times.
func steps(points []sim.Point) (out []sim.Point) {
	out = append(out, sim.Point{})
	for _, p := range points {
		if p.At == out[len(out)-1].At {
			out[len(out)-1].Used = p.Used
		} else {
			out = append(out, p)
		}
		if n := len(out); n > 1 && out[n-1].Used == out[n-2].Used {
			out = out[:n-1]
		}
	}
	return out
}
