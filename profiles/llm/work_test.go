package llm

import (
	"context"
	"errors"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
)

// decoder returns a small model with the given number of layers.
func decoder(layers int64) *Model {
	return &Model{Name: "small", Layers: layers, Hidden: 64, Words: 512,
		Block: Block{Heads: 4, Keys: 2, Head: 16, Wide: 128, Gated: true}}
}

// An answer that would take too much work or memory is refused before anything is played,
// with the number to lower.
func TestWorkIsBounded(t *testing.T) {
	for _, c := range []struct {
		layers int64
		args   engine.Args
		want   string
		plays  bool
	}{
		{1024, engine.Args{"seq": "64"}, "", true},
		{32, engine.Args{"gpus": "32", "pp": "32", "accumulate": "2000", "schedule": "dualpipe"},
			"lower accumulate to 1024", false},
		{32, engine.Args{"gpus": "32", "pp": "32", "accumulate": "65536", "schedule": "gpipe"},
			"lower accumulate to 1024", false},
		{32, engine.Args{"gpus": "32", "pp": "16", "accumulate": "1024", "schedule": "gpipe"},
			"a rank holds 2048 blocks", false},
		{512, engine.Args{"gpus": "256", "pp": "256", "accumulate": "128", "schedule": "1f1b", "seq": "64"},
			"the ranks hold 16768 blocks", false},
		{2, engine.Args{"batch": "65536", "seq": "16777216"}, "more than 2^53 bytes in its loss: lower batch or seq",
			true},
		{2, engine.Args{"lora": "128"}, "adapters of rank 128 beside a width of 64", false},
	} {
		a, err := New(decoder(c.layers), c.args)
		if err != nil {
			t.Fatal(err)
		}
		a.Setup.tally = &tally{}
		_, err = a.answer(probed)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) ||
			(a.Setup.tally.plays > 0) != c.plays {
			t.Errorf("%d layers, %v: %v after %d plays; want %q, plays: %v", c.layers, c.args, err,
				a.Setup.tally.plays, c.want, c.plays)
		}
	}
}

// TestBytesAreBounded checks that a step whose bytes would overflow is refused where they are added up.
func TestBytesAreBounded(t *testing.T) {
	m := *decoder(1024)
	m.Hidden, m.Head = 1<<16, 1<<14
	_, err := Run(Setup{Model: &m, Work: Work{Seq: 1 << 24, Batch: 1 << 11}})
	if err == nil || !strings.Contains(err.Error(), "more than 2^53 bytes in its") {
		t.Errorf("got %v; want a refusal that names the phase", err)
	}
	m = *decoder(1)
	m.Words = 1 << 20
	_, err = Run(Setup{Model: &m, Work: Work{Seq: 1 << 24, Batch: 1 << 16}})
	if err == nil || !strings.Contains(err.Error(),
		"an activation of 1.15e+18 numbers; want 2^53 at most: lower batch or seq") {
		t.Errorf("got %v; want a refusal that counts the logits", err)
	}
}

// TestStoppedSearches checks that a search that is stopped, in a play or between two, returns an error. It never
// mistakes what was not played for what does not fit.
func TestStoppedSearches(t *testing.T) {
	a, err := New(decoder(2), engine.Args{"seq": "128", "device": "v100-pcie-16gb", "batch": "4096", "ckpt": "full"})
	if err != nil {
		t.Fatal(err)
	}
	for name, search := range map[string]func(Ask) int64{
		"longest": Ask.longest, "batch": func(a Ask) int64 { return a.most("batch", 1, mostSequences) },
		"fewest":        Ask.fewestCards,
		"fewest blocks": func(a Ask) int64 { return a.fewestBlocks("full") },
		"knobs":         func(a Ask) int64 { return int64(len(a.turn())) },
		"policies":      func(a Ask) int64 { return int64(len(a.policed())) },
	} {
		within := func(limit int) (int64, error) {
			b := a
			b.Setup.poll = engine.NewPoll(engine.LimitCalls(t.Context(), limit), nil)
			return profiles.Try(func() int64 { return search(b) })
		}
		want, err := within(1 << 30)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		enough := 1
		for ; err == nil && enough < 1<<30; enough *= 2 {
			if _, err := within(enough); err == nil {
				break
			}
		}
		for limit := 1; limit < enough; limit += 1 + enough/100 {
			if got, err := within(limit); err == nil && got != want || err != nil &&
				!errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s, stopped after %d calls: %d, %v; want the error, or %d", name, limit, got, err, want)
				break
			}
		}
	}
}

// TestStoppedPlan checks that a plan that is stopped reports how many stages are done and has their results.
func TestStoppedPlan(t *testing.T) {
	a, err := New(decoder(3), engine.Args{"seq": "128"})
	if err != nil {
		t.Fatal(err)
	}
	for limit, done := 1, 0; ; limit *= 2 {
		told := 0
		p, err := a.Plan(engine.NewPoll(engine.LimitCalls(t.Context(), limit), nil), func(p *Answer) { told = p.Done })
		if p.Done != told || p.Done < done || (err == nil) != (p.Done == PlanStages) || p.Done > 0 && p.Estimate == nil {
			t.Errorf("after %d calls: %d stages done, %d told, %v; want as many as were told, more than before",
				limit, p.Done, told, err)
		}
		if done = p.Done; err == nil {
			break
		}
	}
}
