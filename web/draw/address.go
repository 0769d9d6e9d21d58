package draw

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
)

// perStretch is how many blocks or levels share an entry that bounds them.
const perStretch = 32

// Block is a stretch of addresses that a buffer holds for a time.
type Block struct {
	Buffer      int // for Placement.Name; blocks of one buffer are outlined together
	From, To    time.Duration
	Addr, Bytes engine.Bytes
	Asked       engine.Bytes // the size of the buffer
	Kind        sim.Category
}

// Level is how memory is used from a moment on.
type Level struct {
	At                             time.Duration
	Asked, Used, Reserved, Largest engine.Bytes
}

func (l *Level) free() engine.Bytes { return max(l.Reserved-l.Used, 0) }

// Fragmentation returns the part of the free memory that the largest hole lacks.
func (l *Level) Fragmentation() float64 {
	if l.free() <= 0 {
		return 0
	}
	return math.Max(1-float64(l.Largest)/float64(l.free()), 0)
}

// Placement says where buffers lie: what Places draws.
type Placement struct {
	Blocks []Block
	Levels []Level                           // by time
	Name   func(buffer int) (string, string) // of a buffer, and of its layer; may be nil
	End    time.Duration                     // of the step
	Tick   time.Duration                     // the axis counts events of this length; 0: it shows time
	Pool   engine.Bytes                      // that was given, or is needed
	PeakAt time.Duration
	Failed *FailedRequest

	Host []sim.Point // host memory
}

// FailedRequest is a request that found no room.
type FailedRequest struct {
	At                   time.Duration
	Buffer               int
	Bytes, Largest, Free engine.Bytes
	HoleAt               engine.Bytes // address of the largest hole
}

// level returns the moment of the failure in the allocator's own words, which knows
// holes that it cannot join.
func (r *FailedRequest) level() Level {
	return Level{At: r.At, Reserved: r.Free, Largest: r.Largest}
}

// Places is a placement, arranged for drawing. It is not changed after it is
// built.
type Places struct {
	p    Placement
	high engine.Bytes // the end of the address axis
	top  engine.Bytes // the end of the highest block

	// Blocks as columns, sorted by start.
	from, to []int64 // nanoseconds
	lo, size []float64
	kind     []uint8
	ref      []int32 // index into Placement.Blocks
	ends     []int64 // the latest end of each stretch of perStretch blocks

	worst []float64 // the largest fragmentation of each stretch of perStretch levels
}

// placesLayout is how a picture of Places is laid out. A nil overlay or hit does nothing.
type placesLayout struct {
	draw, overlay func(*Places, *Scene, *frame)
	hit           func(*Places, *frame, float64, float64) lookup.Target
}

// placed is what the files of the pictures fill in, in their init functions.
var placed [Flames - NumPictures]placesLayout

// NewPlaces arranges a placement for drawing. It takes time and memory in
// proportion to its blocks.
func NewPlaces(p Placement) *Places {
	x := &Places{p: p, high: max(p.Pool, 1)}
	n := len(p.Blocks)
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	sorted := slices.IsSortedFunc(p.Blocks, func(a, b Block) int { return cmp.Compare(a.From, b.From) })
	if !sorted { // a million of them would stop the page for a moment
		x.sort(order)
	}
	x.fill(order)
	x.high = max(x.high, x.top)
	for _, l := range p.Levels {
		x.high = max(x.high, l.Reserved)
	}
	x.worst = make([]float64, (len(p.Levels)+perStretch-1)/perStretch)
	for i := range p.Levels {
		x.worst[i/perStretch] = math.Max(x.worst[i/perStretch], p.Levels[i].Fragmentation())
	}
	return x
}

func (x *Places) sort(order []int32) {
	blocks := x.p.Blocks
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(blocks[a].From, blocks[b].From), cmp.Compare(a, b))
	})
}

// fill makes the columns, in an order.
func (x *Places) fill(order []int32) {
	n := len(order)
	x.from, x.to, x.lo, x.size = make([]int64, n), make([]int64, n), make([]float64, n), make([]float64, n)
	x.kind, x.ref = make([]uint8, n), order
	x.ends = make([]int64, (n+perStretch-1)/perStretch)
	for i, at := range order {
		b := &x.p.Blocks[at]
		x.from[i], x.to[i] = int64(b.From), int64(b.To)
		x.lo[i], x.size[i], x.kind[i] = float64(b.Addr), float64(b.Bytes), uint8(b.Kind)
		x.ends[i/perStretch] = max(x.ends[i/perStretch], int64(b.To))
		x.top = max(x.top, b.Addr+b.Bytes)
	}
}

