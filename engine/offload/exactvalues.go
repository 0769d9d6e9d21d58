package offload

import (
	"time"

	"memtide/engine"
)

// parcel is a value that may travel: an activation x_0..x_n, or a gradient that
// one operation waits for.
type parcel struct {
	id      engine.ValueID
	grad    bool
	size    engine.Bytes
	out, in time.Duration // how long it travels
	made    int           // how many operations have ended when it comes to be
	uses    []absence     // one before each operation that reads it
	latest  int           // the operation after the last absence that is worth it
}

// absence is the time before a reader of a value, and after its last reader or
// its maker.
type absence struct {
	from, until int // the operations in between are from..until-1; operation until reads the value
	// worth tells whether anything can be gained if the value is away then: see
	// newParcels.
	worth bool
}

// newParcels returns the values of a chain that take room and can be away. An output
// that no backward reads is one of its own, and the next stage does without the saved
// set that it is not in. Gradients matter in two ways. That of the loss may be held from the start, and be away
// during the forward pass. The others are read by the operation after the one that
// makes them, so no operation runs while they are away.
//
// A value is away to make room. An operation that has room with everything on the
// device, and what happens before it and after the one before, need none. So there
// has to be an operation that needs too much, in an absence or right after it. The
// second is of use in full duplex only, where a fetch can take the room until an
// offload has made some: in half duplex the time between two operations is best
// used for all its offloads and then for all its fetches, and what is there before
// and after them may as well stay.
func newParcels(s *step, over []engine.Bytes, full bool) (all []parcel) {
	g, n := s.p.Chain, s.n
	dev := s.p.Device
	add := func(id engine.ValueID, grad bool, made int, readers ...int) {
		size := g.Values[id].Size
		if size == 0 {
			return
		}
		v := parcel{id: id, grad: grad, size: size, out: dev.ToHost.Time(size), in: dev.ToDev.Time(size), made: made}
		from := made
		for _, until := range readers {
			a := absence{from: from, until: until, worth: full && over[until] > 0}
			for k := from; k < until; k++ {
				a.worth = a.worth || over[k] > 0
			}
			if a.worth {
				v.latest = until
			}
			v.uses, from = append(v.uses, a), until+1
		}
		all = append(all, v)
	}
	add(item(g, 0), false, 0, 0, 2*n-1)
	for i := 1; i < n; i++ {
		if g.Chain.Unsaved(i) {
			add(g.Act(i), false, i, i)
			add(item(g, i), false, i, 2*n-i)
			continue
		}
		add(item(g, i), false, i, i, 2*n-1-i, 2*n-i)
	}
	add(item(g, n), false, n, n)
	if !g.Chain.LossGradAllocated {
		add(g.Grad(n), true, 0, n)
	}
	for k := n - 1; k >= 1; k-- {
		add(g.Grad(k), true, 2*n-k, 2*n-k)
	}
	return all
}

// absence returns the absence of a value in which a moment is, or that comes next; nil
// if nothing will read the value any more.
func (v *parcel) absence(m *moment) *absence {
	done := int(m.done)
	if m.running {
		done++ // what it reads is there
	}
	for k := range v.uses {
		if v.uses[k].until >= done {
			return &v.uses[k]
		}
	}
	return nil
}

// later reports whether an absence that begins after done operations or more is worth it.
func (v *parcel) later(done int) bool {
	for k := range v.uses {
		if v.uses[k].from >= done && v.uses[k].worth {
			return true
		}
	}
	return false
}

// reads reports whether operation k reads the value.
func (v *parcel) reads(k int) bool {
	for j := range v.uses {
		if v.uses[j].until == k {
			return true
		}
	}
	return false
}
