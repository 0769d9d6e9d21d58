package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"memtide/engine"
)

// Lanes returns a random problem with operations on the network and the host's CPU and without a memory limit, and a
// schedule for it that can be played. Sizes are multiples of unit, and times of tick. Zeros and ties are frequent.
func Lanes(r *rand.Rand, unit engine.Bytes, tick time.Duration, rate engine.Rate) (*engine.Problem, engine.Schedule) {
	b := &lanesBuilder{r: r, unit: unit, tick: tick,
		g: &engine.Graph{Done: engine.NoValue, Fixed: engine.Bytes(r.IntN(3)) * unit}}
	for range 2 + r.IntN(3) {
		b.value(engine.Place(1 + r.IntN(3)))
	}
	for range 5 + r.IntN(12) {
		switch k := r.IntN(10); {
		case k < 5:
			b.operation()
		case k == 5:
			b.runAgain()
		default:
			b.move()
			b.move()
		}
	}
	if len(b.g.Ops) == 0 {
		b.operation()
	}
	device := engine.Device{ToHost: rate, ToDev: rate, Duplex: engine.Duplex(r.IntN(2))}
	return &engine.Problem{Graph: b.g, Device: device, Budget: engine.NoLimit}, b.s
}

// lanesBuilder records where values are or will be, in the order of the schedule.
type lanesBuilder struct {
	r      *rand.Rand
	unit   engine.Bytes
	tick   time.Duration
	g      *engine.Graph
	s      engine.Schedule
	dev    []bool // by value: on the device or on its way there
	coming []bool // by value: may still be on its way to the device
	host   []bool // by value: on the host or on its way there
	sent   []bool // by value: offloaded before
}

func (b *lanesBuilder) value(at engine.Place) engine.ValueID {
	id := engine.ValueID(len(b.g.Values))
	b.g.Values = append(b.g.Values, engine.Value{Name: fmt.Sprint("v", id), Kind: engine.ValueKind(b.r.IntN(3)),
		Size: engine.Bytes(b.r.IntN(6)) * b.unit, Initial: at, PartOf: engine.NoValue})
	b.dev, b.coming = append(b.dev, at&engine.OnDevice != 0), append(b.coming, false)
	b.host, b.sent = append(b.host, at&engine.OnHost != 0), append(b.sent, false)
	return id
}

// operation adds an operation of any lane, and a run of it.
func (b *lanesBuilder) operation() {
	op := engine.Op{Name: fmt.Sprint("op", len(b.g.Ops)), Time: time.Duration(b.r.IntN(6)) * b.tick,
		Lane: engine.Lane(b.r.IntN(3)), Pass: engine.Pass(b.r.IntN(2))}
	from := b.dev
	if op.Lane == engine.LaneCPU {
		from = b.host
	} else {
		op.Temp = engine.Bytes(b.r.IntN(4)) * b.unit
	}
	for v := range from {
		if from[v] && b.r.IntN(3) == 0 {
			op.In = append(op.In, engine.ValueID(v))
		}
	}
	for a := range b.g.Ops {
		if b.r.IntN(6) == 0 {
			op.After = append(op.After, engine.OpID(a))
		}
	}
	for range b.r.IntN(3) {
		op.Out = append(op.Out, b.value(0))
	}
	b.g.Ops = append(b.g.Ops, op)
	b.run(engine.OpID(len(b.g.Ops) - 1))
}

func (b *lanesBuilder) run(id engine.OpID) {
	op := &b.g.Ops[id]
	b.s = append(b.s, engine.Run(id))
	for _, v := range op.In {
		if op.Lane == engine.LaneCompute {
			b.coming[v] = false
		}
	}
	for _, v := range op.Out {
		if op.Lane == engine.LaneCPU {
			b.host[v] = true
		} else {
			b.dev[v], b.coming[v] = true, op.Lane == engine.LaneNetwork
		}
	}
}

// runAgain runs the first operation of the network that can run again, if there is one.
func (b *lanesBuilder) runAgain() {
	for i := range b.g.Ops {
		op := &b.g.Ops[i]
		if op.Lane == engine.LaneNetwork && op.Pass == engine.Forward && len(op.Out) > 0 &&
			!slices.ContainsFunc(op.Out, func(v engine.ValueID) bool { return b.dev[v] }) &&
			!slices.ContainsFunc(op.In, func(v engine.ValueID) bool { return !b.dev[v] }) {
			b.run(engine.OpID(i))
			return
		}
	}
}

// move offloads, frees, fetches or waits for a value.
func (b *lanesBuilder) move() {
	id := engine.ValueID(b.r.IntN(len(b.g.Values)))
	if b.dev[id] && b.coming[id] {
		b.s, b.coming[id] = append(b.s, engine.Wait(id)), false
	}
	if b.r.IntN(3) == 0 {
		b.s, b.coming[id] = append(b.s, engine.Wait(id)), false
	}
	switch k := b.r.IntN(3); {
	case !b.dev[id] && b.host[id]:
		fetch := engine.Fetch(id, time.Duration(b.r.IntN(2)*b.r.IntN(9))*b.tick)
		fetch.Reserve = b.r.IntN(3) == 0
		b.s = append(b.s, fetch)
		b.dev[id], b.coming[id] = true, true
	case !b.dev[id]:
	case k == 0 && !b.host[id] && !b.sent[id]:
		b.s = append(b.s, engine.Offload(id))
		b.host[id], b.sent[id] = true, true
	case k < 2:
		b.s = append(b.s, engine.Free(id))
		b.dev[id] = false
	}
}
