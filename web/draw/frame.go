package draw

import (
	"math"
	"memtide/web/display"
	"time"
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
