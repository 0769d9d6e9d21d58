package draw

import (
	"math"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

// apart is the least distance of two lines whose labels are both above them.
const apart = 18.0

// drawLines draws the lines of the device's memory and the budget and the mark of the peak, with their
// labels and that of the ghost. If two lines are near, the label of the lower one is below it.
func (m *Index) drawLines(s *Scene, f *frame, sc *memoryScale) {
	device, budget := math.Inf(-1), math.Inf(-1)
	if sc.showDevice && f.Capacity <= sc.most {
		device = sc.y(int64(f.Capacity))
		s.keep(f, device)
		s.Line(deviceLine, f.left, device, f.right, device)
	}
	if sc.showBudget {
		budget = sc.y(int64(f.Budget))
		s.keep(f, budget)
		s.Line(budgetLine, f.left, budget, f.right, budget)
	}
	peakX := f.x(int64(m.Trace.PeakAt))
	if peakX >= f.left-0.5 && peakX <= f.right+0.5 {
		x, y := f.clip(peakX), sc.y(int64(m.Trace.Peak))
		s.Area(display.Style{Fill: display.Ink, Stroke: display.Surface, Lines: display.NoRole, Width: 1},
			x, y, x-4.5, y-8, x+4.5, y-8)
		s.placed = append(s.placed, box{x - 5, y - 9, x + 5, y})
	}
	aside := spot{f.right - 4, 0, display.End}
	if peakX > f.left+(f.right-f.left)*0.6 {
		aside = spot{f.left + 4, 0, display.Start}
	}
	label := func(r display.Role, t display.Text, y, other float64) {
		above, under := aside, aside
		above.y, under.y = y-6, y+15
		over := y - 6 // above both lines
		if other < y && y-other < apart {
			above, under, over = under, above, other-6
		}
		s.place(f, r, t, true, above, under,
			spot{f.left + 4, above.y, display.Start}, spot{f.right - 4, above.y, display.End},
			spot{f.left + 4, over, display.Start}, spot{f.right - 4, over, display.End})
	}
	if !math.IsInf(device, 0) {
		label(display.Ink, display.Text{S: f.Device + " has " + format.Bytes(f.Capacity), Bold: true, Large: true},
			device, budget)
	}
	words := "plan may use " + format.Bytes(f.Budget)
	if f.right-f.left <= 400 {
		words = "plan: " + format.Bytes(f.Budget)
	}
	switch {
	case sc.showBudget && f.Drag && f.right-f.left > 400:
		label(display.Budget, display.Text{S: words + ", drag"}, budget, device)
	case sc.showBudget:
		label(display.Budget, display.Text{S: words}, budget, device)
	case f.Budget != engine.NoLimit:
		s.Text(display.Muted, f.right, 13, display.End, words+", far above")
	}
	m.namePeak(s, f, sc, peakX)
	m.nameGhost(s, f, sc)
}

// The styles of the lines of the budget and of the device's memory.
var (
	budgetLine = display.DashedOf(display.Budget, 1.5, display.DashBudget)
	deviceLine = display.StrokeOf(display.Ink, 2)
)

// namePeak labels the peak as near to its mark as there is room, with a line to it if the label is not near.
func (m *Index) namePeak(s *Scene, f *frame, sc *memoryScale, peakX float64) {
	if peakX < f.left-0.5 || peakX > f.right+0.5 {
		return
	}
	x, y := f.clip(peakX), sc.y(int64(m.Trace.Peak))
	spots := make([]spot, 0, 20)
	for dy := 2.0; dy <= 110 && y-dy > 12; dy += 12 {
		spots = append(spots, spot{x - 9 - dy/4, y - dy, display.End}, spot{x + 9 + dy/4, y - dy, display.Start})
	}
	spots = append(spots, spot{x, math.Max(y-12, 12), display.Middle})
	t := display.Text{S: "peak " + format.Bytes(m.Trace.Peak), Bold: true, Large: true}
	if f.Beside != nil && f.Beside.Over {
		t.S = f.Beside.Letter + ": " + t.S
	}
	i := s.place(f, display.Ink, t, true, spots...)
	if b := &s.placed[len(s.placed)-1]; i < len(spots)-1 && y-b.y1 > 14 {
		from := b.x1
		if b.x0 > x {
			from = b.x0
		}
		s.Line(display.StrokeOf(display.Ink, 1), from, b.y1-6, x, y-8)
	}
}

// nameGhost labels the ghost beside its highest part, unless the step itself has the same peak, which has a label.
func (m *Index) nameGhost(s *Scene, f *frame, sc *memoryScale) {
	peak := ghostPeak(f.Ghost)
	if peak <= m.Trace.Peak || f.Beside != nil {
		return
	}
	from, to := f.right, f.left // the interval in which it is highest
	for i := range f.Ghost {
		if p := &f.Ghost[i]; p.Used == peak {
			from = math.Min(from, f.clip(f.x(int64(p.At))))
			if i+1 < len(f.Ghost) {
				p = &f.Ghost[i+1]
			}
			to = math.Max(to, f.clip(f.x(int64(p.At))))
		}
	}
	t := display.Text{S: "keep everything: " + format.Bytes(peak), Large: true}
	role := display.Muted
	if f.Capacity > 0 && peak > f.Capacity {
		role = display.Budget
	}
	if peak > sc.most {
		nameCut(s, f, sc, role, peak)
		return
	}
	y := math.Max(sc.y(int64(min(peak, sc.most)))+12, 28)
	spots := []spot{{from - 30, y, display.End}, {to + 30, y, display.Start}, {to + 70, y, display.Start},
		{from - 12, y + 30, display.End}, {to + 20, y + 30, display.Start}, {(from + to) / 2, y - 16, display.Middle}}
	s.place(f, role, t, false, spots...)
}

// nameCut labels a ghost that is higher than the axis, on a plate in its visible part.
func nameCut(s *Scene, f *frame, sc *memoryScale, role display.Role, peak engine.Bytes) {
	from := f.right // where it leaves the picture
	for i := range f.Ghost {
		if p := &f.Ghost[i]; p.Used > sc.most {
			from = math.Min(from, f.clip(f.x(int64(p.At))))
		}
	}
	t := display.Text{S: "keep everything: to " + format.Bytes(peak) + " ↑", Large: true}
	y := sc.y(int64(sc.most)) + 14
	for _, at := range []spot{{from + 14, y, display.Start}, {f.left + 14, y, display.Start}} {
		if s.plate(f, role, t, at) {
			return
		}
	}
}

// nameSunk writes for how long the highlighted layer is not on the card, in its longest absence.
func (m *Index) nameSunk(s *Scene, f *frame, sc *memoryScale, pieces []int32) {
	all, k := m.Pieces().All, m.Lit(f.Selected)
	var from, to, until int64 // the longest absence, and the end of the pieces so far
	for n, i := range pieces {
		p := &all[i]
		if n > 0 && p.From > until && p.From-until > to-from {
			from, to = until, p.From
		}
		until = max(until, p.To)
	}
	if to == from {
		return
	}
	t := display.Text{S: m.StageName(k) + ": not on the card for " + format.Duration(time.Duration(to-from))}
	at := spot{f.clip(f.x(until)) + 8, sc.floor - 6, display.Start}
	if x0, x1 := f.clip(f.x(from)), f.clip(f.x(to)); x1-x0 > t.Width()+8 {
		at = spot{(x0 + x1) / 2, sc.floor - 6, display.Middle}
	}
	if fits(&t, f, &at) {
		s.plate(f, display.Ink, t, at)
	}
}

// The least area that is labelled, in pixels.
const (
	namedWidth  = 60.0
	namedHeight = 16.0
	nameStep    = 4.0 // distance of the columns that are tried
)

// nameBands labels the bands, within or above them, if there is room.
func (m *Index) nameBands(s *Scene, f *frame, sc *memoryScale) {
	n := int((f.right - f.left) / nameStep)
	if len(s.bands) < 2 || n < 1 {
		return
	}
	turn := n // the first column of the backward pass
	for _, p := range m.Phases {
		if p.Name == "backward" {
			turn = int((f.clip(f.x(int64(p.From))) - f.left) / nameStep)
		}
	}
	columns := make([]bandPoint, n)
	for i, j := 0, 0; i < n; i++ {
		x := f.left + (float64(i)+0.5)*nameStep
		for j+2 < len(s.bands) && s.bands[j+1].x <= x {
			j++
		}
		columns[i] = s.bands[j]
	}
	for b := 1; b < len(lookup.Stack); b++ {
		c := lookup.Stack[b]
		if c == sim.InTransfer {
			nameBand(s, f, sc, columns[:turn], 0, b, "leaving")
			nameBand(s, f, sc, columns[turn:], turn, b, "arriving")
			continue
		}
		name := bandNames[c]
		if c == sim.Workspace {
			name = m.Scratch()
		}
		nameBand(s, f, sc, columns, 0, b, name)
	}
}

// bandNames are the labels of the bands.
var bandNames = [sim.NumCategories]string{sim.Activation: "kept", sim.Recomputed: "computed again",
	sim.Gradient: "gradients"}

// bandInk are the roles of labels above the bands.
var bandInk = [sim.NumCategories]display.Role{sim.Activation: display.Ink, sim.Recomputed: display.InkRecompute,
	sim.InTransfer: display.InkTransfer, sim.Gradient: display.Ink, sim.Workspace: display.Muted}

// nameBand writes the label of band b where the band is highest over the label's width: within a
// fill without a pattern, otherwise just above all bands. first is the index of the first of columns.
func nameBand(s *Scene, f *frame, sc *memoryScale, columns []bandPoint, first, b int, name string) {
	t := display.Text{S: name, Bold: lookup.Stack[b] == sim.Activation, Large: true}
	wide := int(math.Max(t.Width()+8, namedWidth)/nameStep) + 1
	best, at, y := int64(namedHeight/sc.perByte), -1, 0.0
	for i := 0; i+wide <= len(columns); i++ {
		top, bottom := int64(math.MaxInt64), int64(0)
		j := i
		for ; j < i+wide && top-bottom > best; j++ {
			top, bottom = min(top, columns[j].sum[b]), max(bottom, columns[j].below(b))
		}
		if top-bottom > best {
			best, at, y = top-bottom, i, (sc.y(top)+sc.y(bottom))/2
		} else if columns[j-1].sum[b]-columns[j-1].below(b) <= best {
			i = j - 1 // no interval with this column is higher
		}
	}
	if at < 0 {
		return
	}
	x := f.left + (float64(first+at)+float64(wide)/2)*nameStep
	if st := bandStyles[lookup.Stack[b]]; st.Pattern == display.NoPattern {
		box := boxOf(&t, f, &spot{x, y + 4, display.Middle})
		s.placed = append(s.placed, box)
		t.Anchor = display.Middle
		s.AddText(st.Fill.On(), x, y+4, t)
		return
	}
	high := math.Inf(1) // upper edge of all bands there
	for j := at; j < at+wide; j++ {
		high = math.Min(high, sc.y(columns[j].sum[len(lookup.Stack)-1]))
	}
	s.place(f, bandInk[lookup.Stack[b]], t, false, spot{x, high - 7, display.Middle}, spot{x, y + 4, display.Middle})
}
