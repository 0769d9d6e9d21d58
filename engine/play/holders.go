package play

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// Holder is a module call with the bytes at a peak that its own operators have made, without those of the modules
// that it calls. Path and Class are empty for ByBackward and ByNone.
type Holder struct {
	Call  int // its number, or ByBackward or ByNone
	Path  string
	Class string
	Outer bool // it calls other modules
	Bytes engine.Bytes
}

// Holders other than calls.
const (
	ByBackward = -1 // the operators of the backward
	ByNone     = -2 // storages that no operator of the trace has made
)

// Holders returns the holders of all bytes at the first peak of a plan, the largest first. The workspace of the
// kernel that runs at the peak counts for its module.
func (p *Player) Holders(segments []*Segment) (list []Holder) {
	_, log := p.Log(segments)
	there := map[instance]bool{}
	var now, most engine.Bytes
	at, temp := -1, -1 // the last entry before the peak, and the operator that runs at it
	for i, e := range log {
		extra := engine.Bytes(0)
		switch e.Kind {
		case EntryMade:
			now += p.t.Storages[e.ID]
		case EntryGone:
			now -= p.t.Storages[e.ID]
		case EntryRan:
			extra = p.t.Ops[e.ID].Temp
		}
		if now+extra > most {
			most, at, temp = now+extra, i, -1
			if extra > 0 {
				temp = e.ID
			}
		}
	}
	for _, e := range log[:at+1] {
		if key := (instance{e.ID, e.Run}); e.Kind == EntryMade {
			there[key] = true
		} else if e.Kind == EntryGone {
			delete(there, key)
		}
	}
	calls := p.t.callsOf()
	bytes := map[int]engine.Bytes{}
	for key := range there {
		call := ByNone
		if op := p.first[key.storage]; op >= 0 {
			call = calls[op]
		}
		bytes[call] += p.t.Storages[key.storage]
	}
	if temp >= 0 {
		bytes[calls[temp]] += p.t.Ops[temp].Temp
	}
	for call, n := range bytes {
		h := Holder{Call: call, Bytes: n}
		if call >= 0 {
			c := p.t.Calls[call]
			h.Path, h.Class = c.Path, c.Class
			// Calls are in the order in which they begin.
			h.Outer = call+1 < len(p.t.Calls) && p.t.Calls[call+1].Op < c.End
		}
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Call, b.Call))
	})
	return list
}

// callsOf returns the innermost call of each operator, or ByBackward.
func (t *Trace) callsOf() []int {
	calls := slices.Repeat([]int{ByBackward}, len(t.Ops))
	for k, c := range t.Calls { // a call comes after those that contain it
		for i := c.Op; i < c.End; i++ {
			calls[i] = k
		}
	}
	return calls
}
