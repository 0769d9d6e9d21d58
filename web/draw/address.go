package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

// perStretch is the number of blocks that share an element of Places.ends.
const perStretch = 32

// Block is a range of addresses that a buffer has for a time.
type Block struct {
	Buffer      int // argument of Placement.Name; blocks of one buffer are outlined together
	From, To    time.Duration
	Addr, Bytes engine.Bytes
	Asked       engine.Bytes // the size of the buffer
	Kind        sim.Category
}

// target returns the buffer of the block as a target.
func (b *Block) target() lookup.Target { return lookup.Target{Kind: lookup.OnBuffer, Index: b.Buffer} }

// Level is the use of memory from a moment on.
type Level struct {
	At                      time.Duration
	Used, Reserved, Largest engine.Bytes // Largest is the size of the largest hole
}

func (l *Level) free() engine.Bytes { return max(l.Reserved-l.Used, 0) }

// Fragmentation returns the part of the free memory that is outside of the largest hole.
func (l *Level) Fragmentation() float64 {
	if l.free() <= 0 {
		return 0
	}
	return math.Max(1-float64(l.Largest)/float64(l.free()), 0)
}

// Placement is the addresses of buffers over time, which Places draws.
type Placement struct {
	Blocks []Block
	Levels []Level                           // by time
	Name   func(buffer int) (string, string) // returns the names of a buffer and of its layer; may be nil
	End    time.Duration                     // of the step
	Tick   time.Duration                     // length of an event if the axis counts events; 0 if it shows time
	Pool   engine.Bytes                      // size of the pool, given or needed
	PeakAt time.Duration
	Failed *FailedRequest

	Host []sim.Point // use of host memory
}

// FailedRequest is an allocation for which there was no room.
type FailedRequest struct {
	At                   time.Duration
	Buffer               int
	Bytes, Largest, Free engine.Bytes
	HoleAt               engine.Bytes // address of the largest hole
}

// Places is a placement, arranged for drawing. It does not change after NewPlaces.
type Places struct {
	drawn[*Places]

	p    Placement       // with blocks sorted by start
	high engine.Bytes    // the end of the address axis
	top  engine.Bytes    // the end of the highest block
	ends []time.Duration // the latest end of each perStretch blocks
}

// placed holds the layouts of the pictures from AddressTime on. The init functions of their files set it.
var placed [Flames - NumPictures]layoutOf[*Places]

// NewPlaces arranges a placement for drawing and sorts its blocks by start. It takes time and memory in
// proportion to the blocks.
func NewPlaces(p Placement) *Places {
	before := func(i, j int) bool { return p.Blocks[i].From < p.Blocks[j].From }
	if !sort.SliceIsSorted(p.Blocks, before) { // sorting a million blocks would stop the page for a moment
		sort.SliceStable(p.Blocks, before)
	}
	if p.Name == nil {
		p.Name = func(int) (string, string) { return "", "" }
	}
	x := &Places{p: p, high: max(p.Pool, 1), ends: make([]time.Duration, (len(p.Blocks)+perStretch-1)/perStretch)}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		x.ends[i/perStretch] = max(x.ends[i/perStretch], b.To)
		x.top = max(x.top, b.Addr+b.Bytes)
	}
	x.high = max(x.high, x.top)
	x.drawn = drawn[*Places]{x, func(pic Picture, v View) frame { return newFrame(pic, v, x.p.End) }, placed[:],
		NumPictures}
	for _, l := range p.Levels {
		x.high = max(x.high, l.Reserved)
	}
	return x
}

// Placement returns the placement, with its blocks sorted by start.
func (x *Places) Placement() *Placement { return &x.p }

// Moment returns the moment that the map shows by default: the failure, or the peak.
func (x *Places) Moment() time.Duration {
	if x.p.Failed != nil {
		return x.p.Failed.At
	}
	return x.p.PeakAt
}

