package draw

import (
	"math"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/format"
)

// apart is how far two lines must be from each other for both labels to stand above.
const apart = 18.0

// drawLines draws what the device has, the budget and the peak, and names them and the
// ghost: where two lines are near, the label of the lower one stands under it.
func (m *Model) drawLines(s *Scene, f *frame, sc *memoryScale) {
	device, budget := math.Inf(-1), math.Inf(-1)
	if sc.showDevice && f.Capacity <= sc.most {
		device = sc.y(int64(f.Capacity))
		s.keep(f, device)
		s.line(deviceLine, float32(f.left), float32(device), float32(f.right), float32(device))
	}
	if sc.showBudget {
		budget = sc.y(int64(f.Budget))
		s.keep(f, budget)
		s.line(budgetLine, float32(f.left), float32(budget), float32(f.right), float32(budget))
	}
	peakX := f.x(int64(m.trace.PeakAt))
	if seen := peakX >= f.left-0.5 && peakX <= f.right+0.5; seen {
		m.markPeak(s, sc, f.clip(peakX))
	}
	aside := spot{f.right - 4, 0, end}
	if peakX > f.left+(f.right-f.left)*0.6 {
		aside = spot{f.left + 4, 0, start}
	}
	label := func(r Role, t text, y, other float64) {
		above, under := aside, aside
		above.y, under.y = y-6, y+15
		if other < y && y-other < apart {
			above, under = under, above
		}
		s.place(f, r, t, true, above, under, spot{f.left + 4, above.y, start}, spot{f.right - 4, above.y, end})
	}
	if !math.IsInf(device, 0) {
		label(Ink, text{s: f.Device + " has " + format.Bytes(f.Capacity), bold: true, large: true}, device, budget)
	}
	words := "budget " + format.Bytes(f.Budget)
	switch {
	case sc.showBudget && f.Drag && f.right-f.left > 400:
		label(Budget, text{s: words + ", drag"}, budget, device)
	case sc.showBudget:
		label(Budget, text{s: words}, budget, device)
	case f.Budget != engine.NoLimit:
		s.text(Muted, f.right, 13, end, words+", far above")
	}
	m.namePeak(s, f, sc, peakX)
	nameGhost(s, f, sc)
}

// budgetLine is how the budget is drawn.
var budgetLine = style{fill: noRole, stroke: Budget, lines: noRole, dash: dashBudget, width: 1.5}

func (m *Model) markPeak(s *Scene, sc *memoryScale, x float64) {
	y := sc.y(int64(m.trace.Peak))
	s.path(opArea, style{fill: Ink, stroke: Surface, lines: noRole, width: 1},
		[]float32{float32(x), float32(y), float32(x - 4.5), float32(y - 8), float32(x + 4.5), float32(y - 8)})
	s.placed = append(s.placed, box{x - 5, y - 9, x + 5, y})
}

// namePeak names the peak as near to its mark as there is room, with a line to it where
// that is not near.
func (m *Model) namePeak(s *Scene, f *frame, sc *memoryScale, peakX float64) {
	if peakX < f.left-0.5 || peakX > f.right+0.5 {
		return
	}
	x, y := f.clip(peakX), sc.y(int64(m.trace.Peak))
	spots := make([]spot, 0, 20)
	for dy := 2.0; dy <= 110 && y-dy > 12; dy += 12 {
		spots = append(spots, spot{x - 9 - dy/4, y - dy, end}, spot{x + 9 + dy/4, y - dy, start})
	}
	spots = append(spots, spot{x, math.Max(y-12, 12), middle})
	t := text{s: "peak " + format.Bytes(m.trace.Peak), bold: true, large: true}
	if f.Beside != nil && f.Beside.Over {
		t.s = f.Beside.Letter + ": " + t.s
	}
	i := s.place(f, Ink, t, true, spots...)
	if b := &s.placed[len(s.placed)-1]; i < len(spots)-1 && y-b.y1 > 14 {
		from := b.x1
		if b.x0 > x {
			from = b.x0
		}
		s.line(strokeOf(Ink, 1), float32(from), float32(b.y1-6), float32(x), float32(y-8))
	}
}

