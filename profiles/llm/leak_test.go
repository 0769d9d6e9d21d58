package llm

import (
	"os"
	"testing"
)

// TestStepsEndWhereTheyBegan checks that, whatever the setup, the third step ends with the memory that the second
// ended with: nothing is lost and nothing is freed twice. Its peak is not above theirs. It plays every fifth setup, or
// all of them with MEMTIDE_LONG=1.
func TestStepsEndWhereTheyBegan(t *testing.T) {
	dense := &Model{Name: "dense", Layers: 3, Hidden: 64, Words: 512,
		Block: Block{Heads: 4, Keys: 2, Head: 16, Wide: 96, Gated: true, QKNorm: true}}
	tied := *dense
	tied.Tied = true
	moe := *dense
	moe.MoE = &MoE{Experts: 4, TopK: 2, Wide: 32, Shared: 32, Dense: 1}
	latent := moe
	latent.MLA = &MLA{QRank: 16, KVRank: 16, Nope: 8, Rope: 8, Value: 16}
	parallel := &Model{Name: "parallel", Layers: 2, Hidden: 64, Words: 512, HeadBias: true, Tied: true,
		Block: Block{Heads: 4, Keys: 4, Head: 16, Wide: 96, Layer: true, Bias: true, Parallel: true}}
	sets := []func(*Setup){
		func(*Setup) {},
		func(s *Setup) { s.Shard, s.Reduce, s.Weight, s.Grad, s.Moments = 4, 4, 4, 4, 8 },
		func(s *Setup) { s.Shard, s.NoReshard, s.Accumulate = 2, true, 3 },
		func(s *Setup) { s.FSDPOne, s.Reduce, s.OffloadX = true, 4, true },
		func(s *Setup) { s.StepInBack, s.Moments = true, 4 },
		func(s *Setup) { s.Static, s.Master, s.Zero, s.Shard = true, 4, 1, 2 },
		func(s *Setup) { s.Zero, s.Shard, s.Grad = 2, 2, 4 },
		func(s *Setup) {
			s.LoRA = &LoRA{Rank: 4, On: []string{"q", "v", "down"}, Bytes: 4, Scale: true, Dropout: true}
		},
		func(s *Setup) { s.LoRA, s.FusedQKV = &LoRA{Rank: 4, On: []string{"q", "v"}, Params: 999}, true },
		func(s *Setup) { s.LoRA, s.Shard, s.FSDPOne = &LoRA{}, 2, true },
		func(s *Setup) { s.Stages, s.InFlight, s.Shard = 2, 3, 2 },
		func(s *Setup) {
			s.Tensor, s.Context = 2, 2
			if s.Model.MoE != nil {
				s.Expert = 2
			}
		},
		func(s *Setup) { s.Weight, s.HostStep, s.Buckets = 4, true, true },
		func(s *Setup) { s.Shard, s.HostStep, s.HostWeights = 2, true, true },
		func(s *Setup) { s.Compiled, s.Optimizer = true, "for-loop" },
		func(s *Setup) {
			s.LoRA, s.Base, s.Shard = &LoRA{Rank: 4, On: []string{"q"}}, "nf4", 2
		},
		func(s *Setup) { s.Float8, s.Gather, s.FSDPOne, s.ReduceAside = true, 1, true, true },
		func(s *Setup) { s.Optimizer, s.Moments, s.Zero, s.Shard = "muon", 8, 1, 2 },
		func(s *Setup) { s.Checkpoint, s.Group, s.Shard, s.Accumulate = "full", 2, 2, 2 },
		func(s *Setup) { s.Checkpoint, s.Group, s.OffloadX = "full", 3, true },
		func(s *Setup) { s.Every, s.OffloadX, s.Shard = 2, true, 2 },
		func(s *Setup) { s.First, s.OffloadX = 1, true },
		func(s *Setup) { s.Checkpoint, s.Stash, s.Shard = "none", true, 2 },
		func(s *Setup) { s.Checkpoint, s.Stash, s.LoRA = "none", true, &LoRA{Rank: 4, On: []string{"q"}} },
	}
	setups := 0
	for _, m := range []*Model{dense, &tied, &moe, &latent, parallel} {
		for i, set := range sets {
			for _, mode := range checkpointKinds {
				for _, loss := range lossKinds {
					for _, held := range []int64{0, 2, 4} {
						s := Setup{Model: m, Work: Work{Batch: 2, Seq: 64}, Code: Code{RepeatKeys: true},
							Checkpointing: Checkpointing{Checkpoint: mode, Budget: 40,
								Recompute: []string{"layernorm", "moe"}},
							HeadLoss: HeadLoss{Loss: loss, LogitsHeld: held, LossChunk: 50}}
						set(&s)
						if s.Checkpoint != mode && mode != checkpointKinds[0] {
							continue // this setup has a policy of its own
						}
						if setups++; setups%5 != 0 && os.Getenv("MEMTIDE_LONG") == "" {
							continue
						}
						s.Compiled = s.Compiled || mode == "budget"
						s = normal(t, s)
						s.lateLoss = i%2 == 1
						of := s.end(true, true)
						// also for a rank in the middle of a pipeline
						of.first, of.last = (i+len(mode))%3 > 0, (i+len(loss))%2 > 0
						p := newProgram(&s, of)
						p.play(2)
						was, peak, pools := p.live, p.peak, p.poolPeaks
						p.step()
						if p.peak != peak || p.poolPeaks != pools {
							t.Fatalf("%s, set %d, %s, %s with %d bytes held: the third step reaches %d bytes, in pools %d; the first two %d, %d", m.Name, i, mode, loss, held, p.peak, p.poolPeaks, peak, pools)
						}
						if p.live != was {
							t.Fatalf("%s, set %d, %s, %s with %d bytes held: %d bytes are there after two steps, %d after three", m.Name, i, mode, loss, held, was, p.live)
						}
					}
				}
			}
		}
	}
}
