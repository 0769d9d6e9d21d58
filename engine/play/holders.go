package play

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// Holder is a module call and what its own operators, outside the modules within it, have
// made that is there at a peak. Path and Class are empty where there is no call.
type Holder struct {
	Call  int // its number, or ByBackward or ByNone
	Path  string
	Class string
	Outer bool // it calls modules itself
	Bytes engine.Bytes
}

// What holds bytes beside calls: the operators of the backward, and what no operator of
// the trace has made.
const (
	ByBackward = -1
	ByNone     = -2
)

// Holders are who holds the bytes at the first peak of a plan, the largest first. What the
// kernel that runs then needs beside its results counts for its module.
func (p *Player) Holders(segments []*Segment) (list []Holder) {
	_, log := p.Log(segments)
	there := map[instance]bool{}
	var now, most engine.Bytes
	at, temp := -1, -1 // entries of the peak: how far, and the operator that runs
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
			// calls are in the order in which they begin
			h.Outer = call+1 < len(p.t.Calls) && p.t.Calls[call+1].Op < c.End
		}
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes),
			cmp.Compare(a.Call, b.Call))
	})
	return list
}

// callsOf returns the innermost call of each operator, or ByBackward.
func (t *Trace) callsOf() []int {
	calls := make([]int, len(t.Ops))
	for i := range calls {
		calls[i] = ByBackward
	}
	for k, c := range t.Calls { // a call begins after those that it lies in
		for i := c.Op; i < c.End; i++ {
			calls[i] = k
		}
	}
	return calls
}
