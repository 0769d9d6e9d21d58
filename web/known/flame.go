package known

import (
	"memtide/profiles/doctor"
	"memtide/web/draw"
	"memtide/web/lookup"
)

// Flame is the flame graph of what is in use at a moment, with the places in it.
type Flame struct {
	*draw.Flame

	of   *doctor.Alive // what it shows
	zoom int           // the call that is as wide as the picture
	mark int           // the call that the keyboard is at
}

// flameCalls returns the calls of a graph, each after the one around it.
func flameCalls(root *doctor.Flame) (out []draw.FlameCall) {
	var add func(f *doctor.Flame, parent int)
	add = func(f *doctor.Flame, parent int) {
		at := len(out)
		out = append(out, draw.FlameCall{Name: f.Name, Bytes: f.Bytes, Use: UseOf(f.Category), Parent: parent})
		for _, c := range f.Calls {
			add(c, at)
		}
	}
	add(root, 0)
	return out
}

// UseOf returns how pictures show a category.
func UseOf(c doctor.Category) draw.Use {
	for i, x := range doctor.Categories {
		if x == c {
			return draw.Use(i)
		}
	}
	return draw.UseUnknown
}

// Zoomed returns the call that is as wide as the graph, nothing if there is none.
func (f *Flame) Zoomed() lookup.Target {
	if f == nil {
		return lookup.Target{}
	}
	return lookup.Target{Kind: lookup.OnCall, Index: f.zoom}
}

// Marked returns the call that the keyboard is at, nothing if there is no graph.
func (f *Flame) Marked() lookup.Target {
	if f == nil {
		return lookup.Target{}
	}
	return lookup.Target{Kind: lookup.OnCall, Index: f.mark}
}

// Zoom makes a call as wide as the graph; the one that is so already goes back to
// the one around it.
func (f *Flame) Zoom(call int) {
	if call == f.zoom {
		call = f.Parent(call)
	}
	f.zoom, f.mark = call, call
}

// Move moves the keyboard's place. From the call that is as wide as the graph it goes
// up to the one around it, which is not to be seen.
func (f *Flame) Move(right, down int) {
	if f.mark == f.zoom && down < 0 {
		f.Zoom(f.zoom)
		return
	}
	f.mark = f.Beside(f.mark, right, down)
}

// Out goes back to the call around the one that is as wide as the graph, unless it is
// the one that the graph begins with: then it is false.
func (f *Flame) Out() bool {
	if f == nil || f.zoom == f.Start() || f.zoom == 0 {
		return false
	}
	f.Zoom(f.zoom)
	return true
}
