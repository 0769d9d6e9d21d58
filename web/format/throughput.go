package format

import (
	"strconv"
	"strings"
	"time"
)

// Throughput writes how much is trained per second by steps of n samples, or of what
// the unit says: "176 samples/s"; where n is not known (0), how many steps. It is
// empty if a step takes no time.
func Throughput(n int, unit string, step time.Duration) string {
	if step <= 0 {
		return ""
	}
	if n <= 0 {
		n, unit = 1, "steps"
	}
	x := float64(n) / step.Seconds()
	decimals := 2
	switch {
	case x >= 999.5:
		return Count(int(x+0.5)) + " " + unit + "/s"
	case x >= 99.95:
		decimals = 0
	case x >= 9.995:
		decimals = 1
	}
	return trimZeros(strconv.FormatFloat(x, 'f', decimals, 64)) + " " + unit + "/s"
}

// PerSecond is the number of a throughput, without its unit.
func PerSecond(n int, step time.Duration) string {
	number, _, _ := strings.Cut(Throughput(n, "", step), " ")
	return number
}
