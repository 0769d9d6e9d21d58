package llm

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	_ "memtide/engine/lanes"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/formats/native"
)

// profileOf returns a step as a chain and as operations.
func profileOf(s Setup, c *Card) (*profiles.Profile, error) {
	return profiles.Try(func() *profiles.Profile { return s.keeping().profile(c, asChain|asGraph) })
}

// stepGraph returns the problem of a step's operations on a card with its link.
func stepGraph(t *testing.T, s Setup) *engine.Problem {
	t.Helper()
	p, err := profileOf(s, CardOf("H100"))
	if err != nil {
		t.Fatal(err)
	}
	problem := &engine.Problem{Graph: p.Graph, Device: engine.Device{ToHost: 50e9, ToDev: 50e9}, Budget: engine.NoLimit}
	if err := problem.Validate(); err != nil {
		t.Fatal(err)
	}
	return problem
}

// played returns the verified trace of what a strategy plans within the budget of p.
func played(t *testing.T, p *engine.Problem, strategy string) *sim.Trace {
	t.Helper()
	sol, err := engine.Lookup(strategy).Solve(p, nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", strategy, err)
	}
	tr, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Fatalf("%s: %v", strategy, err)
	}
	if err := check.Trace(p, sol.Schedule, tr); err != nil {
		t.Errorf("%s: %v", strategy, err)
	}
	if tr.Makespan != sol.Makespan || tr.Peak != sol.Peak {
		t.Errorf("%s: claims %v and %d bytes; played %v and %d", strategy, sol.Makespan, sol.Peak, tr.Makespan, tr.Peak)
	}
	return tr
}

// TestGraphIsTheStep checks that the operations that keep everything have the peak of the program, to the byte,
// and its time. The first gather and the last reduction have nothing to overlap with, so the graph may take
// longer by these. With the optimizer on the host it may take less, since that overlaps with the backward.
func TestGraphIsTheStep(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Setup
	}{
		{"one card", Setup{Model: Lookup("llama3.2-1b"), Work: Work{Seq: 4096},
			Precision: Precision{Weight: 2, Moments: 4}, Code: Code{Norm: "eager"}}},
		{"shared", Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 8192},
			Precision: Precision{Weight: 4, Grad: 4, Moments: 8, Reduce: 4}, Layout: Layout{Shard: 8}}},
		{"bf16, fused, chunked loss", Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 8192},
			Precision: Precision{Weight: 2, Moments: 4},
			Code:      Code{Norm: "fused"}, Stepping: Stepping{Optimizer: "fused"},
			HeadLoss: HeadLoss{Loss: "chunked"}, Layout: Layout{Shard: 8}}},
		{"head apart", Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 8192},
			Precision: Precision{Weight: 4, Grad: 4, Moments: 8, Reduce: 4},
			Layout:    Layout{Shard: 8, EndsApart: true}}},
		{"gathered once", Setup{Model: Lookup("llama3.2-1b"), Work: Work{Seq: 8192},
			Precision: Precision{Weight: 4, Grad: 4, Moments: 8, Reduce: 4},
			Layout:    Layout{Shard: 8, NoReshard: true}}},
		{"accumulated", Setup{Model: Lookup("qwen3-4b"), Work: Work{Seq: 8192, Accumulate: 2},
			Precision: Precision{Weight: 4, Grad: 4, Moments: 8, Reduce: 4}, Layout: Layout{Shard: 8}}},
		{"tied, a slow network", Setup{Model: Lookup("gpt2"), Work: Work{Batch: 8, Seq: 1024},
			Precision: Precision{Weight: 4, Grad: 4, Moments: 8, Reduce: 4}, Layout: Layout{Shard: 64}}},
		{"host", Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 8192}, Precision: Precision{Weight: 2, Moments: 4},
			Code: Code{Norm: "fused"}, Stepping: Stepping{HostStep: true}}},
		{"shared, host", Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 8192},
			Precision: Precision{Weight: 4, Grad: 4, Moments: 8, Reduce: 4},
			Stepping:  Stepping{HostStep: true}, Layout: Layout{Shard: 8}}},
		{"adapters", Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 8192}, Precision: Precision{Weight: 2},
			LoRA: &LoRA{Rank: 16, On: products["all"]}, Layout: Layout{Shard: 4}}},
		{"Megatron", Setup{Model: Lookup("llama3.2-1b"), Work: Work{Seq: 8192},
			Precision: Precision{Weight: 2, Grad: 4, Master: 4, Moments: 8}, Code: Code{Norm: "fused"},
			Stepping: Stepping{Optimizer: "fused"}, HeadLoss: HeadLoss{Loss: "inplace"},
			Layout: Layout{Zero: 1, Shard: 4, Tensor: 2, Static: true}}},
		{"experts", Setup{Model: Lookup("mixtral-8x7b"), Work: Work{Seq: 4096},
			Precision: Precision{Weight: 4, Grad: 4, Moments: 8, Reduce: 4}, Layout: Layout{Shard: 64}}},
	} {
		p := stepGraph(t, c.s)
		tr := played(t, p, "keepall")
		want := run(t, c.s).Allocated
		if tr.Peak != want {
			t.Errorf("%s: %d bytes, in the program %d (%+.2f %%)", c.name, tr.Peak, want,
				100*(float64(tr.Peak)/float64(want)-1))
		}
		c.s.Accumulate = 1 // the graph covers one micro batch
		said, err := StepTime(c.s, CardOf("H100"))
		if err != nil {
			t.Fatal(err)
		}
		alone := unhidden(p.Graph)
		slack := said / 100
		t.Logf("%s: %v, said %v, alone %v, peak %d of %d", c.name, tr.Makespan, said, alone, tr.Peak, want)
		if least := said - slack; tr.Makespan > said+alone+slack || tr.Makespan < least && !c.s.HostStep {
			t.Errorf("%s: %v a step; the answer says %v, and %v has nothing to run beside", c.name, tr.Makespan, said,
				alone)
		}
	}
}

