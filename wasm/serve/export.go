package serve

import (
	"memtide/engine"
	"memtide/wasm/proto"
)

// Exporter writes a schedule down. network builds the problem that a request names,
// and tells its name; the problem is the exporter's own copy.
type Exporter func(q *proto.Export, network func(*proto.Network) (string, engine.Problem, *proto.Failure)) (*proto.Exported, *proto.Failure)

var exporter Exporter

// RegisterExporter makes this program one that writes schedules: see package
// serve/export. It panics if there is an exporter already.
func RegisterExporter(e Exporter) {
	if exporter != nil {
		panic("serve: an exporter is registered twice")
	}
	exporter = e
}

// export writes a schedule down. A program without an exporter, like the page, asks
// the second program.
func (s *Server) export(q *proto.Export) (*proto.Exported, *proto.Failure) {
	if exporter == nil {
		return nil, proto.Fail(proto.BadRequest, "this program cannot write schedules")
	}
	return exporter(q, func(n *proto.Network) (string, engine.Problem, *proto.Failure) {
		nw, fail := s.network(n)
		if fail != nil {
			return "", engine.Problem{}, fail
		}
		return nw.profile.Name, nw.problem, nil
	})
}
