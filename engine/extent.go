package engine

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrRange is wrapped by errors of Validate that report a number, or a sum, beyond MaxBytes, MaxTime or MaxRate.
var ErrRange = errors.New("out of range")

// extent adds up the numbers of a chain or a graph, and remembers the largest.
type extent struct {
	bytes, times, uses sum
	mostBytes          Bytes
	mostTime           time.Duration
	bytesAt, timeAt    place
}

// sum is a counter that saturates at math.MaxUint64.
type sum uint64

func (s *sum) add(n int64) {
	*s += sum(n)
	if *s < sum(n) {
		*s = math.MaxUint64
	}
}

// place says where a number comes from, for messages: "the output of stage" 3 "conv1".
type place struct {
	what   string
	number int // -1: there is only one
	name   string
}

func (p place) String() string {
	switch {
	case p.number < 0:
		return p.what
	case p.name == "":
		return fmt.Sprintf("%s %d", p.what, p.number)
	}
	return fmt.Sprintf("%s %d (%s)", p.what, p.number, p.name)
}

func (e *extent) size(b Bytes, what string, number int, name string) {
	e.bytes.add(int64(b))
	if b > e.mostBytes {
		e.mostBytes, e.bytesAt = b, place{what, number, name}
	}
}

func (e *extent) time(d time.Duration, what string, number int, name string) {
	e.times.add(int64(d))
	if d > e.mostTime {
		e.mostTime, e.timeAt = d, place{what, number, name}
	}
}

// rangeError is an error that matches ErrRange. Its text does not include that of ErrRange.
type rangeError struct{ text string }

func (e *rangeError) Error() string        { return e.text }
func (e *rangeError) Is(target error) bool { return target == ErrRange }

func beyond(format string, args ...any) error { return &rangeError{fmt.Sprintf(format, args...)} }

// check returns an error that wraps ErrRange if a sum is beyond the range, or nil.
func (e *extent) check() error {
	switch {
	case e.bytes > sum(MaxBytes):
		return beyond("the sizes add up to %s, the largest is %s with %s; at most %s are supported",
			binary(float64(e.bytes)), e.bytesAt, e.mostBytes.Text(), MaxBytes.Text())
	case e.times > sum(MaxTime):
		return beyond("the times add up to %s, the longest is %s with %s; at most %s are supported",
			days(float64(e.times)), e.timeAt, days(float64(e.mostTime)), days(float64(MaxTime)))
	case e.uses > sum(maxUses):
		return beyond("what the operations read and write adds up to %s; at most %s are supported",
			binary(float64(e.uses)), maxUses.Text())
	}
	return nil
}

// days returns a long time in words, such as "104 days".
func days(ns float64) string {
	const day = 24 * float64(time.Hour)
	if ns < day {
		return time.Duration(Int64(ns)).Round(time.Second).String()
	}
	if years := ns / (365.25 * day); years >= 1000 {
		return fmt.Sprintf("%.3g years", years)
	} else if years >= 3 {
		return fmt.Sprintf("%.0f years", years)
	}
	return fmt.Sprintf("%.0f days", math.Floor(ns/day))
}

// Linked reports whether values can be moved to the host and back. It returns nil, or an error that wraps
// ErrUnsupported: there is no link, or the link is so slow that the transfers of a step could take longer than a
// time.Duration can safely count.
func (p *Problem) Linked() error {
	d := p.Device
	if d.ToHost <= 0 || d.ToDev <= 0 {
		return ErrNeedsLink
	}
	e := p.Graph.extent()
	took := float64(e.times) + float64(e.uses)*float64(time.Second)*(1/float64(d.ToHost)+1/float64(d.ToDev))
	if took > longest {
		return fmt.Errorf("%w: at %s to the host and %s back the transfers of a step could take %s; at most %s are supported",
			ErrUnsupported, d.ToHost.Text(), d.ToDev.Text(), days(took), days(longest))
	}
	return nil
}
