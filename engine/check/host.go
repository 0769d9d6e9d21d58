package check

import (
	"fmt"
	"sort"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// hostUse is the pinned memory that the transfers need: a value takes its room
// on the host when an offload of it starts, or an operation of the host that makes it,
// and gives it back when its last fetch ends, unless the host computes with it. What is on the host when the step begins is the caller's.
func (c *checker) hostUse() (points []sim.Point) {
	lastFetch := make([]int, len(c.g.Values)) // step + 1, 0 if there is none
	for i := range c.s {
		if st := &c.s[i]; st.Kind == engine.StepFetch {
			lastFetch[st.Value] = i + 1
		}
	}
	for i := range c.g.Ops {
		if op := &c.g.Ops[i]; op.Lane == engine.LaneCPU {
			for _, v := range op.In {
				lastFetch[v] = -1 // what the host computes with stays
			}
		}
	}
	held := make([]bool, len(c.g.Values))
	take := func(v engine.ValueID, at time.Duration) {
		if held[v] || c.g.Values[v].Initial&engine.OnHost != 0 {
			return
		}
		held[v] = true
		points = append(points, sim.Point{At: at, Used: c.g.Values[v].Size})
	}
	for i := range c.s {
		switch st := &c.s[i]; {
		case st.Kind == engine.StepOffload:
			take(st.Value, c.at(i).Start)
		case st.Kind == engine.StepFetch && lastFetch[st.Value] == i+1 && held[st.Value]:
			held[st.Value] = false
			points = append(points, sim.Point{At: c.at(i).End, Used: -c.g.Values[st.Value].Size})
		case st.Kind == engine.StepRun && c.g.Ops[st.Op].Lane == engine.LaneCPU:
			for _, v := range c.g.Ops[st.Op].Out {
				take(v, c.at(i).Start)
			}
		}
	}
	sort.SliceStable(points, func(i, j int) bool { return points[i].At < points[j].At })
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
