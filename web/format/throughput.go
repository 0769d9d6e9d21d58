package format

import (
	"strconv"
	"time"
)

// Throughput writes how many samples are trained per second by steps of a batch:
// "176 samples/s"; where the batch size is not known (0), how many steps. It is
// empty if a step takes no time.
func Throughput(batch int, step time.Duration) string {
	if step <= 0 {
		return ""
	}
	name := " samples/s"
	if batch <= 0 {
		batch, name = 1, " steps/s"
	}
	x := float64(batch) / step.Seconds()
	decimals := 2
	switch {
	case x >= 99.95:
		decimals = 0
	case x >= 9.995:
		decimals = 1
	}
	return trimZeros(strconv.FormatFloat(x, 'f', decimals, 64)) + name
}