// nameGhost names the outline of keeping everything, beside its highest part.
func nameGhost(s *Scene, f *frame, sc *memoryScale) {
	if len(f.Ghost) == 0 || f.Beside != nil {
		return
	}
	peak := ghostPeak(f.Ghost)
	from, to := f.right, f.left // where it is highest
	for i := range f.Ghost {
		if p := &f.Ghost[i]; p.Used == peak {
			from = math.Min(from, f.clip(f.x(int64(p.At))))
			if i+1 < len(f.Ghost) {
				p = &f.Ghost[i+1]
			}
			to = math.Max(to, f.clip(f.x(int64(p.At))))
		}
	}
	t := text{s: "keep everything: " + format.Bytes(peak), large: true}
	role, more := Muted, ""
	if f.Capacity > 0 && peak > f.Capacity {
		role = Budget
		if f.right-f.left > 400 {
			more = format.Bytes(peak-f.Capacity) + " more than there is"
		}
	}
	if peak > sc.most {
		t.s += ", above the picture"
	}
	y := math.Max(sc.y(int64(min(peak, sc.most)))+12, 28)
	spots := []spot{{from - 30, y, end}, {to + 30, y, start}, {to + 70, y, start}, {from - 12, y + 30, end}, {to + 20, y + 30, start}, {(from + to) / 2, y - 16, middle}}
	i := s.place(f, role, t, false, spots...)
	if i >= 0 && i < len(spots)-1 && more != "" {
		s.place(f, role, text{s: more, large: true}, false, spot{spots[i].x, spots[i].y + 17, spots[i].anchor})
	}
}

// nameSunk says beside the stretch in which the lit layer is away how long that is.
func (m *Model) nameSunk(s *Scene, f *frame, sc *memoryScale, pieces []int32) {
	all, k := m.pieces().all, m.lit(f.Selected)
	var from, to, until int64 // the longest stretch without it
	for n, i := range pieces {
		p := &all[i]
		if n > 0 && p.from > until && p.from-until > to-from {
			from, to = until, p.from
		}
		until = max(until, p.to)
	}
	if to == from {
		return
	}
	t := text{s: m.StageName(k) + ": away for " + format.Duration(time.Duration(to-from))}
	if x0, x1 := f.clip(f.x(from)), f.clip(f.x(to)); x1-x0 > t.width()+8 {
		s.place(f, Ink, t, false, spot{(x0 + x1) / 2, sc.floor - 6, middle})
	} else {
		s.place(f, Ink, t, false, spot{f.clip(f.x(until)) + 8, sc.floor - 6, start})
	}
}

// The least area that is named in the picture, in pixels.
const (
	namedWidth  = 60.0
	namedHeight = 16.0
	nameStep    = 4.0 // between the columns that are looked at
)

// nameBands writes into or above the bands what they are, where there is room.
func (m *Model) nameBands(s *Scene, f *frame, sc *memoryScale) {
	n := int((f.right - f.left) / nameStep)
	if len(s.bands) < 2 || n < 1 {
		return
	}
	turn := n // the first column of the backward pass
	for _, p := range m.phases {
		if p.name == "backward" {
			turn = int((f.clip(f.x(int64(p.from))) - f.left) / nameStep)
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
	for b := 1; b < len(stack); b++ {
		c := stack[b]
		if c == sim.InTransfer {
			nameBand(s, f, sc, columns[:turn], 0, b, "leaving")
			nameBand(s, f, sc, columns[turn:], turn, b, "arriving")
			continue
		}
		nameBand(s, f, sc, columns, 0, b, bandNames[c])
	}
}

// bandNames are what the bands are called where they are named.
var bandNames = [sim.NumCategories]string{sim.Activation: "kept", sim.Recomputed: "computed again", sim.Gradient: "gradients", sim.Workspace: "scratch"}

// bandInk is the role of words about a band that stand beside it.
var bandInk = [sim.NumCategories]Role{sim.Activation: Ink, sim.Recomputed: InkRecompute, sim.InTransfer: InkTransfer, sim.Gradient: Ink, sim.Workspace: Muted}

// nameBand finds the stretch where band b is highest, of those that are as wide as its
// name, and writes it there: in a plain fill, otherwise just above.
func nameBand(s *Scene, f *frame, sc *memoryScale, columns []bandPoint, first, b int, name string) {
	t := text{s: name, bold: stack[b] == sim.Activation, large: true}
	wide := int(math.Max(t.width()+8, namedWidth)/nameStep) + 1
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
			i = j - 1 // no stretch with this column is higher
		}
	}
	if at < 0 {
		return
	}
	x := f.left + (float64(first+at)+float64(wide)/2)*nameStep
	if st := bandStyles[stack[b]]; st.pattern == noPattern {
		box := boxOf(&t, f, &spot{x, y + 4, middle})
		s.placed = append(s.placed, box)
		t.anchor = middle
		s.addText(st.fill.on(), x, y+4, t)
		return
	}
	high := math.Inf(1) // of all bands there
	for j := at; j < at+wide; j++ {
		high = math.Min(high, sc.y(columns[j].sum[len(stack)-1]))
	}
	spots := []spot{{x, high - 7, middle}, {x, y + 4, middle}}
	s.place(f, bandInk[stack[b]], t, false, spots...)
}
