package names

import (
	"strconv"
	"time"

	"memtide/web/known"
)

// Part returns what a part is called, as in the key of the pictures, and its look.
func Part(name string) (words, class string) {
	switch name {
	case "compute":
		return "computing", "delta-fwd"
	case "recompute":
		return "computing again", "delta-rec"
	}
	return name, "delta-wait"
}

// Unit writes times side by side in one unit.
type Unit struct {
	Name   string
	size   time.Duration
	places int
}

// UnitOf returns the unit in which a delta is written: three digits of the largest.
func UnitOf(d *known.Delta) Unit {
	most := d.Step.Abs()
	for _, p := range d.Parts {
		most = max(most, p.Change().Abs())
	}
	u := Unit{Name: "ns", size: 1}
	switch {
	case most >= 10*time.Second:
		u = Unit{Name: "s", size: time.Second}
	case most >= time.Millisecond || most == 0:
		u = Unit{Name: "ms", size: time.Millisecond}
	case most >= time.Microsecond:
		u = Unit{Name: "µs", size: time.Microsecond}
	}
	for q := most; q > 0 && q < 100*u.size && u.places < 2; q *= 10 {
		u.places++
	}
	return u
}

// Signed writes a time with its sign, and with the unit if that is wanted.
func (u Unit) Signed(d time.Duration, unit bool) string {
	sign := "+"
	if d < 0 {
		sign = "−"
	} else if d == 0 {
		sign = "±"
	}
	text := sign + u.Plain(d)
	if unit {
		text += " " + u.Name
	}
	return text
}

// Plain writes the size of a time, without the unit.
func (u Unit) Plain(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Abs())/float64(u.size), 'f', u.places, 64)
}
