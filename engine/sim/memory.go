package sim

import (
	"memtide/engine"
)

// devCopy is one copy of a value on the device, from the acquisition of its room to its release. A value can have
// two copies: one that was freed but is not yet copied to the host, and one that was computed again.
type devCopy struct {
	value engine.ValueID
	size  engine.Bytes
	cat   Category
	life  int
	freed bool      // unusable for the schedule; it leaves when out and all reads have ended
	out   *transfer // its offload, queued or under way, or nil
	reads int       // the number of queued or running operations of other lanes that read it
}

func kindCategory(k engine.ValueKind) Category {
	switch k {
	case engine.KindGradient:
		return Gradient
	case engine.KindWeight, engine.KindState:
		return Fixed
	}
	return Activation
}

func (pl *player) newCopy(v engine.ValueID, cat Category, from SpanID) *devCopy {
	size := pl.g.Values[v].Size
	life := pl.openLife(Life{Value: v, Op: engine.NoOp, Category: cat, Bytes: size, From: from})
	if len(pl.copies) == 0 {
		pl.copies = make([]devCopy, 64)
	}
	c := &pl.copies[0]
	pl.copies = pl.copies[1:]
	c.value, c.size, c.cat, c.life = v, size, cat, life
	return c
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

// forget makes a copy unusable. Its bytes leave now, or when its offload and the operations of other lanes that
// read it have ended. The caller takes the sample, so that everything that a run forgets at its end leaves at once.
func (pl *player) forget(c *devCopy) {
	if at := &pl.places[c.value]; at.copy == c {
		at.copy = nil
	}
	c.freed = true
	pl.charge(c.cat, -c.size)
	switch {
	case c.out != nil:
		pl.charge(InTransfer, c.size-c.out.moved)
	case c.reads > 0:
		pl.charge(InTransfer, c.size)
	default:
		pl.closeLife(c.life)
	}
}

// leave releases a freed copy unless something still uses it. by is the span whose end may have released it.
func (pl *player) leave(c *devCopy, by SpanID) {
	if !c.freed || c.out != nil || c.reads > 0 {
		return
	}
	pl.charge(InTransfer, -c.size)
	pl.release = by
	pl.closeLife(c.life)
}

// room returns how many bytes are free.
func (pl *player) room() engine.Bytes { return pl.p.Budget - pl.inUse }

// sample records the memory in use now. Memory is linear between samples, so callers sample before and after every
// change.
func (pl *player) sample() {
	t := pl.t
	if n := len(t.Memory); n > 0 && t.Memory[n-1].At == pl.now && t.Memory[n-1].Used == pl.used {
		return
	}
	t.Memory = append(t.Memory, Sample{At: pl.now, Used: pl.used})
	if pl.inUse > t.Peak || len(t.Memory) == 1 {
		t.Peak, t.PeakAt = pl.inUse, pl.now
	}
}

// pin takes host memory for v at the start of its offload, unless the host has it already.
func (pl *player) pin(v engine.ValueID) {
	if at := &pl.places[v]; !at.onHost && !at.pinned {
		at.pinned = true
		pl.hostUse(pl.g.Values[v].Size)
	}
}

// unpin gives the host memory of v back if step is the last fetch of v.
func (pl *player) unpin(v engine.ValueID, step int) {
	if at := &pl.places[v]; at.pinned && step == at.lastOfAll {
		at.pinned, at.onHost = false, false
		pl.hostUse(-pl.g.Values[v].Size)
	}
}

func (pl *player) hostUse(n engine.Bytes) {
	pl.host += n
	pl.t.HostPeak = max(pl.t.HostPeak, pl.host)
	pl.t.Host = append(pl.t.Host, Point{At: pl.now, Used: pl.host})
}

// charge adds n bytes, which may be negative, to the memory in use.
func (pl *player) charge(c Category, n engine.Bytes) {
	pl.used[c] += n
	pl.inUse += n
}
