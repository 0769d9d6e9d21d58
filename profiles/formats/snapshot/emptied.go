package snapshot

import (
	"math"
	"strings"

	"memtide/engine"
)

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

// emptyings are the events before which the program emptied the cache. The allocator gives
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
