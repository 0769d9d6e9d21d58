//go:build lean

package serve

import "memtide/wasm/proto"

// export is not in this small build: the page asks its reader, which is not
// built like this.
func (s *Server) export(*proto.Export) (*proto.Exported, *proto.Failure) {
	return nil, proto.Fail(proto.BadRequest, "this program does not write schedules down")
}
