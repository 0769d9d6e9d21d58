package doctor

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// Failure is a request that found no room, and the room there was.
type Failure struct {
	At         int          `json:"at"`
	Site       string       `json:"site"`
	Bytes      engine.Bytes `json:"bytes"`
	InUse      engine.Bytes `json:"in_use_bytes"` // blocks, with what is lost inside them
	Reserved   engine.Bytes `json:"reserved_bytes"`
	DeviceFree engine.Bytes `json:"device_free_bytes"` // what the device had left
	Free       engine.Bytes `json:"free_bytes"`        // all holes of the request's pool
	// Unmapped is address space of expandable segments without memory, which is not in
	// Free: what they have at another moment of the recording.
	Unmapped  engine.Bytes `json:"unmapped_bytes,omitempty"`
	HoleCount int          `json:"hole_count"` // of Free
	Holes     []Hole       `json:"holes"`      // the largest of them
}

// Hole is free memory between two neighbours.
type Hole struct {
	Addr    engine.Bytes `json:"addr"`
	Bytes   engine.Bytes `json:"bytes"`
	Missing engine.Bytes `json:"missing_bytes"` // to what was asked for
	Below   Neighbour    `json:"below"`
	Above   Neighbour    `json:"above"`
}

// Neighbour is what a hole ends at: a buffer, or the end of the segment.
type Neighbour struct {
	End      bool         `json:"end_of_segment,omitempty"`
	Buffer   int          `json:"buffer"` // its number among the requests; of an end 0
	Site     string       `json:"site,omitempty"`
	Category Category     `json:"category,omitempty"`
	Bytes    engine.Bytes `json:"bytes,omitempty"`
	Age      int          `json:"age_events,omitempty"` // since it was asked for
	Stays    bool         `json:"stays,omitempty"`      // to the end of the recording
}

// mostHoles is how many holes are told.
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

// neighbour returns a buffer as that of a hole at an event; -1 is the end of a segment.
func (r *Recording) neighbour(buffer, at int) Neighbour {
	if buffer < 0 {
		return Neighbour{End: true}
	}
	b := &r.Requests.Buffers[buffer]
	return Neighbour{Buffer: buffer, Site: r.site(buffer), Category: r.kinds[buffer].category, Bytes: b.Bytes,
		Age: at - b.Start, Stays: b.End >= len(r.Requests.Events)}
}
