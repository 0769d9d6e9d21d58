// Package draw draws the pictures of a trace: which stages are kept, recomputed or offloaded (Strip),
// what runs when (Timeline) and what the memory holds (Memory), the last two on one time axis.
//
//	engine.Problem + sim.Trace -> lookup.Index -> tell.Index -> Index -> Draw(View) -> Scene -> paint.js | SVG
//
// For a graph of operations, Strip shows the operations in the order in which they run, with arcs from
// values to their last forward readers, and Life shows when the selected value is on the device.
//
// An Index is built once per trace. Index.Draw lays a picture out for a View, which is an interval of time and a size
// in CSS pixels. The result is a Scene, a display list (package display) that looks the same on a canvas and as SVG, so
// that the live page can replace the first picture without a jump. Its size is bounded by pixels, not by the trace.
// Index.Hit returns the target at a point. Page stacks the pictures and Figure adds a Legend, for files and for the
// first picture of the page.
//
// In Memory, lines separate the values of a band that are large enough, and the selected
// stage is sunk to the bottom of the stack, so that it is seen to leave and come back. The
// playhead belongs to the overlay, so that its movement needs no new layout.
//
// A View with a Beside is one side of a comparison. Both sides share the time axis, the
// memory axis and the order of layers (see Align), and differences are marked.
//
// Places draws a Placement, the addresses of buffers: over time, at one moment, their
// fragmentation, and the host memory. Passes draws the ranks of a pipeline with their
// memory. Flame draws a flame graph. The package does not depend on a browser.
package draw

import (
	"cmp"
	"math"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
	"memtide/web/tell"
)

// Picture names one of the pictures.
type Picture uint8

// The pictures that an Index draws, in their order from top to bottom on the page and in files.
const (
	Strip    Picture = iota // one bar per stage: size and decision
	Timeline                // what runs when, in lanes
	Life                    // for a graph: when the selected value is on the device
	Memory                  // what the device memory holds
	NumPictures
)

// The other pictures. Places draws those of addresses. All but AddressMap and Flames have a time axis.
const (
	AddressTime Picture = NumPictures + iota // addresses over time
	AddressMap                               // the addresses at one moment
	Holes                                    // fragmentation over time
	Host                                     // pinned host memory over time
	Flames                                   // memory by call stack, drawn by Flame
	PassLanes                                // ranks of a pipeline, drawn by Passes
	AllPictures                              // the number of all pictures
)

// picture holds the properties of a picture.
type picture struct {
	name     string  // of its element on the page
	title    string  // the heading that is drawn in it
	height   float64 // standard height in CSS pixels
	compared float64 // height in a comparison; 0 if it has no picture there
	slim     float64 // height on narrow screens; 0 for the standard height
	embedded float64 // height in another page; 0 for the standard height
	still    bool    // its horizontal axis is not time
}

// layoutOf holds the functions that lay out a picture of a model. overlay and hit may be nil.
type layoutOf[M any] struct {
	draw, overlay func(M, *Scene, *frame)
	hit           func(M, *frame, float64, float64) lookup.Target
	height        func(m M, width float64) float64 // nil if the height does not depend on the model
}

// The init functions of the files of the pictures set these.
var (
	pictures [AllPictures]picture
	timed    [NumPictures]layoutOf[*Index]
)

// Name returns the name of the picture's element on the page.
func (p Picture) Name() string { return pictures[p].name }

// Title returns the heading that is drawn in the picture.
func (p Picture) Title() string { return pictures[p].title }

// Height returns the standard height of a picture in CSS pixels.
func (p Picture) Height() float64 { return pictures[p].height }

// HeightAt returns the standard height of a picture with a width in CSS pixels.
func (p Picture) HeightAt(width float64) float64 {
	if width <= slimWidth {
		return cmp.Or(pictures[p].slim, pictures[p].height)
	}
	return pictures[p].height
}

// EmbeddedHeight returns the height of the picture in another page, where there is little room.
func (p Picture) EmbeddedHeight() float64 { return cmp.Or(pictures[p].embedded, pictures[p].height) }

// ComparedHeight returns the height of the picture in a comparison, or 0 if it has none there.
func (p Picture) ComparedHeight() float64 { return pictures[p].compared }

// Still reports whether the horizontal axis of the picture is not time.
func (p Picture) Still() bool { return pictures[p].still }

