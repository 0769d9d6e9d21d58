package check

import (
	"cmp"
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/engine/sim"
)

// hostUse is the pinned memory that the transfers need: a value takes its room
// on the host when an offload of it starts, and gives it back when its last
// fetch ends. What is on the host when the step begins is the caller's.
func (c *checker) hostUse() (points []sim.Point) {
	lastFetch := make([]int, len(c.g.Values)) // step + 1, 0 if there is none
	for i, st := range c.s {
		if st.Kind == engine.StepFetch {
			lastFetch[st.Value] = i + 1
		}
	}
	held := make([]bool, len(c.g.Values))
	for i, st := range c.s {
		if st.Kind != engine.StepFetch && st.Kind != engine.StepOffload || c.g.Values[st.Value].Initial&engine.OnHost != 0 {
			continue
		}
		size := c.g.Values[st.Value].Size
		switch {
		case st.Kind == engine.StepOffload && !held[st.Value]:
			held[st.Value] = true
			points = append(points, sim.Point{At: c.at(i).Start, Used: size})
		case lastFetch[st.Value] == i+1:
			held[st.Value] = false
			points = append(points, sim.Point{At: c.at(i).End, Used: -size})
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
