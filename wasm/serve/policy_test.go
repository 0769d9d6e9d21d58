package serve

import (
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// TestPolicy checks that a schedule under a policy is about the blocks as the policy leaves them, which it brings, and
// is compared with keeping everything of the network without it. It fits no budget below its peak.
func TestPolicy(t *testing.T) {
	server := new(Server)
	solve := func(options engine.Args, budget engine.Bytes) (*proto.Solved, *proto.Failure) {
		q := &proto.Solve{Method: proto.Method{Strategy: engine.KeepAll}, Budget: choice.Budget{Bytes: budget}}
		q.Network = proto.Network{Preset: "gpt2-step-b1", Options: options}
		if options != nil {
			q.Network.Model = "gpt2"
		}
		solved, fail, _ := ask(t, server, q)
		return solved, fail
	}
	all, fail := solve(nil, engine.NoLimit)
	if fail != nil {
		t.Fatal(fail)
	}
	under := engine.Args{"batch": "1", "seq": "1024", "ckpt": "full"}
	got, fail := solve(under, engine.NoLimit)
	if fail != nil {
		t.Fatal(fail)
	}
	if got.Chain == nil || all.Chain != nil || got.Chain.Stages[2].Again <= 0 || !got.Verdict.Verified {
		t.Errorf("under a policy the chain is %+v, without %+v, %+v; want blocks that compute again, verified", got.Chain,
			all.Chain, got.Verdict)
	}
	if got.KeepAll != all.KeepAll || got.Claim.Peak >= all.Claim.Peak || got.Claim.StepTime <= all.Claim.StepTime {
		t.Errorf("%+v beside %+v; everything kept: %+v beside %+v; want less memory, more time, the same reference",
			got.Claim, all.Claim, got.KeepAll, all.KeepAll)
	}
	if _, fail := solve(under, got.Claim.Peak-1); fail == nil || fail.Kind != proto.Infeasible {
		t.Errorf("one byte less than the peak: %v; want that it does not fit", fail)
	}
	if _, fail := solve(engine.Args{"ckpt": "budget", "graph": "model"}, engine.NoLimit); fail == nil ||
		fail.Kind != proto.BadRequest {
		t.Errorf("one graph of all blocks: %v; want that it is no chain of blocks", fail)
	}
}
