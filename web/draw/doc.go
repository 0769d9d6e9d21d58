// Package draw makes the pictures: which stages are kept, recomputed or
// offloaded (Strip), what runs when (Timeline) and what the memory holds
// (Memory), the last two on one time axis.
//
//	engine.Problem + sim.Trace -> Model -> Draw(View) -> Scene -> paint.js | SVG | golden test
//
// Of a graph of operations the strip has them in the order in which they run, with
// arcs from values to their last forward readers, and Life says when the selected
// value is on the device.
//
// Page stacks the pictures, Figure adds a Legend; both are for files and
// for the first picture of the page.
//
// A Model is built once per trace. Draw lays a picture out for a View (a
// stretch of time and a size in CSS pixels) as a Scene, a display list whose
// colours are roles. Its size is bounded by pixels, not by the trace. A Scene
// is painted on a canvas by web/static/paint.js from one packed buffer, or
// written as SVG; both come out the same, so that the prepared page's first
// picture is replaced by the live one without a jump. Hit tells what is at a
// point, Sentence says it in words, Rows is the table for those who do not see
// the pictures.
//
// A View with a Beside is one side of a comparison: both sides have one time
// axis, one memory axis and one order of layers (see Align), and what differs is
// marked.
//
// Places does the same for addresses: a Placement says where buffers lie, and its
// pictures show that over time, at one moment, the fragmentation and the host
// memory.
//
// The package is plain Go: it knows no browser.
package draw
