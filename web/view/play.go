package view

import (
	"slices"
	"sort"
	"time"

	"memtide/engine/sim"
)

// A step is played by a playhead that crosses all pictures at constant step time. The
// browser passes in what time it is: nothing here asks a clock.
const (
	playFor  = 6000.0 // milliseconds that a step takes to be played, waits aside
	holdFor  = 300.0  // milliseconds that the playhead stays at a wait
	mostHeld = 8      // at so many waits at most, the longest
)

// StartPlaying plays a step that ends at end from the playhead on, or from the start if
// that is behind it. Now is what time it is, in milliseconds of any clock.
func (v *View) StartPlaying(now float64, gaps []sim.Gap, end time.Duration) {
	if v.Playhead >= end {
		v.Playhead = 0
	}
	v.Play = Playing{On: true, last: now, held: waitsToHold(gaps, v.Playhead)}
}

// waitsToHold are the starts of the longest waits behind a moment, in order.
func waitsToHold(gaps []sim.Gap, after time.Duration) (at []time.Duration) {
	gaps = slices.Clone(gaps)
	sort.SliceStable(gaps, func(i, j int) bool { return gaps[i].End-gaps[i].Start > gaps[j].End-gaps[j].Start })
	for _, g := range gaps[:min(len(gaps), mostHeld)] {
		if g.Start > after {
			at = append(at, g.Start)
		}
	}
	slices.Sort(at)
	return at
}

// Advance moves the playhead of a step that is being played on to what time it is, and
// hands each wait at which it comes to stay to stays, by its start. It is true at the end:
// then the playhead is back at the start.
func (v *View) Advance(now float64, end time.Duration, stays func(at time.Duration)) bool {
	play := &v.Play
	left := max(now-play.last, 0)
	play.last = now
	perMS := float64(end) / playFor
	for left > 0 {
		if stay := min(play.hold, left); stay > 0 {
			play.hold -= stay
			left -= stay
			continue
		}
		next := v.Playhead + time.Duration(left*perMS)
		if len(play.held) == 0 || next < play.held[0] {
			v.Playhead = next
			break
		}
		left -= float64(play.held[0]-v.Playhead) / perMS
		v.Playhead, play.held, play.hold = play.held[0], play.held[1:], holdFor
		stays(v.Playhead)
	}
	if v.Playhead < end {
		return false
	}
	v.Playhead, v.Play = 0, Playing{}
	return true
}
