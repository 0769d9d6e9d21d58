package play

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"memtide/engine"
)

// Result is the memory and the time of a step under a plan.
type Result struct {
	Peak  engine.Bytes  // in addition to the memory in use before the step
	Time  time.Duration // of all operators and copies, one after the other
	Again time.Duration // of the operators that ran again
	Left  engine.Bytes  // still in use after the step
	Sent  engine.Bytes  // copied to the host, and back
	// Copies is the part of Time for the copies to the host and back. It counts them one after the other, so that a
	// step is shorter than Time if copies run while operators run.
	Copies time.Duration
}

// Player plays plans of one trace. It is not safe for concurrent use.
type Player struct {
	Link engine.Rate // of copies to the host and back; 0: they take no time

	t      *Trace
	split  int            // the index in t.Events at which the backward begins
	at     map[string]int // calls by path
	first  []int          // by storage: the operator that makes it, or -1
	late   []bool         // by storage: the forward makes it, and Python does not release it during the forward
	deaths []Free         // by operator
	enter  []int          // by call: its indices in Events
	leave  []int

	now, peak, sent engine.Bytes
	again           time.Duration
	runs            int // the number of frames and of runs so far
	held            map[instance][]holder
	filler          map[int]*frame   // by keep: the frame that restores it, if it is not held
	holds           map[int]instance // by keep: the instance that is held for it
	owner           map[int]int      // by storage among the arguments of the frame that runs again: its run
	line            []*frame         // the frames that send to the host, in order
	log             *[]Entry         // nil without a log
}

// Entry is a line of the log of a played plan. Storages have an instance for each run that makes them. Run 0 is the
// step itself.
type Entry struct {
	Kind EntryKind
	ID   int // a storage, an operator or a keep, depending on Kind
	Run  int
}

// EntryKind is the kind of an entry.
type EntryKind uint8

// The kinds of entries.
const (
	EntryMade   EntryKind = iota // an instance of a storage is allocated
	EntryGone                    // an instance of a storage is freed
	EntryRan                     // an operator runs; its outputs exist already
	EntryNeeded                  // autograd gets a tensor that it keeps
	EntrySent                    // an instance of a storage is copied to the host
)

// Log is Play with a log.
func (p *Player) Log(segments []*Segment) (Result, []Entry) {
	var log []Entry
	p.log = &log
	defer func() { p.log = nil }()
	return p.Play(segments), log
}

func (p *Player) note(kind EntryKind, id, run int) {
	if p.log != nil {
		*p.log = append(*p.log, Entry{kind, id, run})
	}
}

// instance is a storage as one run has made it. Run 0 is the forward. It exists while it has holders.
type instance struct{ storage, run int }

// holder is a reference to an instance.
type holder struct {
	kind holderKind
	id   int // of the keep or the frame
}

type holderKind uint8

const (
	byPython   holderKind = iota
	byKeep                // autograd
	byInput               // a frame, for the arguments of its calls
	byOperator            // a frame, for the result of an operator that it saves
)

// frame is one execution of a segment that is recomputed or offloaded.
type frame struct {
	seg           *Segment
	run, id       int
	alive         map[int]bool // the keeps of the frame that autograd has not released
	inputs        []instance   // the arguments that it holds
	away          []int        // the storages on the host: of its keeps, or of its arguments
	back          bool         // the arguments on the host have been fetched, or are no longer needed
	place         int          // its index in Player.line
	calls         []int
	kept          []instance     // the results of operators that it saves
	first, second map[string]int // the number of operators by name, in the first and in the second run
}

// NewPlayer returns the player of a trace.
func NewPlayer(t *Trace) *Player {
	p := &Player{t: t, split: len(t.Events), at: map[string]int{}, first: slices.Repeat([]int{-1}, len(t.Storages)),
		late:  make([]bool, len(t.Storages)),
		enter: make([]int, len(t.Calls)), leave: make([]int, len(t.Calls)), deaths: slices.Clone(t.Frees)}
	for i, c := range t.Calls {
		p.at[c.Path] = i
	}
	for i, op := range t.Ops {
		for _, n := range op.New {
			p.first[n] = i
			p.late[n] = i < t.Forward
		}
	}
	for _, f := range t.Frees {
		p.late[f.Storage] = false
	}
	slices.SortFunc(p.deaths, func(a, b Free) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Storage, b.Storage))
	})
	for i, e := range t.Events {
		switch e.Kind {
		case EventEnter:
			p.enter[e.ID] = i
		case EventLeave:
			p.leave[e.ID] = i
		case EventBackward:
			p.split = i
		}
	}
	return p
}

// Play plays a step under the segments of a valid plan. Without segments it plays the plain step.
func (p *Player) Play(segments []*Segment) Result {
	p.now, p.peak, p.sent, p.again, p.runs = 0, 0, 0, 0, 0
	p.held, p.filler, p.holds, p.owner = map[instance][]holder{}, map[int]*frame{}, map[int]instance{}, nil
	p.line = nil
	f := &pass{p: p, level: p.calls(segments)}
	f.play(0, p.split)
	for _, e := range p.t.Events[p.split:] {
		p.backward(e)
	}
	var copies time.Duration
	if p.Link > 0 {
		copies = p.Link.Time(2 * p.sent)
	}
	return Result{Peak: p.peak, Time: p.t.Time() + p.again + copies, Again: p.again, Left: p.now, Sent: p.sent,
		Copies: copies}
}

