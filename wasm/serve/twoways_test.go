package serve

import (
	"os"
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// TestTwoWays checks that a file with a chain and operations is opened with the totals of both, and that the
// operations are solved if the request asks for them.
func TestTwoWays(t *testing.T) {
	data, err := os.ReadFile("../../profiles/formats/pipedream/testdata/branchy.graph.txt")
	if err != nil {
		t.Fatal(err)
	}
	server := new(Server)
	opened, _, _ := ask(t, server, &proto.Open{File: "branchy.graph.txt", Bytes: data})
	if opened == nil || opened.GraphTotals.Ops == 0 || opened.Totals.Stages == 0 {
		t.Fatalf("opened %+v; want a chain and operations with their sums", opened)
	}
	if g, c := opened.GraphTotals, opened.Totals; g.Forward != c.Forward || g.KeepAllPeak <= 0 {
		t.Errorf("the operations take %v forward and %d bytes; want %v as the chain, and some", g.Forward,
			g.KeepAllPeak, c.Forward)
	}
	solve := func(n proto.Network, strategy string) (*proto.Solved, *proto.Failure) {
		q := &proto.Solve{Method: proto.Method{Strategy: strategy}, Budget: choice.Budget{Share: 100 * choice.Percent}}
		q.Network, q.Device = n, engine.Device{ToHost: 12_500_000_000, ToDev: 12_500_000_000}
		solved, fail, _ := ask(t, server, q)
		return solved, fail
	}
	operations := proto.Network{Profile: opened.Profile, Graph: true}
	for _, name := range []string{"keepall", "window", "lms"} {
		solved, fail := solve(operations, name)
		if solved == nil || !solved.Verdict.Verified || solved.Budget != opened.GraphTotals.KeepAllPeak {
			t.Errorf("%s on the operations: %+v, %v; want it verified, in %d", name, solved, fail,
				opened.GraphTotals.KeepAllPeak)
		}
	}
	if _, fail := solve(operations, "rotor"); fail == nil || fail.Kind != proto.Unsupported {
		t.Errorf("rotor on the operations: %v; want that it does not apply", fail)
	}
	if _, fail := solve(proto.Network{Profile: opened.Profile}, "rotor"); fail != nil {
		t.Errorf("rotor on the chain: %v", fail)
	}
	if _, fail := solve(proto.Network{Preset: "vgg16-b1", Graph: true}, "window"); fail == nil ||
		fail.Kind != proto.BadRequest {
		t.Errorf("the operations of what lists none: %v; want a bad request", fail)
	}
}
