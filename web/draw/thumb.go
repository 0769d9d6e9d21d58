package draw

import (
	"math"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
)

// Thumb is a memory curve without words, to tell pictures apart. All thumbs of a
// network that keep the same Ghost have one scale.
type Thumb struct {
	Width, Height float64
	Model         *Model       // whose bands are drawn; nil: the ghost is, as one band
	Ghost         []sim.Point  // keeping everything
	Line          engine.Bytes // a line across; what is above it is red; 0: none
	End           time.Duration
}

// Draw replaces s by the curve.
func (t *Thumb) Draw(s *Scene) {
	s.Reset(t.Width, t.Height)
	low, high := engine.Bytes(math.MaxInt64), ghostPeak(t.Ghost)
	for _, p := range t.Ghost {
		if p.Used > 0 {
			low = min(low, p.Used)
		}
	}
	end := t.End
	if t.Model != nil {
		end, high = max(end, t.Model.Trace.Makespan), max(high, t.Model.Trace.Peak)
		low = min(low, t.Model.Memory.Fixed)
	}
	if high <= low || end <= 0 {
		return
	}
	f := frame{View: View{To: end, Width: t.Width, Height: t.Height}, left: 0, right: t.Width}
	f.scale = t.Width / float64(end)
	sc := memoryScale{top: 1, bottom: t.Height, floor: t.Height, most: high, fixed: low}
	sc.perByte = (sc.floor - sc.top) / float64(high-low)
	if t.Model == nil {
		t.drawGhost(s, &f, &sc)
	} else {
		s.bands = t.Model.bandPoints(&f, s.bands[:0])
		for b := len(lookup.Stack) - 1; b >= 1; b-- {
			xy, seen := s.xy[:0], false
			for i := range s.bands {
				p := &s.bands[i]
				seen = seen || float64(p.sum[b]-p.below(b))*sc.perByte >= 0.5
				xy = corner(xy, p.x, sc.foot(p.sum[b]))
			}
			if !seen {
				continue
			}
			s.xy = append(xy, xy[len(xy)-2], float32(sc.floor), xy[0], float32(sc.floor))
			s.Path(display.OpArea, display.FillOf(thumbRole[lookup.Stack[b]]), s.xy)
		}
	}
	if t.Line > low && t.Line < high {
		y := float32(sc.y(int64(t.Line)))
		s.Line(display.StrokeOf(display.Ink, 1), 0, y, float32(t.Width), y)
	}
}

// thumbRole is the colour of a band in a curve that is too small for patterns.
var thumbRole = [sim.NumCategories]display.Role{sim.Fixed: display.Fixed, sim.Activation: display.Forward, sim.Recomputed: display.Recompute, sim.InTransfer: display.Transfer, sim.Gradient: display.Backward, sim.Workspace: display.Muted}

func (t *Thumb) drawGhost(s *Scene, f *frame, sc *memoryScale) {
	line := math.Inf(-1)
	if t.Line > 0 {
		line = sc.y(int64(t.Line))
	}
	for _, part := range []struct {
		role display.Role
		over bool
	}{{display.Forward, false}, {display.Over, true}} {
		xy, base := s.xy[:0], sc.floor
		if part.over {
			if math.IsInf(line, 0) {
				continue
			}
			base = line
		}
		y := base
		for _, p := range t.Ghost {
			x := f.clip(f.x(int64(p.At)))
			xy = corner(xy, x, y)
			y = math.Min(sc.foot(int64(p.Used)), base)
			xy = corner(xy, x, y)
		}
		if len(xy) == 0 {
			continue
		}
		s.xy = append(xy, xy[len(xy)-2], float32(base), xy[0], float32(base))
		s.Path(display.OpArea, display.FillOf(part.role), s.xy)
	}
}
