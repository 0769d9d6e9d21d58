package doctor

import (
	"cmp"
	"slices"

	"memtide/engine"
	"memtide/profiles"
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
	var used []int
	for i := range r.Requests.Buffers {
		if r.lives(i, f.Event) {
			used = append(used, i)
			out.InUse += r.took(i)
		}
	}
	slices.SortFunc(used, func(a, b int) int { return cmp.Compare(r.Recorded.Addr[a], r.Recorded.Addr[b]) })
	for _, s := range r.PoolAt(r.Recorded, r.history, f.Event, f.Bytes) {
		out.Holes = append(out.Holes, r.holesIn(s, used, f.Event)...)
	}
	for i := range out.Holes {
		h := &out.Holes[i]
		out.Free += h.Bytes
		h.Missing = max(0, f.Bytes-h.Bytes)
	}
	if r.history.Expandable {
		out.Unmapped = r.Unmapped(f.Event)
	}
	out.HoleCount = len(out.Holes)
	slices.SortStableFunc(out.Holes, func(a, b Hole) int { return cmp.Compare(b.Bytes, a.Bytes) })
	out.Holes = out.Holes[:min(len(out.Holes), mostHoles)]
	return out
}

// holesIn returns the holes of a segment between the buffers in use, which are by address.
func (r *Recording) holesIn(s profiles.Segment, used []int, at int) (list []Hole) {
	addr := r.Recorded.Addr
	k, _ := slices.BinarySearchFunc(used, s.Addr, func(i int, at engine.Bytes) int { return cmp.Compare(addr[i], at) })
	from, below := s.Addr, Neighbour{End: true}
	hole := func(to engine.Bytes, above Neighbour) {
		if to > from {
			list = append(list, Hole{Addr: from, Bytes: to - from, Below: below, Above: above})
		}
	}
	for ; k < len(used) && addr[used[k]] < s.Addr+s.Size; k++ {
		i := used[k]
		b := &r.Requests.Buffers[i]
		n := Neighbour{Buffer: i, Site: r.site(i), Category: r.kinds[i].category, Bytes: b.Bytes, Age: at - b.Start,
			Stays: b.End >= len(r.Requests.Events)}
		hole(addr[i], n)
		from, below = max(from, addr[i]+r.took(i)), n
	}
	hole(s.Addr+s.Size, Neighbour{End: true})
	return list
}
