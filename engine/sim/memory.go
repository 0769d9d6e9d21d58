package sim

import (
	"memtide/engine"
)

// devCopy is one copy of a value on the device, from the acquisition of its
// room to its release. A value can have two: one that is leaving, freed but not
// yet copied to the host, and one that was computed again.
type devCopy struct {
	value engine.ValueID
	size  engine.Bytes
	cat   Category
	life  int
	whole bool      // it can be read; false while it is computed or fetched
	freed bool      // forgotten by the schedule, waiting for out
	out   *transfer // its offload, queued or under way
}

func kindCategory(k engine.ValueKind) Category {
	switch k {
	case engine.KindGradient:
		return Gradient
	case engine.KindWeight:
		return Fixed
	}
	return Activation
}

func (pl *player) newCopy(v engine.ValueID, cat Category, from SpanID) *devCopy {
	size := pl.g.Values[v].Size
	life := pl.openLife(Life{Value: v, Op: engine.NoOp, Category: cat, Bytes: size, From: from})
	return &devCopy{value: v, size: size, cat: cat, life: life}
}

func (pl *player) openLife(l Life) int {
	l.Start, l.End, l.StartSeq, l.EndSeq = pl.now, -1, pl.seq, -1
	pl.seq++
	pl.t.Lives = append(pl.t.Lives, l)
	return len(pl.t.Lives) - 1
}

func (pl *player) closeLife(i int) {
	pl.t.Lives[i].End, pl.t.Lives[i].EndSeq = pl.now, pl.seq
	pl.seq++
}

// forget makes a copy unusable. Its bytes leave now, or with its offload. The
// caller takes the sample: what a run forgets at its end leaves at once.
func (pl *player) forget(c *devCopy) {
	if pl.copies[c.value] == c {
		pl.copies[c.value] = nil
	}
	c.freed = true
	pl.used[c.cat] -= c.size
	if c.out == nil {
		pl.closeLife(c.life)
	} else {
		pl.used[InTransfer] += c.size - c.out.left()
	}
}

func (pl *player) total() (sum engine.Bytes) {
	for _, b := range pl.used {
		sum += b
	}
	return sum
}

// room is how many bytes are free.
func (pl *player) room() engine.Bytes { return pl.p.Budget - pl.total() }

// sample notes the memory in use now. Ramps are linear between samples, so one
// is taken before and after every change.
func (pl *player) sample() {
	s := Sample{At: pl.now, Used: pl.used}
	if n := len(pl.t.Memory); n > 0 && pl.t.Memory[n-1] == s {
		return
	}
	pl.t.Memory = append(pl.t.Memory, s)
	if total := s.Total(); total > pl.t.Peak || len(pl.t.Memory) == 1 {
		pl.t.Peak, pl.t.PeakAt = total, pl.now
	}
}

// host is the pinned memory that holds offloaded values.
type host struct {
	has       []bool // a complete copy is there
	pinned    []bool // memory was taken for it
	lastFetch []int  // the last step that fetches the value, -1 if none does
	used      engine.Bytes
}

func newHost(g *engine.Graph, s engine.Schedule) host {
	n := len(g.Values)
	h := host{has: make([]bool, n), pinned: make([]bool, n), lastFetch: make([]int, n)}
	for v := range g.Values {
		h.has[v] = g.Values[v].Initial&engine.OnHost != 0
		h.lastFetch[v] = -1
	}
	for i := range s {
		if st := &s[i]; st.Kind == engine.StepFetch && st.Value >= 0 && int(st.Value) < n {
			h.lastFetch[st.Value] = i
		}
	}
	return h
}

// pin takes host memory for v at the start of its offload, unless it is there.
func (pl *player) pin(v engine.ValueID) {
	if h := &pl.host; !h.has[v] && !h.pinned[v] {
		h.pinned[v] = true
		pl.hostUse(pl.g.Values[v].Size)
	}
}

// unpin gives it back at the end of the last fetch of v.
func (pl *player) unpin(v engine.ValueID, step int) {
	if h := &pl.host; h.pinned[v] && step == h.lastFetch[v] {
		h.pinned[v], h.has[v] = false, false
		pl.hostUse(-pl.g.Values[v].Size)
	}
}

func (pl *player) hostUse(n engine.Bytes) {
	pl.host.used += n
	pl.t.HostPeak = max(pl.t.HostPeak, pl.host.used)
	pl.t.Host = append(pl.t.Host, Point{At: pl.now, Used: pl.host.used})
}
