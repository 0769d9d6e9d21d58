package draw

import (
	"cmp"
	"fmt"
	"sort"
	"time"

	"memtide/engine"
	"memtide/web/format"
	"memtide/web/lookup"
)

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

// Summary says in a sentence what the address picture shows.
func (x *Places) Summary() string {
	str := fmt.Sprintf("%s blocks up to address %s of %s.", format.Count(len(x.p.Blocks)), format.Bytes(x.top),
		format.Bytes(x.p.Pool))
	if x.p.Failed != nil {
		str += " " + x.FailureSentence()
	}
	return str
}

// FailureSentence says what was missing: "needs 400 MiB, largest hole 310 MiB,
// free 0.9 GiB"; empty if nothing failed.
func (x *Places) FailureSentence() string {
	r := x.p.Failed
	if r == nil {
		return ""
	}
	what := ""
	if name, layer := x.name(r.Buffer); layer != "" {
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

// MapSentence says what the map of a moment shows.
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
	return fmt.Sprintf("%s in %s · %s", format.Bytes(l.Used), countOf(n, "block"), x.holesShort(at))
}

func (x *Places) holesShort(at time.Duration) string {
	l := x.LevelAt(at)
	if x.failing(at) {
		l = x.p.Failed.level()
	}
	return fmt.Sprintf("free %s · largest hole %s · fragmentation %s", format.Bytes(l.free()),
		format.Bytes(l.Largest), format.Share(l.Fragmentation()))
}

// LevelShown returns how the memory is used at the moment that the map shows by
// itself; at a failure free and largest are the allocator's own.
func (x *Places) LevelShown() Level {
	if x.p.Failed != nil {
		return x.p.Failed.level()
	}
	return x.LevelAt(x.p.PeakAt)
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return format.Count(n) + " " + what + "s"
}

// Sentence says what a buffer is, where it lies and how long; empty for
// everything else.
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

// AliveRow is a buffer that is there at a moment, in words.
type AliveRow struct {
	Buffer            int
	Name, Layer, Kind string
	Bytes, Addr       engine.Bytes
	From, To          time.Duration
	Since, Until      string
}

func (x *Places) row(b *Block) AliveRow {
	r := AliveRow{Buffer: b.Buffer, Kind: b.Kind.String(), Bytes: b.Asked, Addr: b.Addr, From: b.From, To: b.To,
		Since: x.momentName(b.From), Until: x.momentName(b.To)}
	r.Name, r.Layer = x.name(b.Buffer)
	return r
}

// AliveBy says what a table of buffers is sorted by.
type AliveBy uint8

// The orders: largest first, lowest first, first born first.
const (
	BySize AliveBy = iota
	ByAddress
	ByBirth
	NumAliveBy
)

// AliveAt lists the buffers that are there at a moment, each once, in an order.
func (x *Places) AliveAt(at time.Duration, by AliveBy) []AliveRow {
	var out []AliveRow
	seen := map[int]bool{}
	x.alive(at, func(b *Block) {
		if !seen[b.Buffer] && b.Asked > 0 {
			seen[b.Buffer] = true
			out = append(out, x.row(b))
		}
	})
	sort.Slice(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		order := cmp.Compare(b.Bytes, a.Bytes)
		switch by {
		case ByAddress:
			order = cmp.Compare(a.Addr, b.Addr)
		case ByBirth:
			order = cmp.Compare(a.From, b.From)
		}
		return cmp.Or(order, cmp.Compare(a.Buffer, b.Buffer)) < 0
	})
	return out
}
