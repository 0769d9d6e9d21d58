package draw

import (
	"math"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/lookup"
)

// Sizes in CSS pixels. GutterWidth and SlimGutter are the room for labels left of every picture.
// Page is as high as the pictures with PageGap between them.
const (
	PageGap     = 10.0
	GutterWidth = 84.0
	SlimGutter  = 60.0 // of pictures that are not wider than slimWidth

	slimWidth  = 480.0
	rightPad   = 10.0 // half a label of the last mark of the axis
	titleLine  = 20.0 // the title of a picture, above everything else
	axisLine   = 18.0 // the labels of the time axis
	labelRoom  = 24.0 // narrower slices have no label
	lineHeight = 14.0
)

// View is what of a model is drawn, and how large. Zero fields have a default,
// so View{Width: w, Cursor: NoCursor} shows the whole step.
type View struct {
	From, To time.Duration // the time range of Timeline and Memory; To 0: the end of the step
	Width    float64       // CSS pixels
	Height   float64       // CSS pixels; 0: the picture's standard height
	Gutter   float64       // CSS pixels; 0: GutterWidth or SlimGutter
	Budget   engine.Bytes  // the budget line; 0: the problem's budget
	Selected lookup.Target // outlined, with an arrow from its cause
	Chain    bool          // the critical chain is underlined in Timeline
	Hover    lookup.Target // of Overlay: outlined, with all slices of the same stage
	// of Overlay: the line of the playhead, and what the map shows while Cursor is NoCursor; 0: none, and what
	// Places.Moment says
	Playhead time.Duration
	Playing  bool          // of Overlay: what comes after the playhead is faded
	Cursor   time.Duration // of Overlay and Page: a line through Timeline and Memory; NoCursor: none
	Ghost    []sim.Point   // of Memory: what keeping everything would take over time; nil: it is not drawn
	Capacity engine.Bytes  // of Memory: what the device has; 0 if unknown
	Device   string        // its name, for people
	Drag     bool          // of Memory: the budget line can be dragged, which its label says
	// of Memory: what the upper end of the axis stands for, see MemoryTop; 0: what is to be seen decides
	Top    engine.Bytes
	Beside *Beside // the other side of a comparison; nil: there is none
}

// NoCursor is the Cursor of a view without a cursor line.
const NoCursor = time.Duration(-1)

// frame is a view with its defaults filled in, and the scale of its time axis.
type frame struct {
	View
	left, right float64 // the plot, in pixels
	scale       float64 // pixels per nanosecond
}

// x returns where a moment is, which may be outside of the plot.
func (f *frame) x(t int64) float64 { return f.left + float64(t-int64(f.From))*f.scale }

// clip moves x into the plot.
func (f *frame) clip(x float64) float64 { return math.Min(math.Max(x, f.left), f.right) }

// time returns the moment at x, within the view.
func (f *frame) time(x float64) time.Duration {
	t := f.From + time.Duration((f.clip(x)-f.left)/f.scale)
	return min(max(t, f.From), f.To)
}

// ceilTime returns the first moment whose x is at least x.
func (f *frame) ceilTime(x float64) int64 {
	return int64(f.From) + int64(math.Ceil((x-f.left)/f.scale))
}

// Beside is the other side of a comparison. Both sides have one time axis, one
// memory axis and one order of layers, so that what is at one place in one
// picture is at the same place in the other.
type Beside struct {
	Model  *Model
	Budget engine.Bytes // its budget line; 0: its problem's
	Layers *Alignment   // of the layers that are drawn with the other side's; nil: see Align
	Letter string       // of the side that is drawn, "A" or "B"
	Other  string       // and of the other one
	Over   bool         // the other one has no picture of its own memory: what is to be said of it stands in this one
}

func (b *Beside) budget() engine.Bytes {
	if b.Budget == 0 {
		return b.Model.Problem.Budget
	}
	return b.Budget
}

// end returns where the time axis ends: with the longer of two steps.
func (v *View) end(own time.Duration) time.Duration {
	if v.Beside == nil {
		return own
	}
	return max(own, v.Beside.Model.Trace.Makespan)
}
