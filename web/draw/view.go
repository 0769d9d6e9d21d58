// Package draw makes the pictures: which stages are kept, recomputed or
// offloaded (Strip), what runs when (Timeline) and what the memory holds
// (Memory), the last two on one time axis.
//
//	engine.Problem + sim.Trace -> lookup.Index -> tell.Index -> Index -> Draw(View) -> Scene -> paint.js | SVG
//
// Of a graph of operations the strip has them in the order in which they run, with
// arcs from values to their last forward readers, and Life says when the selected
// value is on the device.
//
// Page stacks the pictures, Figure adds a Legend; both are for files and
// for the first picture of the page.
//
// An Index is built once per trace. Draw lays a picture out for a View (a
// stretch of time and a size in CSS pixels) as a Scene, which is a display list
// (package display): painted on a canvas or written as SVG it comes out the same, so
// that the prepared page's first picture is replaced by the live one without a jump.
// Its size is bounded by pixels, not by the trace. What an Index finds and says it has
// from packages lookup and tell; Hit tells what is at a point.
//
// In the memory every value that is large enough has a seam: pieces says for every
// stretch of a life in which band it is, and the stage that is selected is sunk to the
// bottom of the stack, so that one sees it leave and come back. The playhead is part of
// the overlay: while it moves nothing is laid out again.
//
// A View with a Beside is one side of a comparison: both sides have one time
// axis, one memory axis and one order of layers (see Align), and what differs is
// marked.
//
// Places does the same for addresses: a Placement says where buffers lie, and its
// pictures show that over time, at one moment, the fragmentation and the host
// memory.
//
// Passes draw the ranks of a pipeline: a lane each, and their memory on the same axis.
//
// The package is plain Go: it knows no browser.
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

// The pictures that share a time axis, from top to bottom: their places on the page
// and in files.
const (
	Strip    Picture = iota // one bar per stage: size and decision
	Timeline                // what runs when, three lanes
	Life                    // of a graph: when the selected value is on the device
	Memory                  // what the device memory holds
	NumPictures
)

// The pictures of where the bytes lie. Places draws them; Page leaves them out.
// All but the map share the time axis of the others.
const (
	AddressTime Picture = NumPictures + iota // addresses over time
	AddressMap                               // the addresses at one moment
	Holes                                    // fragmentation over time
	Host                                     // pinned host memory over time
	Flames                                   // what is held, by call stack: a Flame draws it
	PassLanes                                // ranks of a pipeline: Passes draw them
	AllPictures                              // how many pictures there are in all
)

// picture is what a picture is. Its file fills it in.
type picture struct {
	name     string  // of its element on the page
	title    string  // the heading that is drawn in it
	height   float64 // the standard one, in CSS pixels
	compared float64 // the height beside that of another side, of those on the time axis
	slim     float64 // the height where there is little width; 0: the standard one
	embedded float64 // the height in another page; 0: the standard one
	still    bool    // its horizontal axis is not time
}

// layoutOf is how a picture of a model is laid out. A nil overlay or hit does nothing.
type layoutOf[M any] struct {
	draw, overlay func(M, *Scene, *frame)
	hit           func(M, *frame, float64, float64) lookup.Target
	height        func(m M, width float64) float64 // where it depends on the model; nil: the standard one
}

// What the files of the pictures fill in, in their init functions.
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

// HeightAt returns the standard height of a picture that is so wide.
func (p Picture) HeightAt(width float64) float64 {
	if width <= slimWidth {
		return cmp.Or(pictures[p].slim, pictures[p].height)
	}
	return pictures[p].height
}

// EmbeddedHeight is its height in another page, which keeps little room for it.
func (p Picture) EmbeddedHeight() float64 { return cmp.Or(pictures[p].embedded, pictures[p].height) }

// ComparedHeight is its height while two sides are compared: two stand where one stood.
func (p Picture) ComparedHeight() float64 { return pictures[p].compared }

// Still reports whether the horizontal axis is not time.
func (p Picture) Still() bool { return pictures[p].still }

// heightAt returns the height of a picture of the model that stands alone and is so wide,
// in CSS pixels; 0: the model has nothing for it.
func (m *Index) heightAt(pic Picture, width float64) float64 {
	if height := timed[pic].height; height != nil {
		return height(m, width)
	}
	return pic.HeightAt(width)
}

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
	Model  *Index
	Budget engine.Bytes // its budget line; 0: its problem's
	Layers Alignment    // of the layers that are drawn with the other side's; nil: see Align
	Letter string       // of the side that is drawn, "A" or "B"
	Other  string       // and of the other one
	Over   bool         // the other one has no picture of its own memory: what is to be said of it stands in this one
}

// newFrame fills in the defaults of a picture of a step that ends at end.
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
	if v.Budget == 0 {
		v.Budget = m.Problem.Budget
	}
	if v.Height <= 0 && v.Beside == nil {
		v.Height = m.heightAt(pic, v.Width)
	}
	return newFrame(pic, v, m.Trace.Makespan)
}

// drawTicks draws lines from top to bottom at the marks of the time axis, and their labels at y, with the unit left
// of the first.
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

// title returns the heading of a picture, with the letter of its side.
func (v *View) title(pic Picture) display.Text {
	if v.Beside == nil {
		return display.Text{S: pic.Title(), Bold: true, Large: true}
	}
	if pic == Memory && v.Beside.Over {
		return display.Text{S: pic.Title() + ": " + v.Beside.Letter + " filled, " + v.Beside.Other + " as a line",
			Bold: true, Large: true}
	}
	return display.Text{S: v.Beside.Letter + " " + pic.Title(), Bold: true, Large: true}
}

// reach is how far beside a slice, in pixels, a point still means it.
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

// Align aligns two traces. Layers that have no names in common are aligned by
// their numbers. Names may repeat: the longest common subsequence counts.
func Align(a, b *Index) Alignment { return align(a.Names, b.Names) }

// drawn has the pictures of a model of type M, which embeds it: an Index, Places, a Flame, Passes.
type drawn[M any] struct {
	model   M
	in      func(pic Picture, v View) frame
	layouts []layoutOf[M] // of the pictures from first on
	first   Picture
}

// Draw replaces s by a picture of the model. The size of the scene is bounded by v.Width, however long the trace is;
// all of it that is in view is looked at.
func (x *drawn[M]) Draw(s *Scene, pic Picture, v View) {
	f := x.in(pic, v)
	s.Reset(f.Width, f.Height)
	s.Title = pic.Title()
	x.layouts[pic-x.first].draw(x.model, s, &f)
}

// Overlay replaces s by what moves with the pointer over a picture: the cursor
// line at v.Cursor and the outline of v.Hover. Its background is transparent,
// so that it lies on the picture without repainting it.
func (x *drawn[M]) Overlay(s *Scene, pic Picture, v View) {
	f := x.in(pic, v)
	s.Reset(f.Width, f.Height)
	if overlay := x.layouts[pic-x.first].overlay; overlay != nil {
		overlay(x.model, s, &f)
	}
}

// Hit returns what is painted at a point of a picture, in CSS pixels, and the
// moment there (of still pictures: NoCursor).
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

// TimeAt returns the moment at px, in CSS pixels, in a view of the pictures with a time axis; left and
// right of the axis it is that of its end.
func (x *drawn[M]) TimeAt(v View, px float64) time.Duration {
	f := x.in(x.first, v)
	return f.time(px)
}
