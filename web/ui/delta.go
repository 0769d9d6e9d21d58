package ui

import (
	"strconv"
	"time"

	"memtide/web/state"
)

// partLook is what a part is called, as in the key of the pictures, and its look.
func partLook(name string) (words, class string) {
	switch name {
	case "compute":
		return "computing", "delta-fwd"
	case "recompute":
		return "computing again", "delta-rec"
	}
	return name, "delta-wait"
}

// deltaUnit writes times side by side in one unit.
type deltaUnit struct {
	name   string
	size   time.Duration
	places int
}

// unitOf is the unit in which a delta is written: three digits of the largest.
func unitOf(d *state.Delta) deltaUnit {
	most := d.Step.Abs()
	for _, p := range d.Parts {
		most = max(most, p.Change().Abs())
	}
	u := deltaUnit{name: "ns", size: 1}
	switch {
	case most >= 10*time.Second:
		u = deltaUnit{name: "s", size: time.Second}
	case most >= time.Millisecond || most == 0:
		u = deltaUnit{name: "ms", size: time.Millisecond}
	case most >= time.Microsecond:
		u = deltaUnit{name: "µs", size: time.Microsecond}
	}
	for q := most; q > 0 && q < 100*u.size && u.places < 2; q *= 10 {
		u.places++
	}
	return u
}

// signed writes a time with its sign, and with the unit if that is wanted.
func (u deltaUnit) signed(d time.Duration, unit bool) string {
	sign := "+"
	if d < 0 {
		sign = "−"
	} else if d == 0 {
		sign = "±"
	}
	text := sign + u.plain(d)
	if unit {
		text += " " + u.name
	}
	return text
}

func (u deltaUnit) plain(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Abs())/float64(u.size), 'f', u.places, 64)
}