// heightAt returns the height of a picture of m with a width, outside of comparisons. It is 0 if m has no such picture.
func (m *Index) heightAt(pic Picture, width float64) float64 {
	if height := timed[pic].height; height != nil {
		return height(m, width)
	}
	return pic.HeightAt(width)
}

// Sizes in CSS pixels. GutterWidth and SlimGutter are the room for labels left of every picture.
// PageGap is the space between the pictures of Page.
const (
	PageGap     = 10.0
	GutterWidth = 84.0
	SlimGutter  = 60.0 // for pictures of at most slimWidth

	slimWidth  = 480.0
	rightPad   = 10.0 // room for half a label of the axis
	titleLine  = 20.0 // height of the title of a picture
	axisLine   = 18.0 // height of the labels of the time axis
	labelRoom  = 24.0 // narrower slices have no label
	lineHeight = 14.0
)

// View is the part of a model to draw, the size, and what is marked. Zero fields have
// defaults: View{Width: w, Cursor: NoCursor} shows the whole step.
type View struct {
	From, To time.Duration // visible range of the time axis; To 0 means the end of the step
	Width    float64       // CSS pixels
	Height   float64       // CSS pixels; 0 for the picture's standard height
	Budget   engine.Bytes  // the budget line; 0 for the problem's budget
	Selected lookup.Target // outlined, with an arrow from its cause
	Chain    bool          // Timeline underlines the critical chain
	Hover    lookup.Target // Overlay outlines it, with all slices of the same stage
	// Playhead is where Overlay draws the playhead, and the moment of the address map while Cursor is NoCursor. If it
	// is 0, there is no playhead, and the map shows Places.Moment.
	Playhead time.Duration
	Playing  bool          // Overlay fades the memory after the playhead
	Cursor   time.Duration // Overlay and Page draw a line there; NoCursor for none
	Ghost    []sim.Point   // Memory: use of memory over time if everything is kept; nil if it is not drawn
	Capacity engine.Bytes  // Memory: the memory of the device; 0 if unknown
	Device   string        // name of the device, for people
	Drag     bool          // Memory: the label of the budget line says that it can be dragged
	Top      engine.Bytes  // Memory: the upper end of the axis, see MemoryTop; 0 if it depends on what is shown
	Beside   *Beside       // the other side of a comparison; nil without one
}

// NoCursor is the Cursor of a view without a cursor line.
const NoCursor = time.Duration(-1)

// frame is a view with its defaults set, and the scale of its time axis.
type frame struct {
	View
	left, right float64 // edges of the plot, in pixels
	scale       float64 // pixels per nanosecond
}

// x returns the x coordinate of a moment, which may be outside of the plot.
func (f *frame) x(t int64) float64 { return f.left + float64(t-int64(f.From))*f.scale }

// clip moves x into the plot.
func (f *frame) clip(x float64) float64 { return math.Min(math.Max(x, f.left), f.right) }

// time returns the moment at x, clamped to the view.
func (f *frame) time(x float64) time.Duration {
	t := f.From + time.Duration((f.clip(x)-f.left)/f.scale)
	return min(max(t, f.From), f.To)
}

// ceilTime returns the first moment whose x coordinate is at least x.
func (f *frame) ceilTime(x float64) int64 {
	return int64(f.From) + int64(math.Ceil((x-f.left)/f.scale))
}

// Beside is the other side of a comparison. Both sides share the time axis, the memory
// axis and the order of layers, so that the same thing is at the same place in both.
type Beside struct {
	Model  *Index
	Budget engine.Bytes // budget line of the other side; 0 for its problem's
	Layers Alignment    // alignment of the layers of this side and the other; nil for Align of both
	Letter string       // of the side that is drawn, "A" or "B"
	Other  string       // letter of the other side
	Over   bool         // one picture shows the memory of both sides, with the labels of both
}

// newFrame returns the frame of a picture of a step that ends at end.
func newFrame(pic Picture, v View, end time.Duration) frame {
	if v.Height <= 0 {
		v.Height = pic.HeightAt(v.Width)
	}
	left := GutterWidth
	if v.Width <= slimWidth {
		left = SlimGutter
	}
	if v.To <= v.From {
		if v.Beside != nil { // the axis ends with the longer of two steps
			end = max(end, v.Beside.Model.Trace.Makespan)
		}
		v.To = max(end, v.From+1)
	}
	f := frame{View: v, left: left, right: math.Max(v.Width-rightPad, left+1)}
	f.scale = (f.right - f.left) / float64(v.To-v.From)
	return f
}

