package lookup

import (
	"sort"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// Stack is the order of the bands of the memory picture from bottom to top. What is kept
// longest is lowest, so that it does not move when other memory is freed.
var Stack = [sim.NumCategories]sim.Category{sim.Fixed, sim.Activation, sim.Recomputed, sim.InTransfer, sim.Gradient,
	sim.Workspace}

// Bounds are the upper borders of the bands in bytes: running sums in the order of Stack.
type Bounds [sim.NumCategories]int64

// BoundsOf returns the bounds of a sample.
func BoundsOf(s *sim.Sample) (b Bounds) {
	var sum int64
	for i, c := range Stack {
		sum += int64(s.Used[c])
		b[i] = sum
	}
	return b
}

// Memory is the use of the device memory over time.
type Memory struct {
	Samples []sim.Sample
	Fixed   engine.Bytes            // the least fixed memory of all samples
	Held    [sim.NumCategories]bool // whether a category is ever used
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

// High returns the largest bounds of samples [i, j).
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

// FirstAt returns the index of the first sample at or after t.
func (x *Memory) FirstAt(t time.Duration) int {
	return sort.Search(len(x.Samples), func(i int) bool { return x.Samples[i].At >= t })
}

// FirstAfter returns the index of the first sample after t.
func (x *Memory) FirstAfter(t time.Duration) int {
	return sort.Search(len(x.Samples), func(i int) bool { return x.Samples[i].At > t })
}

// Used returns the memory in use at t, after all changes at t, by category. It interpolates between samples.
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
