package serve

import (
	"context"

	"memtide/engine"
	"memtide/profiles"
	"memtide/wasm/proto"
)

// Placer answers about addresses. See package serve/addresses, which registers it.
type Placer struct {
	// Place looks for addresses. network is the problem that a request names, the
	// placer's own copy.
	Place func(ctx context.Context, q *proto.Place, network func(*proto.Network) (engine.Problem, *proto.Failure), emit func(*proto.Reply)) (*proto.Placed, *proto.Failure)
	// Open is a file about addresses, for the page.
	Open func(p *profiles.Profile, poll *engine.Poll) (*proto.Opened, *proto.Failure)
}

var placer Placer

// RegisterPlacer makes this program one that answers about addresses. It panics if
// there is a placer already.
func RegisterPlacer(p Placer) {
	if placer.Place != nil {
		panic("serve: a placer is registered twice")
	}
	placer = p
}

// place looks for addresses. A program without a placer, like the page, asks the second
// program.
func (s *Server) place(ctx context.Context, q *proto.Place, emit func(*proto.Reply)) (*proto.Placed, *proto.Failure) {
	if placer.Place == nil {
		return nil, proto.Fail(proto.Elsewhere, "this program cannot place buffers")
	}
	return placer.Place(ctx, q, func(n *proto.Network) (engine.Problem, *proto.Failure) {
		nw, fail := s.network(n)
		if fail != nil {
			return engine.Problem{}, fail
		}
		return nw.problem, nil
	}, emit)
}

// openMemory is a file about addresses, for the page.
func openMemory(p *profiles.Profile, poll *engine.Poll) (*proto.Opened, *proto.Failure) {
	if placer.Open == nil {
		return nil, proto.Fail(proto.Elsewhere, "this program cannot open files about addresses")
	}
	return placer.Open(p, poll)
}
