package check

import (
	"fmt"

	"memtide/engine"
	"memtide/engine/sim"
)

// hostUse is the pinned memory that the transfers need: a value takes its room
// on the host when an offload of it starts, and gives it back when its last
// fetch ends. What is on the host when the step begins is the caller's.
func (c *checker) hostUse() (points []sim.Point) {
	lastFetch := make([]int, len(c.g.Values)) // step + 1, 0 if there is none
	for i := range c.s {
		if st := &c.s[i]; st.Kind == engine.StepFetch {
			lastFetch[st.Value] = i + 1
		}
	}
	held := make([]bool, len(c.g.Values))
	var takes, gives []sim.Point // each in the order of time, for lanes are first in, first out
	for i := range c.s {
		st := &c.s[i]
		if st.Kind != engine.StepFetch && st.Kind != engine.StepOffload || c.g.Values[st.Value].Initial&engine.OnHost != 0 {
			continue
		}
		size := c.g.Values[st.Value].Size
		switch {
		case st.Kind == engine.StepOffload && !held[st.Value]:
			held[st.Value] = true
			takes = append(takes, sim.Point{At: c.at(i).Start, Used: size})
		case lastFetch[st.Value] == i+1:
			held[st.Value] = false
			gives = append(gives, sim.Point{At: c.at(i).End, Used: -size})
		}
	}
	var sum engine.Bytes
	for len(takes)+len(gives) > 0 {
		from := &takes
		if len(takes) == 0 || len(gives) > 0 && gives[0].At <= takes[0].At {
			from = &gives
		}
		next := (*from)[0]
		*from = (*from)[1:]
		sum += next.Used
		points = append(points, sim.Point{At: next.At, Used: sum})
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
