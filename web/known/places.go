package known

import (
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/draw"
)

// Places is a placement of the buffers of a picture or a file.
type Places struct {
	Of      Placeable
	Placed  *proto.Placed  // nil if there is none: Failure says why
	Failure *proto.Failure // also set with the best placement so far of a search that was stopped

	model *draw.Places // cached by Model
}

// Placeable identifies a placement: of the buffers of a picture's schedule or, if Memory
// is not nil, of a file, by a method.
type Placeable struct {
	Picture *Picture
	Memory  *Memory
	Method  string // the choice.MethodKey of an allocator and its arguments
}

// found returns the map of the picture or the file that keeps placements by method.
func (of Placeable) found() *map[string]*proto.Placed {
	if of.Memory == nil {
		return &of.Picture.placed
	}
	return &of.Memory.placed
}

// Places returns the placement that was kept before or, for proto.Recorded, that of the file.
// It returns nil if there is none.
func (of Placeable) Places(allocator string) *Places {
	placed := (*of.found())[of.Method]
	if of.Memory != nil && allocator == proto.Recorded {
		placed = of.Memory.Data.Recorded
	}
	if placed == nil {
		return nil
	}
	return &Places{Of: of, Placed: placed}
}

// Keep stores the placement with its picture or its file.
func (p *Places) Keep() {
	found := p.Of.found()
	if *found == nil {
		*found = map[string]*proto.Placed{}
	}
	(*found)[p.Of.Method] = p.Placed
}

// Request returns the request for a placement. limit is the most time that the search may take, 0 for no limit.
func (of Placeable) Request(allocator string, args engine.Args, limit time.Duration) proto.Place {
	q := proto.Place{Allocator: allocator, Args: args, Limit: limit}
	if m := of.Memory; m != nil {
		q.Buffers, q.Pool = m.Data.Buffers, m.Data.Capacity
		return q
	}
	p := of.Picture
	q.Setting = p.Network.Setting(p.Choice)
	q.Budget, q.Schedule = p.Solved.Budget, p.Solved.Schedule
	return q
}

// Model returns the placement, arranged for drawing, or nil if there is none. p may be nil.
func (p *Places) Model() *draw.Places {
	if p == nil || p.Placed == nil {
		return nil
	}
	if p.model == nil {
		p.model = draw.NewPlaces(p.placement())
	}
	return p.model
}

// placement converts the placement to the types of package draw.
func (p *Places) placement() draw.Placement {
	out := draw.Placement{Pool: p.Placed.Pool, PeakAt: p.Placed.PeakAt}
	out.Blocks = make([]draw.Block, len(p.Placed.Pieces))
	for i, x := range p.Placed.Pieces {
		out.Blocks[i] = draw.Block{Buffer: x.Buffer, Addr: x.Addr, Bytes: x.Bytes}
	}
	if m := p.Of.Memory; m != nil {
		b := m.Data.Buffers
		out.End, out.Tick = m.End, b.Tick
		out.Name = func(i int) (string, string) { return b.List[i].Name, "" }
		for i := range out.Blocks {
			x, l := &out.Blocks[i], &b.List[out.Blocks[i].Buffer]
			x.From, x.To, x.Asked, x.Kind = b.At(l.Start), b.At(l.End), l.Bytes, l.Kind
		}
	} else {
		t, model := p.Of.Picture.Solved.Trace, p.Of.Picture.Index()
		out.End, out.Name, out.Host = t.Makespan, model.LifeName, t.Host
		for i := range out.Blocks {
			x, l := &out.Blocks[i], &t.Lives[out.Blocks[i].Buffer]
			x.From, x.To, x.Asked, x.Kind = l.Start, l.End, l.Bytes, l.Category
		}
	}
	out.Levels = make([]draw.Level, len(p.Placed.Moments))
	for i, m := range p.Placed.Moments {
		out.Levels[i] = draw.Level(m)
	}
	if f := p.Placed.Failed; f != nil {
		out.Failed = &draw.FailedRequest{At: p.Placed.FailAt, Buffer: f.Buffer, Bytes: f.Bytes, Largest: f.Largest,
			Free: f.Free, HoleAt: p.Placed.Largest.Addr}
	}
	return out
}
