// Package doctor examines a recording of PyTorch's allocator. It finds which code holds the memory at a moment, why a
// request failed, how much other settings of the allocator would have reserved, and what grows from step to step. It
// returns values; other packages make the words and the pictures.
package doctor

import (
	"cmp"
	"errors"
	"slices"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles"
)

// Report is the result of examining a recording. Moments are numbers of events.
type Report struct {
	Device   int                     `json:"device"`
	Devices  []profiles.DeviceMemory `json:"devices"`
	Events   int                     `json:"events"`
	Recorded int                     `json:"recorded_events"`    // without the events that restore earlier buffers
	Settings string                  `json:"settings,omitempty"` // of the run; empty if not recorded

	Peak         engine.Bytes `json:"peak_bytes"` // most in use, as requested
	PeakAt       int          `json:"peak_at"`
	PeakReserved engine.Bytes `json:"peak_reserved_bytes"`
	Capacity     engine.Bytes `json:"capacity_bytes,omitempty"` // what could be reserved; 0 if unknown

	Alive   *Alive   `json:"alive"`
	Failure *Failure `json:"failure,omitempty"`
	Replays []Replay `json:"replays,omitempty"`
	Advice  Advice   `json:"advice"`
	Trains  bool     `json:"trains"`           // a backward or a step of an optimizer was recorded
	Growth  *Growth  `json:"growth,omitempty"` // nil if fewer than three steps are found
	Curve   []Point  `json:"curve"`
}

// Decisive selects the moment of the failed request, or of the peak if no request failed.
const Decisive = -1

// ErrNoRecording is the error for a profile that is not a recording.
var ErrNoRecording = errors.New("the file is no memory snapshot: nothing tells where and when its buffers were asked for")

// Recording is the recording of a profile, with cached results. It is not safe for concurrent use.
type Recording struct {
	*profiles.Memory
	history  *profiles.History
	kinds    []kind            // by buffer
	turns    []bool            // by buffer: it was requested within a backward or by an optimizer
	facts    Report            // the part of the report that does not depend on a moment
	replayed [Settings]*Replay // nil until Replay is called
	own      *Replay           // with the settings of the run; nil until ownSettings is called
}

// Read returns the recording of a profile, which must not be modified afterwards. The error is ErrNoRecording.
func Read(p *profiles.Profile) (*Recording, error) {
	if p == nil || p.Memory == nil || p.History == nil || p.Memory.Recorded == nil ||
		len(p.Memory.Requests.Events) == 0 {
		return nil, ErrNoRecording
	}
	r := &Recording{Memory: p.Memory, history: p.History}
	f := &r.facts
	*f = Report{Device: r.history.Device, Events: len(r.Requests.Events), Recorded: len(r.Requests.Events) - r.Before,
		Settings: r.history.Settings, PeakReserved: r.Recorded.PeakReserved()}
	if f.Recorded == 0 {
		f.Advice = Advice{Verdict: Unrecorded}
	}
	r.classify()
	f.Devices = r.history.Devices
	f.Peak, f.PeakAt = r.peak()
	f.Failure = r.failure()
	if f.Failure != nil {
		f.Capacity = f.Failure.Reserved + f.Failure.DeviceFree
	}
	return r, nil
}

// Examine returns the report about the recording of a profile. at is the event after which Alive
// is taken, or Decisive. The errors are the poll's and ErrNoRecording.
func Examine(p *profiles.Profile, at int, poll *engine.Poll) (*Report, error) {
	return profiles.Try(func() *Report {
		r, err := Read(p)
		profiles.End(err)
		out := r.Report(at)
		out.Replays, out.Advice = r.replays(poll)
		profiles.End(poll.Err())
		return out
	})
}

// Report returns the report without Replays and Advice, which take longer. If no events were recorded, there is nothing
// to replay, and Advice says so. Alive is taken after event at, which may be Decisive.
func (r *Recording) Report(at int) *Report {
	out := r.facts
	out.Alive, out.Growth, out.Curve = r.Alive(at), r.growth(), r.curve()
	return &out
}

// replays returns the replays with all settings, and the advice that follows from them.
func (r *Recording) replays(poll *engine.Poll) (list []Replay, a Advice) {
	if r.facts.Recorded == 0 {
		return nil, r.facts.Advice
	}
	for i := range Settings {
		list = append(list, r.listed(i, poll))
	}
	return list, r.advise(list, r.ownSettings(poll))
}

// Advise returns the advice, after replaying the settings that were not replayed yet. The errors are the poll's.
func (r *Recording) Advise(poll *engine.Poll) (Advice, error) {
	return profiles.Try(func() Advice {
		_, a := r.replays(poll)
		return a
	})
}

// placed reports whether a buffer's request succeeded.
func (r *Recording) placed(buffer int) bool { return r.Recorded.Addr[buffer] != alloc.NoAddr }

// site returns the name of the place in the program that requested a buffer.
func (r *Recording) site(buffer int) string {
	return cmp.Or(r.Requests.Buffers[buffer].Name, "no stack recorded")
}

// peak returns the most bytes in use, and the first event after which they are in use.
func (r *Recording) peak() (most engine.Bytes, at int) {
	var now engine.Bytes
	for i, e := range r.Requests.Events {
		if !r.placed(e.Buffer) {
			continue
		}
		n := r.Requests.Buffers[e.Buffer].Bytes
		if e.Free {
			n = -n
		}
		now += n
		if now > most && i >= r.Before-1 {
			most, at = now, i
		}
	}
	return most, at
}