// moment returns the moment that the map shows in a view.
func (x *Places) moment(v View) time.Duration {
	switch {
	case v.Cursor >= 0 && v.Cursor <= x.p.End:
		return v.Cursor
	case v.Playhead > 0 && v.Playhead <= x.p.End:
		return v.Playhead
	}
	return x.Moment()
}

// failing reports whether at is the moment of the failure.
func (x *Places) failing(at time.Duration) bool { return x.p.Failed != nil && at == x.p.Failed.At }

// LevelAt returns the use of memory at a moment, or the zero value before the first level.
func (x *Places) LevelAt(at time.Duration) Level {
	l := x.p.Levels
	if i := sort.Search(len(l), func(i int) bool { return l[i].At > at }); i > 0 {
		return l[i-1]
	}
	return Level{}
}

// within calls f for every block that exists at some time in [from, to), in the order of their starts.
func (x *Places) within(from, to time.Duration, f func(b *Block)) {
	n := sort.Search(len(x.p.Blocks), func(i int) bool { return x.p.Blocks[i].From >= to })
	for i := 0; i < n; i++ {
		if i%perStretch == 0 && x.ends[i/perStretch] <= from {
			i += perStretch - 1
		} else if b := &x.p.Blocks[i]; b.To > from {
			f(b)
		}
	}
}

// alive calls f for every block that exists at a moment.
func (x *Places) alive(at time.Duration, f func(b *Block)) { x.within(at, at+1, f) }

// drawMoment draws the overlay of the pictures with a time axis: a line at the moment that the map shows.
func (x *Places) drawMoment(s *Scene, f *frame) {
	at := x.moment(f.View)
	if at < f.From || at > f.To {
		return
	}
	st := display.StrokeOf(display.Ink, 1)
	if f.Cursor < 0 {
		st = display.DashedOf(display.Muted, 1, display.DashWaiting)
	}
	px := f.x(int64(at))
	s.Line(st, px, titleLine, px, f.Height-6)
}

// find returns the buffer whose block is nearest to an address at a moment, within reach bytes,
// or Nothing if there is none.
func (x *Places) find(at time.Duration, addr, reach float64) (t lookup.Target) {
	dist := reach
	x.alive(at, func(b *Block) {
		lo, hi := float64(b.Addr), float64(b.Addr+b.Bytes)
		if d := math.Max(lo-addr, addr-hi); d < dist && b.Bytes > 0 {
			t, dist = b.target(), d
		}
	})
	return t
}

// lastShown returns the end of the view or, if that is earlier, the moment of the failure.
func (x *Places) lastShown(f *frame) time.Duration {
	if x.p.Failed != nil {
		return min(x.p.Failed.At, f.To)
	}
	return f.To
}

// momentName returns a moment in words: "411.2 ms" or "event 1 204".
func (x *Places) momentName(at time.Duration) string {
	if x.p.Tick > 0 {
		return "event " + format.Count(int(at/x.p.Tick))
	}
	if at <= 0 {
		return "0 ms"
	}
	return format.Moment(at, x.p.End)
}

// Summary returns what the address picture shows in a sentence.
func (x *Places) Summary() string {
	str := fmt.Sprintf("%s blocks up to address %s of %s.", format.Count(len(x.p.Blocks)), format.Bytes(x.top),
		format.Bytes(x.p.Pool))
	if x.p.Failed != nil {
		str += " " + x.FailureSentence()
	}
	return str
}

// FailureSentence returns what the failed request lacked: "needs 400 MiB, largest hole 310 MiB,
// free 0.9 GiB". It is empty if there is no failure.
func (x *Places) FailureSentence() string {
	r := x.p.Failed
	if r == nil {
		return ""
	}
	what := ""
	if name, layer := x.p.Name(r.Buffer); layer != "" {
		what = name + " of " + layer + " "
	} else if name != "" {
		what = name + " "
	}
	return what + x.failureShort()
}

func (x *Places) failureShort() string {
	r := x.p.Failed
	return fmt.Sprintf("needs %s, largest hole %s, free %s", format.Bytes(r.Bytes), format.Bytes(r.Largest),
		format.Bytes(r.Free))
}

