// Package draw makes the pictures: which stages are kept, recomputed or
// offloaded (Strip), what runs when (Timeline) and what the memory holds
// (Memory), the last two on one time axis.
//
//	engine.Problem + sim.Trace -> lookup.Model -> tell.Model -> Model -> Draw(View) -> Scene -> paint.js | SVG
//
// Of a graph of operations the strip has them in the order in which they run, with
// arcs from values to their last forward readers, and Life says when the selected
// value is on the device.
//
// Page stacks the pictures, Figure adds a Legend; both are for files and
// for the first picture of the page.
//
// A Model is built once per trace. Draw lays a picture out for a View (a
// stretch of time and a size in CSS pixels) as a Scene, which is a display list
// (package display): painted on a canvas or written as SVG it comes out the same, so
// that the prepared page's first picture is replaced by the live one without a jump.
// Its size is bounded by pixels, not by the trace. What a Model finds and says it has
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
