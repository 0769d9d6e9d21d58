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

// Memory finds the largest running sums over any range of samples by
// looking at few of them.
type Memory struct {
	Samples []sim.Sample
	blocks  []Bounds                // the largest sums of each block of blockSize samples
	Fixed   engine.Bytes            // what is fixed at every moment
	Held    [sim.NumCategories]bool // whether there is ever any of it
}

func newMemory(samples []sim.Sample) Memory {
	x := Memory{Samples: samples, blocks: make([]Bounds, (len(samples)+blockSize-1)/blockSize)}
	for i := range samples {
		if used := samples[i].Used[sim.Fixed]; i == 0 || used < x.Fixed {
			x.Fixed = used
		}
		for c, used := range samples[i].Used {
			x.Held[c] = x.Held[c] || used > 0
		}
	}
	for b := range x.blocks {
		x.scan(b*blockSize, min((b+1)*blockSize, len(samples)), &x.blocks[b])
	}
	return x
}

//go:noinline
func (x *Memory) scan(i, j int, high *Bounds) {
	for ; i < j; i++ {
		var sum int64
		used := &x.Samples[i].Used
		for b, c := range Stack {
			sum += int64(used[c])
			high[b] = max(high[b], sum)
		}
	}
}

// High returns the largest running sums of samples [i, j).
func (x *Memory) High(i, j int) (high Bounds) {
	bi, bj := (i+blockSize-1)/blockSize, j/blockSize
	if bi >= bj {
		x.scan(i, j, &high)
		return high
	}
	x.scan(i, bi*blockSize, &high)
	x.scan(bj*blockSize, j, &high)
	for _, block := range x.blocks[bi:bj] {
		for c := range high {
			high[c] = max(high[c], block[c])
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

// lifeIndex finds the lives that cover a moment.
type lifeIndex struct {
	lives   []sim.Life
	byStart []int32
	ends    []time.Duration // the latest end of each block of byStart
}

func newLifeIndex(lives []sim.Life) lifeIndex {
	x := lifeIndex{lives: lives, byStart: make([]int32, len(lives))}
	for i := range lives {
		x.byStart[i] = int32(i)
	}
	sort.SliceStable(x.byStart, func(i, j int) bool { return lives[x.byStart[i]].Start < lives[x.byStart[j]].Start })
	for i, id := range x.byStart {
		if i%blockSize == 0 {
			x.ends = append(x.ends, lives[id].End)
		}
		x.ends[i/blockSize] = max(x.ends[i/blockSize], lives[id].End)
	}
	return x
}

// at calls f with every life that covers t.
func (x *lifeIndex) at(t time.Duration, f func(life int)) {
	n := sort.Search(len(x.byStart), func(i int) bool { return x.lives[x.byStart[i]].Start > t })
	for b := 0; b*blockSize < n; b++ {
		if x.ends[b] <= t {
			continue
		}
		for _, id := range x.byStart[b*blockSize : min((b+1)*blockSize, n)] {
			if x.lives[id].End > t {
				f(int(id))
			}
		}
	}
}

// Gallop returns the first sample from i on, up to n, at or after t nanoseconds. It
// looks near i first.
func (x *Memory) Gallop(i, n int, t int64) int {
	step, hi := 1, i
	for hi < n && int64(x.Samples[hi].At) < t {
		i = hi + 1
		hi += step
		step *= 2
	}
	hi = min(hi, n)
	for i < hi {
		mid := int(uint(i+hi) / 2)
		if int64(x.Samples[mid].At) < t {
			i = mid + 1
		} else {
			hi = mid
		}
	}
	return i
}