// MapSentence returns what the map of a moment shows.
func (x *Places) MapSentence(at time.Duration) string {
	if x.failing(at) {
		return "At " + x.momentName(at) + ": " + x.FailureSentence() + "."
	}
	return "At " + x.momentName(at) + ": " + x.holesSentence(at) + "."
}

// holesSentence returns the line of numbers above the map.
func (x *Places) holesSentence(at time.Duration) string {
	l := x.LevelAt(at)
	n := 0
	x.alive(at, func(*Block) { n++ })
	return fmt.Sprintf("%s in %s · %s", format.Bytes(l.Used), format.CountOf(n, "block"), x.holesShort(at))
}

func (x *Places) holesShort(at time.Duration) string {
	l := x.shownAt(at)
	return fmt.Sprintf("free %s · largest hole %s · fragmentation %s", format.Bytes(l.free()),
		format.Bytes(l.Largest), format.Share(l.Fragmentation()))
}

// shownAt is LevelAt, except that at the failure the free memory and the largest hole are those of the
// allocator, which has adjacent holes that it cannot join.
func (x *Places) shownAt(at time.Duration) Level {
	if r := x.p.Failed; x.failing(at) {
		return Level{At: r.At, Reserved: r.Free, Largest: r.Largest}
	}
	return x.LevelAt(at)
}

// LevelShown returns the use of memory at Moment, as the map shows it.
func (x *Places) LevelShown() Level { return x.shownAt(x.Moment()) }

// Sentence returns the name, the address and the lifetime of a buffer. It is empty for other targets.
func (x *Places) Sentence(t lookup.Target) string {
	if t.Kind != lookup.OnBuffer {
		return ""
	}
	for i := range x.p.Blocks {
		if b := &x.p.Blocks[i]; b.Buffer == t.Index {
			r := x.row(b)
			str := r.Kind + ", " + format.Bytes(b.Asked)
			if r.Name != "" {
				str = r.Name + ", " + str
			}
			if r.Layer != "" {
				str += ", " + r.Layer
			}
			if b.Bytes > b.Asked {
				str += fmt.Sprintf(", takes %s", format.Bytes(b.Bytes))
			}
			return fmt.Sprintf("%s, at %s, %s to %s", str, format.Bytes(b.Addr), x.momentName(b.From),
				x.momentName(b.To))
		}
	}
	return ""
}

// AliveRow is a row of the table of buffers that exist at a moment.
type AliveRow struct {
	Buffer            int
	Name, Layer, Kind string
	Bytes, Addr       engine.Bytes
	From              time.Duration
	Since, Until      string // start and end in words
}

func (x *Places) row(b *Block) AliveRow {
	r := AliveRow{Buffer: b.Buffer, Kind: b.Kind.String(), Bytes: b.Asked, Addr: b.Addr, From: b.From,
		Since: x.momentName(b.From), Until: x.momentName(b.To)}
	r.Name, r.Layer = x.p.Name(b.Buffer)
	return r
}

// AliveBy is the order of a table of buffers.
type AliveBy uint8

// The orders: the largest, the lowest or the oldest buffer first.
const (
	BySize AliveBy = iota
	ByAddress
	ByBirth
	NumAliveBy
)

// AliveAt returns a row for each buffer that exists at a moment, in the order by.
func (x *Places) AliveAt(at time.Duration, by AliveBy) (out []AliveRow) {
	seen := map[int]bool{}
	x.alive(at, func(b *Block) {
		if !seen[b.Buffer] && b.Asked > 0 {
			seen[b.Buffer] = true
			out = append(out, x.row(b))
		}
	})
	slices.SortFunc(out, func(a, b AliveRow) int {
		order := cmp.Compare(b.Bytes, a.Bytes)
		switch by {
		case ByAddress:
			order = cmp.Compare(a.Addr, b.Addr)
		case ByBirth:
			order = cmp.Compare(a.From, b.From)
		}
		return cmp.Or(order, cmp.Compare(a.Buffer, b.Buffer))
	})
	return out
}
