package snapshot

import (
	"iter"
	"math"
	"strings"

	"memtide/engine"
)

// event is an event of the allocator.
type event struct {
	at, size int64
	time     int64 // as recorded; 0 if it was not
	stack    int32
	stream   int16
	is       snapWord
}

// trace is the list of the events of a device: those that say something about addresses,
// the newest ones.
type trace struct {
	number int
	count  int           // of all items of the list
	events chunks[event] // those that are kept; the newest take the places of the oldest
	cut    int           // events that are not kept any more
	failed bool          // a request found no room
	bad    string        // what is wrong with an item, the first one that is wrong
	badAt  int
}

// add adds an event with its stack; where most are kept already, the oldest one goes.
func (t *trace) add(r *record, stack int32, most int) {
	t.count++
	t.failed = t.failed || r.is == actionOOM
	if r.is == unknownWord || r.is == actionFreeRequested {
		return
	}
	if r.is == actionOOM && r.has&hasAt == 0 {
		r.has, r.at = r.has|hasAt, 0
	}
	if bad := misplaced(r); bad != "" {
		t.wrong(bad)
		return
	}
	e := event{at: r.at, size: r.size, stack: stack, stream: r.stream, is: r.is}
	if r.b.kind() == pvInt {
		e.time = r.b.int()
	}
	if t.events.n < most {
		t.events.add(e)
		return
	}
	*t.at(0) = e
	t.cut++
}

// at returns one of the events that are kept, counted from the oldest.
func (t *trace) at(i int) *event { return t.events.at((t.cut + i) % t.events.n) }

// skip counts an item that is no event: of dictionaries no more than that is wanted.
func (t *trace) skip(v pval) {
	t.count++
	if v.kind() != pvDict && v.kind() != pvFrame {
		t.wrong("is not a dictionary")
	}
}

func (t *trace) wrong(what string) {
	if t.bad == "" {
		t.bad, t.badAt = what, t.count-1
	}
}

// all returns the events that are kept, the oldest first; none of nil.
func (t *trace) all() iter.Seq[*event] {
	return func(yield func(*event) bool) {
		for i := 0; i < t.size() && yield(t.at(i)); i++ {
		}
	}
}

// backward returns the events that are kept, the newest first; none of nil.
func (t *trace) backward() iter.Seq[*event] {
	return func(yield func(*event) bool) {
		for i := t.size() - 1; i >= 0 && yield(t.at(i)); i-- {
		}
	}
}

// size returns how many events are kept, left how many not any more.
func (t *trace) size() int {
	if t == nil {
		return 0
	}
	return t.events.n
}

func (t *trace) left() int {
	if t == nil {
		return 0
	}
	return t.cut
}

// emptying is a moment at which segments were given back one after the other.
type emptying struct {
	event int
	sure  bool         // the program called empty_cache
	need  engine.Bytes // what would have been reserved had nothing been given back
}

// emptyingFinder finds the moments at which segments are given back.
type emptyingFinder struct {
	s     *snapshot
	calls []bool // stacks within empty_cache
	open  bool   // the event before gave a segment back
}

func newEmptyings(s *snapshot) *emptyingFinder {
	stacks := &s.u.stacks.Stacks
	f := &emptyingFinder{s: s, calls: make([]bool, len(stacks.Calls))}
	for i := 1; i < len(stacks.Calls); i++ { // a stack comes after those that it begins with
		c := stacks.Calls[i]
		f.calls[i] = f.calls[c.Parent] || stacks.Frames[c.Frame].Name == "empty_cache"
	}
	return f
}

// see takes the next event, before it is played.
func (f *emptyingFinder) see(e *event) {
	s := f.s
	if e.is == actionUnreserve {
		if !f.open {
			s.emptied = append(s.emptied, emptying{event: len(s.memory.Requests.Events), need: engine.Bytes(s.held)})
			f.open = true
		}
		last := &s.emptied[len(s.emptied)-1]
		last.sure = last.sure || f.calls[e.stack]
		return
	}
	if f.open && e.is == actionReserve {
		s.emptied[len(s.emptied)-1].need += engine.Bytes(e.size)
	}
	if f.open && e.is == actionOOM {
		s.emptied[len(s.emptied)-1].need = math.MaxInt64
	}
	f.open = false
}

// emptyings returns the events before which the program emptied the cache. The allocator gives
// segments back by itself where it has to reserve more than it can, and if it collects
// garbage: what is followed by reserving more than ever was reserved is not counted, and
// pressed says that there was such a moment.
func (s *snapshot) emptyings() (list []int, pressed bool) {
	var most engine.Bytes
	for _, l := range s.levels {
		most = max(most, l.Bytes)
	}
	collects := strings.Contains(s.history.Settings, "garbage_collection_threshold")
	for _, e := range s.emptied {
		if e.sure || !collects && e.need <= most {
			list = append(list, e.event)
		}
		pressed = pressed || !e.sure && !collects && e.need > most
	}
	return list, pressed
}
