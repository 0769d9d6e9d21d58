package lookup

import (
	"sort"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// Stack is the order of the bands of the memory picture, from bottom to top: what is
// kept longest lies lowest, so that little of it moves when something leaves.
var Stack = [sim.NumCategories]sim.Category{sim.Fixed, sim.Activation, sim.Recomputed, sim.InTransfer, sim.Gradient,
	sim.Workspace}

// Bounds are the upper borders of the bands, in the order of Stack: running sums.
type Bounds [sim.NumCategories]int64

// BoundsOf returns those of a sample.
func BoundsOf(s *sim.Sample) (b Bounds) {
	var sum int64
	for i, c := range Stack {
		sum += int64(s.Used[c])
		b[i] = sum
	}
	return b
}

// Memory is what the device memory holds over time.
type Memory struct {
	Samples []sim.Sample
	Fixed   engine.Bytes            // what is fixed at every moment
	Held    [sim.NumCategories]bool // whether there is ever any of it
}

func newMemory(samples []sim.Sample) Memory {
	x := Memory{Samples: samples}
	for i := range samples {
		if used := samples[i].Used[sim.Fixed]; i == 0 || used < x.Fixed {
			x.Fixed = used
		}
		for c, used := range samples[i].Used {
			x.Held[c] = x.Held[c] || used > 0
		}
	}
	return x
}

// High returns the largest running sums of samples [i, j).
//
//go:noinline
func (x *Memory) High(i, j int) (high Bounds) {
	for ; i < j; i++ {
		var sum int64
		used := &x.Samples[i].Used
		for b := range Stack {
			sum += int64(used[Stack[b]])
			high[b] = max(high[b], sum)
		}
	}
	return high
}

// FirstAt returns the first sample at or after t.
func (x *Memory) FirstAt(t time.Duration) int {
	return sort.Search(len(x.Samples), func(i int) bool { return x.Samples[i].At >= t })
}

// FirstAfter returns the first sample after t.
func (x *Memory) FirstAfter(t time.Duration) int {
	return sort.Search(len(x.Samples), func(i int) bool { return x.Samples[i].At > t })
}

// Used returns what is in use at t, after all that happens at t; between samples it
// is interpolated.
func (x *Memory) Used(t time.Duration) (u [sim.NumCategories]engine.Bytes) {
	i := x.FirstAfter(t)
	switch {
	case len(x.Samples) == 0 || i == 0:
		return u
	case i == len(x.Samples) || x.Samples[i-1].At == t:
		return x.Samples[i-1].Used
	}
	a, b := &x.Samples[i-1], &x.Samples[i]
	part := float64(t-a.At) / float64(b.At-a.At)
	for c := range u {
		u[c] = a.Used[c] + engine.Bytes(part*float64(b.Used[c]-a.Used[c]))
	}
	return u
}