func (p *Player) backward(e Event) {
	switch e.Kind {
	case EventOp:
		op := &p.t.Ops[e.ID]
		for _, n := range op.New {
			p.hold(instance{n, 0}, holder{byPython, 0})
		}
		p.peak = max(p.peak, p.now+op.Temp)
		p.note(EntryRan, e.ID, 0)
	case EventFree:
		if p.first[e.ID] >= p.t.Forward || p.late[e.ID] {
			p.drop(instance{e.ID, 0}, holder{byPython, 0})
		}
	case EventUnpack:
		p.need(e.ID)
		p.note(EntryNeeded, e.ID, 0)
	case EventRelease:
		f := p.filler[e.ID]
		delete(p.filler, e.ID)
		if key, ok := p.holds[e.ID]; ok {
			p.drop(key, holder{byKeep, e.ID})
			delete(p.holds, e.ID)
		}
		if f != nil {
			delete(f.alive, e.ID)
			if len(f.alive) == 0 {
				p.close(f)
			}
		}
	}
}

func (p *Player) hold(key instance, by holder) {
	if p.t.Resident[key.storage] {
		return
	}
	holders := p.held[key]
	if slices.Contains(holders, by) {
		return
	}
	if len(holders) == 0 {
		p.now += p.t.Storages[key.storage]
		p.peak = max(p.peak, p.now)
		p.note(EntryMade, key.storage, key.run)
	}
	p.held[key] = append(holders, by)
}

func (p *Player) drop(key instance, by holder) {
	holders := p.held[key]
	i := slices.Index(holders, by)
	if i < 0 {
		return
	}
	if len(holders) == 1 {
		p.now -= p.t.Storages[key.storage]
		p.note(EntryGone, key.storage, key.run)
		delete(p.held, key)
		return
	}
	p.held[key] = slices.Delete(holders, i, i+1)
}

// calls returns the segment of each call that is a unit of one.
func (p *Player) calls(segments []*Segment) map[int]*Segment {
	of := map[int]*Segment{}
	for _, s := range segments {
		for _, u := range s.Units {
			of[p.at[u]] = s
		}
	}
	return of
}

func (p *Player) frame(seg *Segment, run int) *frame {
	p.runs++
	f := &frame{seg: seg, run: run, id: p.runs, alive: map[int]bool{}, first: map[string]int{},
		second: map[string]int{}, place: len(p.line)}
	if seg.Do == DoOffload || seg.Input == DoOffload {
		p.line = append(p.line, f)
	}
	return f
}

// close drops the arguments that a frame holds.
func (p *Player) close(f *frame) {
	for _, key := range f.inputs {
		p.drop(key, holder{byInput, f.id})
	}
	f.inputs, f.back = nil, true
}

// need restores a keep, by fetches or by running frames again.
func (p *Player) need(keep int) {
	if f := p.filler[keep]; f != nil && f.seg.Do == DoOffload {
		p.near(f)
		return
	}
	for {
		f := p.filler[keep]
		if _, there := p.holds[keep]; f == nil || there || f.seg.Do == DoOffload {
			return
		}
		p.runs++
		if len(f.away) > 0 {
			p.near(f)
		}
		p.owner = map[int]int{}
		for _, key := range f.inputs {
			p.owner[key.storage] = key.run
		}
		again := &pass{p: p, level: p.calls(f.seg.Inner), run: p.runs, fill: f}
		again.play(p.enter[f.calls[0]], p.leave[f.calls[len(f.calls)-1]]+1)
		p.close(f)
	}
}

// send copies a storage to the host.
func (p *Player) send(key instance) {
	p.sent += p.t.Storages[key.storage]
	p.note(EntrySent, key.storage, key.run)
}

// near fetches a frame that the backward has reached, and the frames before it within its prefetch distance.
func (p *Player) near(f *frame) {
	for _, k := range p.line[max(0, f.place-f.seg.Prefetch) : f.place+1] {
		if k.seg.Do == DoOffload {
			p.fetch(k)
			continue
		}
		for _, n := range k.away {
			if key := (instance{n, k.id}); !k.back {
				p.hold(key, holder{byInput, k.id})
				k.inputs = append(k.inputs, key)
			}
		}
		k.back = true
	}
}

// fetch fetches all keeps of an offloaded frame that autograd has not released.
func (p *Player) fetch(f *frame) {
	for _, q := range slices.Sorted(maps.Keys(f.alive)) {
		if _, there := p.holds[q]; !there {
			p.holds[q] = instance{p.t.Keeps[q].Storage, f.id}
			p.hold(p.holds[q], holder{byKeep, q})
		}
	}
}

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
