package tradeoff

import (
	"math"

	"memtide/engine"
)

// BandwidthSteps is the number of steps of the bandwidth slider, which goes
// from 1 to 512 GB/s: ten steps double the rate.
const BandwidthSteps = 90

// BandwidthAt is the rate at a position of the slider, in hundredths of
// 1 GB/s.
func BandwidthAt(position int) engine.Rate {
	hundredths := math.Round(100 * math.Exp2(float64(min(max(position, 0), BandwidthSteps))/10))
	return engine.Rate(hundredths) * 10_000_000
}

// BandwidthPosition is the position of the slider for a rate, rounded to the
// nearest.
func BandwidthPosition(r engine.Rate) int {
	if r <= 1_000_000_000 {
		return 0
	}
	return min(int(math.Round(10*math.Log2(float64(r)/1e9))), BandwidthSteps)
}