// unhidden returns the time of operations that have nothing to overlap with: the gathers before the first block,
// the reduction of the ends, and the embedding.
func unhidden(g *engine.Graph) (sum time.Duration) {
	for i := range g.Ops {
		if n := g.Ops[i].Name; n == "gather embedding and head" || n == "gather block 1" ||
			n == "reduce embedding and head" || n == "embedding" || n == "embedding backward" {
			sum += g.Ops[i].Time
		}
	}
	return sum
}

// TestGraphIsPlanned checks that every strategy for graphs plans a step with operations of the network in budgets
// below the peak of keeping everything, and gathers weights again for what it recomputes.
func TestGraphIsPlanned(t *testing.T) {
	p := stepGraph(t, Setup{Model: Lookup("llama3.2-1b"), Work: Work{Seq: 8192},
		Precision: Precision{Weight: 4, Grad: 4, Moments: 8, Reduce: 4}, Layout: Layout{Shard: 8}})
	whole := played(t, p, "keepall")
	q := p.WithBudget(whole.Peak * 8 / 10)
	for _, name := range []string{"graphsearch", "blocks", "dtr", "chen", "kusumoto", "window", "lms", "graphpofo"} {
		tr := played(t, q, name)
		if tr.Peak > q.Budget || tr.Makespan < whole.Makespan {
			t.Errorf("%s: %d bytes of %d in %v; keeping everything takes %v", name, tr.Peak, q.Budget, tr.Makespan,
				whole.Makespan)
		}
	}
}

