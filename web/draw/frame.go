package draw

import (
	"math"
	"time"

	"memtide/web/display"
	"memtide/web/format"
)

// newFrame fills in the defaults of a picture of a step that ends at end.
func newFrame(pic Picture, v View, end time.Duration) frame {
	if v.Height <= 0 {
		v.Height = pic.HeightAt(v.Width)
	}
	if v.Gutter <= 0 {
		if v.Gutter = GutterWidth; v.Width <= slimWidth {
			v.Gutter = SlimGutter
		}
	}
	if v.To <= v.From {
		v.To = max(v.end(end), v.From+1)
	}
	f := frame{View: v, left: v.Gutter, right: math.Max(v.Width-rightPad, v.Gutter+1)}
	f.scale = (f.right - f.left) / float64(v.To-v.From)
	return f
}

func (m *Model) frame(pic Picture, v View) frame {
	if v.Budget == 0 {
		v.Budget = m.Problem.Budget
	}
	if v.Height <= 0 && v.Beside == nil {
		v.Height = m.heightAt(pic, v.Width)
	}
	return newFrame(pic, v, m.Trace.Makespan)
}

// TimeAt returns the moment at x, in CSS pixels, in a view of Timeline or Memory; left and
// right of the axis it is that of its end.
func (m *Model) TimeAt(v View, x float64) time.Duration {
	f := m.frame(Timeline, v)
	return f.time(x)
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
