package serve

import (
	"os"
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// A file with a chain and operations is answered with the sums of both; the
// operations are solved where they are asked for.
func TestTwoWays(t *testing.T) {
	data, err := os.ReadFile("../../profiles/formats/pipedream/testdata/branchy.graph.txt")
	if err != nil {
		t.Fatal(err)
	}
	server := new(Server)
	reply, _ := ask(t, server, &proto.Request{Op: proto.OpOpen, Open: &proto.Open{File: "branchy.graph.txt", Bytes: data}})
	opened := reply.Opened
	if opened == nil || opened.GraphTotals.Ops == 0 || opened.Totals.Stages == 0 {
		t.Fatalf("opened %+v; want a chain and operations with their sums", opened)
	}
	if g, c := opened.GraphTotals, opened.Totals; g.Forward != c.Forward || g.KeepAllPeak <= 0 {
		t.Errorf("the operations take %v forward and %d bytes; want %v as the chain, and some", g.Forward, g.KeepAllPeak, c.Forward)
	}
	solve := func(n proto.Network, strategy string) *proto.Reply {
		q := &proto.Solve{Method: proto.Method{Strategy: strategy}, Budget: choice.Budget{Share: 100 * choice.Percent}}
		q.Network, q.Device = n, engine.Device{ToHost: 12_500_000_000, ToDev: 12_500_000_000}
		r, _ := ask(t, server, &proto.Request{Op: proto.OpSolve, Solve: q})
		return r
	}
	operations := proto.Network{Profile: opened.Profile, Graph: true}
	for _, name := range []string{"keepall", "window", "lms"} {
		r := solve(operations, name)
		if r.Solved == nil || !r.Solved.Verdict.Verified || r.Solved.Budget != opened.GraphTotals.KeepAllPeak {
			t.Errorf("%s on the operations: %+v, %v; want it verified, in %d", name, r.Solved, r.Failure, opened.GraphTotals.KeepAllPeak)
		}
	}
	if r := solve(operations, "rotor"); r.Failure == nil || r.Failure.Kind != proto.Unsupported {
		t.Errorf("rotor on the operations: %v; want that it does not apply", r.Failure)
	}
	if r := solve(proto.Network{Profile: opened.Profile}, "rotor"); r.Failure != nil {
		t.Errorf("rotor on the chain: %v", r.Failure)
	}
	if r := solve(proto.Network{Preset: "vgg16-b1", Graph: true}, "window"); r.Failure == nil || r.Failure.Kind != proto.BadRequest {
		t.Errorf("the operations of what lists none: %v; want a bad request", r.Failure)
	}
}