// TestStatesMove checks that states can leave the device. With room for the weights and half of the moments, the
// step still runs, but what has to stay is too much for strategies that only recompute.
func TestStatesMove(t *testing.T) {
	p := stepGraph(t, Setup{Model: Lookup("llama3.2-1b"), Work: Work{Seq: 1024},
		Precision: Precision{Weight: 2, Moments: 8}, Stepping: Stepping{Optimizer: "fused"},
		HeadLoss: HeadLoss{Loss: "chunked"}})
	var states engine.Bytes
	for _, v := range p.Graph.Values {
		if v.Kind == engine.KindWeight && v.Initial == engine.OnDevice {
			states += v.Size
		}
	}
	q := p.WithBudget(states * 12 / 10)
	if _, err := engine.Lookup("graphsearch").Solve(q, nil, nil); err == nil {
		t.Fatalf("computing again is enough for %d bytes; the case shows nothing", q.Budget)
	}
	sol, err := engine.Lookup("graphpofo").Solve(q, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(sol.Schedule, func(st engine.Instruction) bool {
		return st.Kind == engine.DoOffload && p.Graph.Values[st.Value].Kind == engine.KindWeight
	}) {
		t.Errorf("nothing of the states moves")
	}
}

// TestProfileHasBothWays checks that a board whose link is faster towards the device keeps both rates.
func TestProfileHasBothWays(t *testing.T) {
	a, err := New(Lookup("llama3.2-1b"), engine.Args{"device": "gh200-96gb-quad", "seq": "1024"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Profile()
	if err != nil || p.Device.ToHost != 170e9 || p.Device.ToDev != 416e9 {
		t.Errorf("%v to the host, %v to the device (%v); want 170 and 416 GB/s", p.Device.ToHost, p.Device.ToDev, err)
	}
}

// TestGraphIsWritten checks that a step with its operations survives being written and read.
func TestGraphIsWritten(t *testing.T) {
	for _, host := range []bool{false, true} {
		p, err := profileOf(Setup{Model: Lookup("gpt2"), Work: Work{Seq: 1024},
			Precision: Precision{Weight: 4, Moments: 8},
			Stepping:  Stepping{HostStep: host}, Layout: Layout{Shard: 8}}, CardOf("H100"))
		if err != nil {
			t.Fatal(err)
		}
		var text, again bytes.Buffer
		if err := native.Encode(&text, p); err != nil {
			t.Fatal(err)
		}
		read, err := profiles.Decode("", profiles.Bytes(text.Bytes()), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := native.Encode(&again, read); err != nil || !bytes.Equal(again.Bytes(), text.Bytes()) {
			t.Errorf("on the host %t: read and written it is something else (%v)", host, err)
		}
		if !read.Graph.HasLanes() {
			t.Errorf("on the host %t: no operation of another lane", host)
		}
	}
}

// TestGraphOfPolicies checks that the graph ignores the checkpointing of a setup, since that is left to the
// methods.
func TestGraphOfPolicies(t *testing.T) {
	s := Setup{Model: Lookup("gpt2"), Work: Work{Seq: 1024}, Precision: Precision{Weight: 4, Moments: 8},
		Layout: Layout{Shard: 8}}
	plain, err := profileOf(s, CardOf("H100"))
	if err != nil {
		t.Fatal(err)
	}
	s.Checkpoint, s.Group = "full", 4
	if p, err := profileOf(s, CardOf("H100")); err != nil || len(p.Graph.Ops) != len(plain.Graph.Ops) {
		t.Errorf("four blocks in one checkpoint: %v; want the step without", err)
	}
}

// TestXIELUKernel checks that Apertus' activation keeps its input alone as xielu's kernel, and as torch code also a
// square, an exponential and a difference, of 4 bytes a number under autocast, and a byte that tells its sign.
func TestXIELUKernel(t *testing.T) {
	m := &Model{Name: "small", Layers: 2, Hidden: 64, Words: 256,
		Block: Block{Heads: 4, Keys: 2, Head: 16, Wide: 160, Act: ActXIELU}}
	kept := func(args engine.Args) engine.Bytes {
		a, err := New(m, args)
		if err != nil {
			t.Fatal(err)
		}
		s := normal(t, a.Setup)
		return newPlayed(newBlock(&s, 1, true, nil), &s, CheckpointNone, false).keeps()
	}
	for autocast, each := range map[string]engine.Bytes{"no": 3*4 + 1, "yes": 3*2 + 1} {
		args := engine.Args{"seq": "128", "lora": "8", "no-autocast": autocast}
		torch := kept(args)
		args["kernels"] = "yes"
		if got, want := torch-kept(args), 128*160*each; got != want {
			t.Errorf("-no-autocast %s: torch code keeps %d bytes more than the kernel, want %d", autocast, got, want)
		}
	}
}