func (m *Index) frame(pic Picture, v View) frame {
	v.Budget = cmp.Or(v.Budget, m.Problem.Budget)
	if v.Height <= 0 && v.Beside == nil {
		v.Height = m.heightAt(pic, v.Width)
	}
	return newFrame(pic, v, m.Trace.Makespan)
}

// drawTicks draws the marks of the time axis: lines from top to bottom, and labels at y with the unit left of the
// first.
func (f *frame) drawTicks(s *Scene, ticks []format.TimeTick, unit string, top, bottom, y float64) {
	for _, k := range ticks {
		x := math.Floor(f.x(int64(k.At))) + 0.5
		s.Line(display.StrokeOf(display.Grid, 1), x, top, x, bottom)
	}
	unitX := f.left - 8
	for _, k := range ticks {
		half := display.TextWidth(k.Label) / 2
		x := math.Min(f.x(int64(k.At)), f.Width-half)
		unitX = math.Min(unitX, x-half-4)
		s.Text(display.Muted, x, y, display.Middle, k.Label)
	}
	s.Text(display.Muted, unitX, y, display.End, unit)
}

// title returns the heading of a picture, with the letter of its side in a comparison.
func (v *View) title(pic Picture) display.Text {
	t := display.Text{S: pic.Title(), Bold: true, Large: true}
	switch b := v.Beside; {
	case b == nil:
	case pic == Memory && b.Over:
		t.S += ": " + b.Letter + " filled, " + b.Other + " as a line"
	default:
		t.S = b.Letter + " " + t.S
	}
	return t
}

// reach is the largest distance, in pixels, at which a point hits a slice.
const reach = 3.0

// Index is a trace, arranged for drawing.
type Index struct {
	*tell.Index
	drawn[*Index]
}

// NewIndex arranges a trace of p's graph for drawing. p and t must not change
// while the index is in use. It takes time and memory in proportion to the trace.
func NewIndex(p *engine.Problem, t *sim.Trace) *Index {
	m := &Index{Index: tell.New(p, t)}
	m.drawn = drawn[*Index]{m, m.frame, timed[:], Strip}
	return m
}

// Align aligns the layers of two traces by the longest common subsequence of their names, or by
// their numbers if they have no names in common.
func Align(a, b *Index) Alignment { return align(a.Names, b.Names) }

// drawn implements the drawing of a model of type M, which embeds it: an Index, Places, a Flame or Passes.
type drawn[M any] struct {
	model   M
	in      func(pic Picture, v View) frame
	layouts []layoutOf[M] // of the pictures from first on
	first   Picture
}

// Draw replaces s by a picture of the model. The size of the scene is bounded by v.Width; the time is proportional to
// the visible part of the trace.
func (x *drawn[M]) Draw(s *Scene, pic Picture, v View) {
	f := x.in(pic, v)
	s.Reset(f.Width, f.Height)
	s.Title = pic.Title()
	x.layouts[pic-x.first].draw(x.model, s, &f)
}

// Overlay replaces s by what moves over a picture: the cursor line at v.Cursor, the outline of v.Hover,
// the playhead. Its background is transparent, so that the picture below is not painted again.
func (x *drawn[M]) Overlay(s *Scene, pic Picture, v View) {
	f := x.in(pic, v)
	s.Reset(f.Width, f.Height)
	if overlay := x.layouts[pic-x.first].overlay; overlay != nil {
		overlay(x.model, s, &f)
	}
}

// Hit returns the target at a point of a picture, in CSS pixels, and the moment there, which is
// NoCursor for still pictures.
func (x *drawn[M]) Hit(pic Picture, v View, px, py float64) (lookup.Target, time.Duration) {
	f := x.in(pic, v)
	t, at := lookup.Target{}, NoCursor
	if hit := x.layouts[pic-x.first].hit; hit != nil {
		t = hit(x.model, &f, px, py)
	}
	if !pic.Still() {
		at = f.time(px)
	}
	return t, at
}

// TimeAt returns the moment at px, in CSS pixels, in a view of the pictures with a time axis, clamped to the axis.
func (x *drawn[M]) TimeAt(v View, px float64) time.Duration {
	f := x.in(x.first, v)
	return f.time(px)
}
