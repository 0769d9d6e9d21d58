package llm

import (
	"strings"
	"testing"

	"memtide/engine"
)

// forwardOf returns the bytes that a step holds at the end of its forward.
func forwardOf(t *testing.T, set func(*Setup)) engine.Bytes {
	t.Helper()
	s := Setup{Model: Lookup("llama3.2-1b"), Work: Work{Seq: 1024}, Stepping: Stepping{Optimizer: "none"},
		HeadLoss: HeadLoss{Loss: "inplace"}}
	set(&s)
	return run(t, s).Phases[Forward]
}

// TestWhichBlocks checks policies that checkpoint some of the blocks, or several blocks as one. They hold what
// the whole policy holds of those blocks, worked out by hand: the input of a block of 1,024 tokens of 2,048
// numbers takes 4 MiB.
func TestWhichBlocks(t *testing.T) {
	const blocks, input = 16, 4 * engine.MiB
	none := forwardOf(t, func(*Setup) {})
	full := forwardOf(t, func(s *Setup) { s.Checkpoint = "full" })
	for _, c := range []struct {
		name string
		set  func(*Setup)
		want engine.Bytes
	}{
		{"every second", func(s *Setup) { s.Checkpoint, s.Every = "full", 2 }, (none + full) / 2},
		{"the first four", func(s *Setup) { s.Checkpoint, s.First = "full", 4 }, none - (none-full)/4},
		{"more than there are", func(s *Setup) { s.Checkpoint, s.First = "full", 99 }, full},
		{"four in one", func(s *Setup) { s.Checkpoint, s.Group = "full", 4 }, full - blocks*3/4*input},
	} {
		got := forwardOf(t, c.set)
		if d := got - c.want; d > none/20 || d < -none/20 {
			t.Errorf("%s: the forward holds %d bytes, want about %d (all kept %d, full %d)", c.name, got, c.want,
				none, full)
		}
	}
}

// TestBlocksInOneCheckpoint checks that blocks that are one checkpoint together hold what all of them keep while
// their backward runs.
func TestBlocksInOneCheckpoint(t *testing.T) {
	s := Setup{Model: Lookup("llama3.2-1b"), Work: Work{Seq: 4096}, Precision: Precision{Weight: 2},
		Stepping: Stepping{Optimizer: "none"}, HeadLoss: HeadLoss{Loss: "inplace"}}
	s.Checkpoint, s.Group = "full", 1
	one := run(t, s).Phases[Backward]
	s.Group = 4
	four := run(t, s).Phases[Backward]
	s = normal(t, s)
	s.Checkpoint = "none"
	keeps := keepsOf(s)
	inputs := size(12*4096*2048, 2)
	if d, want := four-one, 3*keeps-inputs; d < want*4/5 || d > want*6/5 {
		t.Errorf("the backward holds %d bytes, with four blocks in one checkpoint %d: %d more; want about what three blocks keep less twelve inputs, %d", one, four, d, want)
	}
}

// TestStash checks that values that wait in host memory are not on the card while the blocks run, except for the
// newest few tensors of a block.
func TestStash(t *testing.T) {
	none := forwardOf(t, func(*Setup) {})
	full := forwardOf(t, func(s *Setup) { s.Checkpoint, s.OffloadX = "full", true })
	stash := forwardOf(t, func(s *Setup) { s.Stash = true })
	if stash < full || stash > full+(none-full)/8 {
		t.Errorf("the forward holds %d bytes; want from %d, all block inputs away, to an eighth of what all keep more", stash, full)
	}
	s := Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 8192}, Precision: Precision{Weight: 2, Moments: 4}}
	h := CardOf("H100")
	kept, err := StepTime(s, h)
	s.Stash = true
	moved, err2 := StepTime(s, h)
	if err != nil || err2 != nil || moved <= kept {
		t.Errorf("a step takes %v (%v), with all that is kept on its way to the host and back %v (%v); want longer",
			kept, err, moved, err2)
	}
}

// TestBudget follows pytorch#197838: a smaller budget does not always mean less memory, since what is kept is
// chosen by sizes and operations, not by lifetimes. A block never keeps more than its budget.
func TestBudget(t *testing.T) {
	keeps := func(budget int64) engine.Bytes {
		s := titan()
		s.Checkpoint, s.Compiled, s.Budget = "budget", true, budget
		return keepsOf(normal(t, s))
	}
	whole := keeps(100)
	for budget := int64(0); budget <= 100; budget += 10 {
		if got := keeps(budget); got > whole*engine.Bytes(budget)/100+whole/1000 {
			t.Errorf("a budget of %d %%: a block keeps %d bytes of %d", budget, got, whole)
		}
	}
}

// TestTimesOfPolicies checks the times of recomputation: policies that recompute something lie between keeping
// everything and full checkpointing, which runs one more forward of the blocks.
func TestTimesOfPolicies(t *testing.T) {
	seconds := func(set func(*Setup)) float64 {
		s := titan()
		set(&s)
		d, err := StepTime(s, CardOf("H100"))
		if err != nil {
			t.Fatal(err)
		}
		return d.Seconds()
	}
	none, full := seconds(func(*Setup) {}), seconds(func(s *Setup) { s.Checkpoint = "full" })
	between := map[string]func(*Setup){
		"every second product": func(s *Setup) { s.Checkpoint = "sac_op" },
		"all products":         func(s *Setup) { s.Checkpoint = "sac_op_all" },
		"dots":                 func(s *Setup) { s.Checkpoint = "dots" },
		"every second block":   func(s *Setup) { s.Checkpoint, s.Every = "full", 2 },
		"the first eight":      func(s *Setup) { s.Checkpoint, s.First = "full", 8 },
		"norms":                func(s *Setup) { s.Checkpoint, s.Recompute = "modules", []string{"layernorm"} },
	}
	for name, set := range between {
		if got := seconds(set); got <= none || got >= full {
			t.Errorf("%s: %g s a step, want between %g and %g", name, got, none, full)
		}
	}
	if got, want := seconds(between["every second block"]), (none+full)/2; got < want*0.999 || got > want*1.001 {
		t.Errorf("every second block: %g s, want the middle, %g", got, want)
	}
	if got := seconds(func(s *Setup) { s.Checkpoint, s.Group = "full", 4 }); got != full {
		t.Errorf("four blocks in one checkpoint: %g s, want %g as by one", got, full)
	}
}

// TestSelectiveExperts checks what torchtitan's policy keeps of a block with experts: every second product of those
// that are not grouped, attention, and since September 2025 what the ranks of experts exchange.
func TestSelectiveExperts(t *testing.T) {
	for late, want := range map[bool]string{false: "q kv.up attention experts.scores shared.up",
		true: "q kv.up attention experts.scores experts.dispatched experts.combined shared.up"} {
		s := titan()
		s.Model, s.Checkpoint, s.EndsApart = Lookup("deepseek-v3-16b"), CheckpointOp, late
		s.Shard, s.Expert = 8, 8
		s = normal(t, s)
		b := newPlayed(newBlock(&s, 1, true, nil), &s, s.Checkpoint, false)
		var kept []string
		for _, o := range b.ops {
			if v := b.values[o.out[0]]; b.cached[v.root] && v.root == o.out[0] {
				kept = append(kept, v.name)
			}
		}
		if got := strings.Join(kept, " "); got != want {
			t.Errorf("late %v: keeps %s, want %s", late, got, want)
		}
	}
}