// Point holds the most bytes in use and reserved over a range of events.
type Point struct {
	Event    int          `json:"event"`             // the first of the range
	Time     int64        `json:"time_us,omitempty"` // since the recording began; 0 if not recorded
	InUse    engine.Bytes `json:"in_use_bytes"`
	Reserved engine.Bytes `json:"reserved_bytes"`
}

// mostPoints is the largest number of points of a curve.
const mostPoints = 400

// curve returns the bytes in use and reserved over time.
func (r *Recording) curve() (list []Point) {
	n := len(r.Requests.Events)
	var now, held engine.Bytes
	levels := r.Recorded.Reserved
	for i, e := range r.Requests.Events {
		for len(levels) > 0 && levels[0].Event <= i {
			held, levels = levels[0].Bytes, levels[1:]
		}
		if b := r.Requests.Buffers[e.Buffer].Bytes; !r.placed(e.Buffer) {
		} else if e.Free {
			now -= b
		} else {
			now += b
		}
		if i < r.Before-1 { // earlier buffers existed all at once
			continue
		}
		if at := (i * mostPoints) / n; len(list) == 0 || at > (list[len(list)-1].Event*mostPoints)/n {
			p := Point{Event: i}
			if r.history.Times != nil {
				p.Time = r.history.Times[i]
			}
			list = append(list, p)
		}
		p := &list[len(list)-1]
		p.InUse, p.Reserved = max(p.InUse, now), max(p.Reserved, held)
	}
	return list
}

// Failure is a request that failed, with the memory at that time.
type Failure struct {
	At         int          `json:"at"`
	Site       string       `json:"site"`
	Bytes      engine.Bytes `json:"bytes"`
	InUse      engine.Bytes `json:"in_use_bytes"` // whole blocks, including their unused parts
	Reserved   engine.Bytes `json:"reserved_bytes"`
	DeviceFree engine.Bytes `json:"device_free_bytes"` // free memory of the device
	Free       engine.Bytes `json:"free_bytes"`        // all holes of the request's pool
	// Unmapped is the address space of expandable segments that has memory at another moment of
	// the recording but not at this one. Free does not contain it.
	Unmapped  engine.Bytes `json:"unmapped_bytes,omitempty"`
	HoleCount int          `json:"hole_count"` // number of holes in Free
	Holes     []Hole       `json:"holes"`      // the largest ones
}

// Hole is free memory between two neighbours.
type Hole struct {
	Addr    engine.Bytes `json:"addr"`
	Bytes   engine.Bytes `json:"bytes"`
	Missing engine.Bytes `json:"missing_bytes"` // bytes short of the request
	Below   Neighbour    `json:"below"`
	Above   Neighbour    `json:"above"`
}

// Neighbour is the buffer or the end of the segment that bounds a hole.
type Neighbour struct {
	End      bool         `json:"end_of_segment,omitempty"`
	Buffer   int          `json:"buffer"` // its number among the requests; 0 for an end
	Site     string       `json:"site,omitempty"`
	Category Category     `json:"category,omitempty"`
	Bytes    engine.Bytes `json:"bytes,omitempty"`
	Age      int          `json:"age_events,omitempty"` // since its request
	Stays    bool         `json:"stays,omitempty"`      // to the end of the recording
}

// mostHoles is the largest length of Failure.Holes.
const mostHoles = 5

func (r *Recording) failure() *Failure {
	f := r.Recorded.Failed
	if f == nil {
		return nil
	}
	out := &Failure{At: f.Event, Site: r.site(f.Buffer), Bytes: f.Bytes, DeviceFree: f.Unreserved}
	for _, v := range r.Recorded.Reserved {
		if v.Event <= f.Event {
			out.Reserved = v.Bytes
		}
	}
	for i := range r.Requests.Buffers {
		if r.Lives(i, f.Event) {
			out.InUse += r.Took(i)
		}
	}
	for _, h := range r.Memory.Holes(r.history, f.Event, f.Bytes) {
		out.Free += h.Bytes
		out.Holes = append(out.Holes, Hole{h.Addr, h.Bytes, max(0, f.Bytes-h.Bytes), r.neighbour(h.Below, f.Event),
			r.neighbour(h.Above, f.Event)})
	}
	if r.history.Expandable {
		out.Unmapped = r.Unmapped(f.Event)
	}
	out.HoleCount = len(out.Holes)
	slices.SortStableFunc(out.Holes, func(a, b Hole) int { return cmp.Compare(b.Bytes, a.Bytes) })
	out.Holes = out.Holes[:min(len(out.Holes), mostHoles)]
	return out
}

// neighbour describes a buffer next to a hole at event at; buffer is -1 for the end of a segment.
func (r *Recording) neighbour(buffer, at int) Neighbour {
	if buffer < 0 {
		return Neighbour{End: true}
	}
	b := &r.Requests.Buffers[buffer]
	return Neighbour{Buffer: buffer, Site: r.site(buffer), Category: r.kinds[buffer].category, Bytes: b.Bytes,
		Age: at - b.Start, Stays: b.End >= len(r.Requests.Events)}
}
