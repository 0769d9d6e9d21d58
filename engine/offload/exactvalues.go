package offload

import (
	"slices"
	"time"

	"memtide/engine"
)

// parcel is a value that may travel: an activation x_0..x_n, or a gradient that one operation waits
// for.
type parcel struct {
	id      engine.ValueID
	grad    bool // it is a gradient
	size    engine.Bytes
	out, in time.Duration // times of its transfers
	made    int           // number of operations that have ended when it is made
	uses    []absence     // one before each operation that reads it
	latest  int           // the operation after the last absence that is worth it
}

// absence is the time before a reader of a value and after its previous reader or its maker.
type absence struct {
	from, until int // the operations in between are from..until-1; operation until reads the value
	// worth reports whether anything can be gained if the value is away then: see newParcels.
	worth bool
}

// newParcels returns the values of a chain that have bytes and can be away. An unsaved output is a
// value of its own, and the next stage does not read the saved set of its stage. Gradients matter
// in two ways. The gradient of the loss may be held from the start, and be away during the forward
// pass. Every other gradient is read by the operation after the one that makes it, so no operation
// runs while it is away.
//
// A value is away to make room. An operation that fits with everything on the device needs no room,
// and neither do transfers just before it. So there has to be an operation that exceeds the budget,
// in an absence or right after it. The second case is of use in full duplex only, where a fetch can
// take the room until an offload has made more. In half duplex, the time between two operations is
// best used for all its offloads and then for all its fetches, and values that are on the device
// before and after them can stay.
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

// absence returns the current or next absence of a value at a moment, or nil if no operation will
// read the value again.
func (v *parcel) absence(m *moment) *absence {
	done := int(m.done)
	if m.running {
		done++ // the values that it reads are on the device
	}
	for k := range v.uses {
		if v.uses[k].until >= done {
			return &v.uses[k]
		}
	}
	return nil
}

// later reports whether an absence that begins after done or more operations is worth it.
func (v *parcel) later(done int) bool {
	return slices.ContainsFunc(v.uses, func(a absence) bool { return a.from >= done && a.worth })
}

// reads reports whether operation k reads the value.
func (v *parcel) reads(k int) bool {
	return slices.ContainsFunc(v.uses, func(a absence) bool { return a.until == k })
}
