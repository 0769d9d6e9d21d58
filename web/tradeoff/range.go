// Package tradeoff implements the trade-off of memory and time: the step times of strategies
// by budget, and the ranges of the sliders for budgets and rates. A Curve makes the requests
// for its points (Missing, Unfinished) and stores the answers (Take); its owner sends them.
package tradeoff

import (
	"math"
	"slices"

	"memtide/engine"
)

// Range is the budgets of a slider: From, From+Step, ... To.
type Range struct{ From, To, Step engine.Bytes }

// sliderSteps is the least number of steps of the slider; it has at most twice
// as many. The size of a step is a power of two, so that budgets are round numbers.
const sliderSteps = 96

// RangeOf returns the range from the least memory that a schedule of g could need (floorOf) to a little above
// keepAll, the peak of keeping everything.
func RangeOf(g *engine.Graph, keepAll engine.Bytes) Range {
	low := min(floorOf(g), keepAll)
	step := engine.Bytes(1)
	for step*2*sliderSteps <= keepAll-low {
		step *= 2
	}
	return Range{low / step * step, (keepAll/step + 2) * step, step}
}

// floorOf returns a lower bound on the peak of all schedules of g: the most memory that a single
// operation needs for the values that it reads and writes and its temporaries, with the resident memory.
func floorOf(g *engine.Graph) (most engine.Bytes) {
	for i := range g.Ops {
		op := &g.Ops[i]
		if op.Lane == engine.LaneCPU {
			continue
		}
		need := op.Temp
		ids := slices.Sorted(slices.Values(slices.Concat(op.In, op.Out)))
		for _, v := range slices.Compact(ids) {
			need += g.Values[v].Size
		}
		most = max(most, need)
	}
	return most + g.Fixed
}

// Until returns the part of the range up to end, in finer steps if there would be few.
func (r Range) Until(end engine.Bytes) Range {
	for r.Step > 1 && (end-r.From)/r.Step < sliderSteps {
		r.Step /= 2
	}
	r.To = r.From + (end-r.From)/r.Step*r.Step
	return r
}

// Steps returns the number of steps of the slider.
func (r Range) Steps() int {
	if r.Step <= 0 {
		return 0
	}
	return int((r.To - r.From) / r.Step)
}

// At returns the budget at a position of the slider, which is clamped to the range.
func (r Range) At(position int) engine.Bytes {
	return r.From + engine.Bytes(min(max(position, 0), r.Steps()))*r.Step
}

// Position returns the position of the slider that is nearest to a budget.
func (r Range) Position(b engine.Bytes) int {
	if r.Step <= 0 {
		return 0
	}
	b = min(max(b, r.From), r.To)
	return int((b - r.From + r.Step/2) / r.Step)
}

// sample returns n budgets spread over the range, or all if there are fewer. They are at positions
// of the slider, so that a budget that is set with it can be a point of the curve.
func (r Range) sample(n int) []engine.Bytes {
	steps := r.Steps()
	n = min(n, steps+1)
	if n < 2 {
		return nil
	}
	out := make([]engine.Bytes, n)
	for i := range out {
		out[i] = r.At((i*steps + (n-1)/2) / (n - 1))
	}
	return out
}

// BandwidthSteps is the number of steps of the bandwidth slider, which goes
// from 1 to 512 GB/s: ten steps double the rate.
const BandwidthSteps = 90

// BandwidthAt returns the rate at a position of the bandwidth slider, rounded to hundredths of 1 GB/s.
func BandwidthAt(position int) engine.Rate {
	hundredths := math.Round(100 * math.Exp2(float64(min(max(position, 0), BandwidthSteps))/10))
	return engine.Rate(hundredths) * 10_000_000
}

// BandwidthPosition returns the position of the bandwidth slider that is nearest to a rate.
func BandwidthPosition(r engine.Rate) int {
	if r <= 1_000_000_000 {
		return 0
	}
	return min(int(math.Round(10*math.Log2(float64(r)/1e9))), BandwidthSteps)
}
