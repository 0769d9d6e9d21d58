package draw

import (
	"memtide/engine"
	"memtide/web/format"
)

// memoryScale is the scale of the memory axis. What stays through the whole step
// would take most of the height of a large network: from a third of the axis on it
// stands in a band of its own scale below the others, under a zigzag that says so.
type memoryScale struct {
	top, bottom float64 // pixels
	most        engine.Bytes
	fixed       engine.Bytes // what the band stands for; 0: there is none, and one scale
	floor       float64      // pixels: where the true scale begins
	perByte     float64      // above the floor
	showBudget  bool
	showDevice  bool
}

const (
	budgetShown = 2.5  // how many times the peak the budget, the device or the ghost may be to be in the picture
	fixedBand   = 40.0 // pixels of the band
	fixedBreak  = 6.0  // of the zigzag
)

func (m *Model) memoryScale(f *frame) memoryScale {
	sc := memoryScale{top: titleLine + 17, bottom: f.Height - 6, most: max(m.trace.Peak, 1)}
	if f.Beside != nil {
		sc.most = max(sc.most, f.Beside.Model.trace.Peak)
	}
	peak := float64(sc.most)
	in := func(b engine.Bytes) bool { return b > 0 && float64(b) <= budgetShown*peak }
	show := func(b engine.Bytes) bool {
		if !in(b) {
			return false
		}
		sc.most = max(sc.most, b)
		return true
	}
	sc.showBudget = float64(f.Budget) <= budgetShown*peak
	if sc.showBudget {
		sc.most = max(sc.most, f.Budget)
	}
	if f.Beside != nil { // its line is in its own picture
		show(f.Beside.budget())
	} else {
		sc.showDevice = show(f.Capacity)
		sc.most = max(sc.most, min(ghostPeak(f.Ghost), engine.Bytes(budgetShown*peak)))
	}
	if f.Top > 0 {
		sc.most = f.Top
	}
	sc.floor = sc.bottom
	if fixed := m.memory.fixed; f.Beside == nil && fixed < sc.most && fixed > sc.most/3 && (sc.bottom-sc.top)/3 > fixedBand+fixedBreak {
		sc.fixed, sc.floor = fixed, sc.bottom-fixedBand-fixedBreak
	}
	sc.perByte = (sc.floor - sc.top) / float64(sc.most-sc.fixed)
	return sc
}

// MemoryTop is what the upper end of the memory axis stands for: View.Top of a
// picture whose scale stays while something is dragged.
func (m *Model) MemoryTop(v View) engine.Bytes {
	f := m.frame(Memory, v)
	return m.memoryScale(&f).most
}

func (sc *memoryScale) y(b int64) float64 {
	if fixed := int64(sc.fixed); b < fixed {
		return sc.bottom - float64(b)*fixedBand/float64(fixed)
	} else if b == fixed && fixed > 0 {
		return sc.bottom - fixedBand
	}
	return sc.floor - float64(b-int64(sc.fixed))*sc.perByte
}

// bytes is the amount at a height; within the band what is fixed.
func (sc *memoryScale) bytes(y float64) engine.Bytes {
	return sc.fixed + max(engine.Bytes((sc.floor-y)/sc.perByte), 0)
}

// drawBreak draws the zigzag between the two scales and says what the lower one is.
func (sc *memoryScale) drawBreak(s *Scene, f *frame) {
	if sc.fixed == 0 {
		return
	}
	y := float32(sc.floor + fixedBreak/2)
	s.rect(fillOf(Surface), f.left, sc.floor, f.right-f.left, fixedBreak)
	xy := s.xy[:0]
	for x, up := f.left, float32(1.5); x <= f.right; x, up = x+8, -up {
		xy = append(xy, float32(x), y+up)
	}
	s.xy = xy
	s.path(opLine, strokeOf(Muted, 1), xy)
	words := "fixed through the step: " + format.Bytes(sc.fixed) + ", at a smaller scale"
	if textWidth(words) > f.right-f.left-12 {
		words = "fixed: " + format.Bytes(sc.fixed)
	}
	s.text(OnFixed, f.left+8, sc.bottom-fixedBand/2+4, start, words)
}