// End returns the end of the time axis.
func (x *Places) End() time.Duration { return x.p.End }

// Placement returns what is drawn.
func (x *Places) Placement() *Placement { return &x.p }

// Moment returns what the map shows if nobody points at a moment or has chosen one:
// the failure, or the peak.
func (x *Places) Moment() time.Duration {
	if x.p.Failed != nil {
		return x.p.Failed.At
	}
	return x.p.PeakAt
}

// moment returns what the map shows in a view.
func (x *Places) moment(v View) time.Duration {
	switch {
	case v.Cursor >= 0 && v.Cursor <= x.p.End:
		return v.Cursor
	case v.Playhead > 0 && v.Playhead <= x.p.End:
		return v.Playhead
	}
	return x.Moment()
}

// failing reports whether the map of a moment shows the failure.
func (x *Places) failing(at time.Duration) bool { return x.p.Failed != nil && at == x.p.Failed.At }

// LevelAt returns how the memory is used at a moment; the zero value before the first.
func (x *Places) LevelAt(at time.Duration) Level {
	l := x.p.Levels
	if i := sort.Search(len(l), func(i int) bool { return l[i].At > at }); i > 0 {
		return l[i-1]
	}
	return Level{}
}

// alive calls f with the column index of every block that is there at a moment.
func (x *Places) alive(at int64, f func(i int)) {
	n := sort.Search(len(x.from), func(i int) bool { return x.from[i] > at })
	for b := 0; b*perStretch < n; b++ {
		if x.ends[b] <= at {
			continue
		}
		for i := b * perStretch; i < min((b+1)*perStretch, n); i++ {
			if x.to[i] > at {
				f(i)
			}
		}
	}
}

// Draw replaces s by one of the pictures of addresses. The work is in proportion
// to the blocks in the view, the size of the scene bounded by its pixels. The
// map is that of v.Cursor.
func (x *Places) Draw(s *Scene, pic Picture, v View) {
	f := newFrame(pic, v, x.p.End)
	s.Reset(f.Width, f.Height)
	s.Title = pic.Title()
	placed[pic-NumPictures].draw(x, s, &f)
}

// Overlay replaces s by what moves with the pointer over a picture; of the map
// that is all of it but for the outline.
func (x *Places) Overlay(s *Scene, pic Picture, v View) {
	f := newFrame(pic, v, x.p.End)
	s.Reset(f.Width, f.Height)
	if overlay := placed[pic-NumPictures].overlay; overlay != nil {
		overlay(x, s, &f)
	}
	at := x.moment(f.View)
	if pic.Still() || at < f.From || at > f.To {
		return
	}
	st := display.StrokeOf(display.Ink, 1)
	if f.Cursor < 0 {
		st = display.Style{Fill: display.NoRole, Stroke: display.Muted, Lines: display.NoRole,
			Dash: display.DashWaiting, Width: 1}
	}
	px := float32(f.x(int64(at)))
	s.Line(st, px, titleLine, px, float32(f.Height-6))
}

// TimeAt returns the moment at a place of a picture.
func (x *Places) TimeAt(pic Picture, v View, px float64) time.Duration {
	f := newFrame(pic, v, x.p.End)
	return f.time(px)
}

// Hit returns the buffer at a place of a picture, and the moment there; of the
// map NoCursor.
func (x *Places) Hit(pic Picture, v View, px, py float64) (lookup.Target, time.Duration) {
	f := newFrame(pic, v, x.p.End)
	t, at := lookup.Target{}, NoCursor
	if hit := placed[pic-NumPictures].hit; hit != nil {
		t = hit(x, &f, px, py)
	}
	if !pic.Still() {
		at = f.time(px)
	}
	return t, at
}

// find returns the block of a moment that holds an address, or the one that is
// nearest to it within a distance, or -1 if there is none.
func (x *Places) find(at int64, addr, reach float64) int {
	best, dist := -1, reach
	x.alive(at, func(i int) {
		if d := math.Max(x.lo[i]-addr, addr-x.lo[i]-x.size[i]); d < dist && x.size[i] > 0 {
			best, dist = i, d
		}
	})
	return best
}

// name returns the name of a buffer and of its layer.
func (x *Places) name(buffer int) (string, string) {
	if x.p.Name == nil {
		return "", ""
	}
	return x.p.Name(buffer)
}
