package draw

import (
	"math"
	"time"
)

// Sizes in CSS pixels.
const (
	passesTop    = titleLine + 18 // the title, and the labels of the time axis
	passesMemory = 132.0          // of the memory
	passesSpace  = 20.0           // between lanes and memory: its title
	joinedPass   = 6.0            // narrower passes join a band
)

func init() {
	pictures[PassLanes] = picture{name: "passes", title: "Ranks of the pipeline",
		height: passesTop + 8*26 + passesSpace + passesMemory}
}

// laneHeight returns the height of a lane with the space to the next one.
func (x *Passes) laneHeight() float64 {
	return math.Max(5, math.Min(26, math.Floor(340/float64(max(1, len(x.ranks))))))
}

// Height returns the height of the picture.
func (x *Passes) Height() float64 {
	if x.Bare {
		return x.bottom() + passesSpace
	}
	return x.bottom() + passesSpace + passesMemory
}

// bottom returns where the lanes end.
func (x *Passes) bottom() float64 { return passesTop + x.laneHeight()*float64(len(x.ranks)) }

func (x *Passes) frame(v View) frame {
	v.Height = x.Height()
	return newFrame(PassLanes, v, x.end)
}

// TimeAt returns the moment at a place of the picture.
func (x *Passes) TimeAt(v View, px float64) time.Duration {
	f := x.frame(v)
	return f.time(px)
}

// lane returns where a lane is.
func (x *Passes) lane(r int) (y, h float64) {
	h = x.laneHeight()
	space := 3.0
	if h < 12 {
		space = 1
	}
	return passesTop + float64(r)*h, h - space
}
