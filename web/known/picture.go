package known

import (
	"memtide/engine"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/draw"
)

// Picture is a schedule that was found, with the choice that asked for it.
type Picture struct {
	ID      int // of the request
	Choice  choice.Choice
	Network *Network
	Solved  *proto.Solved
	Partial bool // best so far of a solver that is at work or was stopped

	model  *draw.Model              // made when it is asked for
	placed map[string]*proto.Placed // by method, see Placeable
}

// Problem returns what the picture's schedule solves.
func (p *Picture) Problem() *engine.Problem {
	c := p.Choice
	return &engine.Problem{
		Graph: p.Network.Graph, Chain: p.Network.Chain,
		Device:    engine.Device{Name: c.Device, ToHost: c.ToHost, ToDev: c.ToDev, Duplex: c.Duplex},
		Transfers: c.Transfers,
		Budget:    p.Solved.Budget,
	}
}

// Model returns the picture's trace, arranged for drawing.
func (p *Picture) Model() *draw.Model {
	if p.model == nil {
		p.model = draw.NewModel(p.Problem(), p.Solved.Trace)
	}
	return p.model
}

// Gaps returns the picture's waits.
func (p *Picture) Gaps() []sim.Gap { return p.Solved.Trace.Gaps }

// Tally counts the layers of a picture, a loss aside, that are computed again and that
// are copied to the host.
func (p *Picture) Tally() (again, out int) {
	_, by := p.Model().Tally()
	return by[sim.Recompute] + by[sim.Recompute|sim.Offload], by[sim.Offload] + by[sim.Recompute|sim.Offload]
}
