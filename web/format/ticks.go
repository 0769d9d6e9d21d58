package format

import (
	"time"

	"memtide/engine"
)

// TimeTick is a mark of a time axis; its label is a number in the axis's unit.
type TimeTick struct {
	At    time.Duration
	Label string
}

// TimeTicks returns at most n marks at round times (multiples of 1, 2 or 5 times a power of ten)
// within [from, to], and the one unit of their labels.
func TimeTicks(from, to time.Duration, n int) ([]TimeTick, string) {
	from = max(from, 0)
	u := axisUnit(to)
	if n < 1 || to < from {
		return nil, u.name
	}
	step := roundStep(int64(to-from)/int64(n)+1, []int64{1, 2, 5, 10})
	for int64(to)/step-(int64(from)+step-1)/step+1 > int64(n) {
		step = roundStep(step+1, []int64{1, 2, 5, 10})
	}
	places := 0
	for uint64(step)%(u.size/pow10[places]) != 0 {
		places++
	}
	var ticks []TimeTick
	for at := (int64(from) + step - 1) / step * step; at <= int64(to); at += step {
		ticks = append(ticks, TimeTick{time.Duration(at), fixed(uint64(at), u.size, places, nearest)})
	}
	return ticks, u.name
}

// roundStep returns the smallest number that is at least min and one of the digits times a power of the last digit.
func roundStep(min int64, digits []int64) int64 {
	base := digits[len(digits)-1]
	for scale := int64(1); ; scale *= base {
		for _, d := range digits {
			if d*scale >= min || d*scale > 1<<62/base {
				return d * scale
			}
		}
	}
}

// ByteTick is a mark of a memory axis, labelled with its unit: "4 GiB".
type ByteTick struct {
	At    engine.Bytes
	Label string
}

// ByteTicks returns at most n marks at round sizes (multiples of 1, 2, 4 or 5 times a power of
// ten of a binary unit) within [0, to], all in one unit.
func ByteTicks(to engine.Bytes, n int) []ByteTick {
	if n < 2 || to < 0 {
		return nil
	}
	u := byteUnits[0]
	for _, next := range byteUnits[1:] {
		if uint64(to) < next.size {
			break
		}
		u = next
	}
	// Steps are in tenths of the unit, so that 0.5 GiB is possible; bytes are not divided.
	part := max(int64(u.size)/10, 1)
	tenths := int64(10)
	if u.size == 1 {
		tenths = 1
	}
	step := roundStep(max(int64(to)/part/int64(n), 1), []int64{1, 2, 4, 5, 10})
	at := func(i int64) engine.Bytes { return engine.Bytes(engine.MulDiv(i*step, int64(u.size), tenths)) }
	for int64(to)/max(int64(at(1)), 1)+1 > int64(n) {
		step = roundStep(step+1, []int64{1, 2, 4, 5, 10})
	}
	ticks := []ByteTick{{0, "0"}}
	for i := int64(1); at(i) <= to; i++ {
		ticks = append(ticks, ByteTick{at(i),
			trimZeros(fixed(uint64(i*step), uint64(tenths), 1, nearest)) + " " + u.name})
	}
	return ticks
}
